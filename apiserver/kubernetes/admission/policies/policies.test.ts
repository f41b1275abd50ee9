import type * as Apis from '../../../testing/in-process-api';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import type * as Definitions from '../../../testing/custom-resources/definitions';
import type * as Strategies from '../../../engine/registry/strategy';
import type * as SlicesModule from '../../../../shared/concurrency/slices';
import { GROUP, LABEL } from '../../../../shared/names';
import { loadAtLevel } from '../../../../shared/testing/load-at-level';

const { startInProcessApi, definitions, DEFAULT_KIND_SETTINGS, Slices } = loadAtLevel('1.36', () => ({
  ...jest.requireActual<typeof Apis>('../../../testing/in-process-api'),
  definitions: jest.requireActual<typeof Definitions>('../../../testing/custom-resources/definitions'),
  ...jest.requireActual<typeof Strategies>('../../../engine/registry/strategy'),
  ...jest.requireActual<typeof SlicesModule>('../../../../shared/concurrency/slices'),
}));

/** Returns how often a write pauses when each slice of the event loop is used up at once. */
async function pausesOf(send: () => Promise<Reply>): Promise<number> {
  const due = jest.spyOn(Slices.prototype, 'due').mockReturnValue(true);
  const pause = jest.spyOn(Slices.prototype, 'pause');
  expect((await send()).code).toBe(201);
  const { length } = pause.mock.calls;
  due.mockRestore();
  pause.mockRestore();
  return length;
}

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

const GROUP_PATH = `/apis/${GROUP.admissionregistration}/v1`;
const MAPS = '/api/v1/namespaces/default/configmaps';

const maps = (operations: readonly string[] = ['*'], names?: readonly string[]): object => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations,
  resources: ['configmaps'],
  ...(names === undefined ? {} : { resourceNames: names }),
});

async function write(path: string, body: object): Promise<Reply> {
  const reply = await api.call('POST', path, { body });
  if (reply.code !== 201) throw new Error(reply.text);
  return reply;
}

interface Given {
  readonly name?: string;
  readonly spec: object;
  readonly binding?: object;
}

async function enforce({ name = 'p', spec, binding = {} }: Given): Promise<void> {
  await write(`${GROUP_PATH}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [maps()] }, ...spec },
  });
  await write(`${GROUP_PATH}/validatingadmissionpolicybindings`, {
    metadata: { name: `${name}-b` },
    spec: { policyName: name, validationActions: ['Deny'], ...binding },
  });
}

const create = async (name: string, fields: object = {}, path = MAPS): Promise<Reply> =>
  api.call('POST', path, { body: { metadata: { name }, ...fields } });

const DENIED =
  "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: ";

test('a validation that fails refuses the write with its message and reason', async () => {
  await enforce({
    spec: {
      validations: [{ expression: "object.data.k == 'v'", message: 'k must be v' }, { expression: 'true' }],
    },
  });
  expect((await create('b', { data: { k: 'v' } })).code).toBe(201);
  const { code, json } = await create('a', { data: { k: 'x' } });
  expect(code).toBe(422);
  expect(json).toMatchObject({
    reason: 'Invalid',
    message: `${DENIED}k must be v`,
    details: {
      name: 'a',
      kind: 'configmaps',
      causes: [{ message: "ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: k must be v" }],
    },
  });
});

test.each<[string, object, number, string]>([
  ['the expression', { expression: 'false' }, 422, 'failed expression: false'],
  ['its reason', { expression: 'false', reason: 'Forbidden', message: 'no' }, 403, 'no'],
  [
    'a message expression',
    { expression: 'false', messageExpression: "'name ' + object.metadata.name + ' in ' + request.namespace" },
    422,
    'name a in default',
  ],
  [
    'the message where the message expression fails',
    { expression: 'false', message: 'm', messageExpression: 'object.x.y' },
    422,
    'm',
  ],
  [
    'an error',
    { expression: 'object.data.k == "v"' },
    422,
    `expression 'object.data.k == "v"' resulted in error: no such key: data`,
  ],
  [
    'the namespace',
    {
      expression: "namespaceObject.metadata.name == 'x'",
      messageExpression: 'namespaceObject.metadata.name',
    },
    422,
    'default',
  ],
])('a refusal shows %s', async (_, validation, code, message) => {
  const messageExpression = (validation as { messageExpression?: string }).messageExpression;
  if (messageExpression === 'object.x.y') {
    await enforce({ spec: { validations: [{ ...validation, messageExpression: 'string(object.x.y)' }] } });
  } else await enforce({ spec: { validations: [validation] } });
  const reply = await create('a');
  expect([reply.code, reply.json.message]).toEqual([code, DENIED + message]);
});

test('variables are lazy, see each other and are evaluated once', async () => {
  await enforce({
    spec: {
      variables: [
        { name: 'size', expression: 'size(object.data)' },
        { name: 'big', expression: 'variables.size > 1' },
        { name: 'never', expression: "object.absent.field == 'x'" },
      ],
      validations: [
        { expression: '!variables.big' },
        { expression: 'variables.size < 2 || variables.never' },
      ],
    },
  });
  expect((await create('b', { data: { a: '' } })).code).toBe(201);
  expect((await create('a', { data: { a: '', b: '' } })).json.message).toBe(
    `${DENIED}failed expression: !variables.big`,
  );
});

test('a variable that refers to itself is an error of the policy', async () => {
  await enforce({
    spec: {
      variables: [
        { name: 'size', expression: 'size(object.data)' },
        { name: 'size', expression: 'variables.size + 1' },
      ],
      validations: [{ expression: 'variables.size < 3' }],
    },
  });
  const { code, json } = await create('a', { data: { a: '' } });
  expect([code, json.message]).toEqual([422, expect.stringContaining('refers to itself')]);
});

test('a failure of a policy with failurePolicy Ignore admits the write', async () => {
  await enforce({ spec: { failurePolicy: 'Ignore', validations: [{ expression: 'object.data.k == "v"' }] } });
  expect((await create('a')).code).toBe(201);
  expect((await create('b', { data: { k: 'x' } })).code).toBe(422);
});

test('actions warn and leave audit annotations instead of a refusal', async () => {
  await enforce({
    spec: { validations: [{ expression: 'false', message: 'no' }] },
    binding: { validationActions: ['Warn', 'Audit'] },
  });
  const { code, warnings } = await create('a');
  expect([code, warnings]).toEqual([
    201,
    ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-b': no"],
  ]);
});

test('policies match by name, operation, version, selectors and conditions', async () => {
  await enforce({
    spec: {
      matchConstraints: {
        resourceRules: [maps(['CREATE'], ['a', 'x', 'c'])],
        excludeResourceRules: [maps(['*'], ['x'])],
        objectSelector: { matchExpressions: [{ key: 'free', operator: 'DoesNotExist' }] },
      },
      matchConditions: [
        { name: 'not-skipped', expression: "!('skip' in object.?metadata.labels.orValue({}))" },
      ],
      validations: [{ expression: 'false' }],
    },
    binding: {
      matchResources: { namespaceSelector: { matchLabels: { [LABEL.metadataName]: 'default' } } },
    },
  });
  const codes: Record<string, number> = {};
  const note = async (what: string, reply: Promise<Reply>): Promise<void> => {
    codes[what] = (await reply).code;
  };
  await note('named', create('a'));
  await note('excluded', create('x'));
  await note('other name', create('b'));
  await note('selected', create('c', { metadata: { name: 'c', labels: { free: '' } } }));
  await note('condition', create('a', { metadata: { name: 'a', labels: { skip: '' } } }));
  await note('operation', api.call('PATCH', `${MAPS}/a`, { body: { data: { k: 'v' } } }));
  await write('/api/v1/namespaces', { metadata: { name: 'other' } });
  await note('namespace', create('a', {}, '/api/v1/namespaces/other/configmaps'));
  expect(codes).toEqual({
    named: 422,
    excluded: 201,
    'other name': 201,
    selected: 201,
    condition: 201,
    operation: 200,
    namespace: 201,
  });
});

test('deletions and updates are seen with the previous object', async () => {
  await create('a', { data: { k: '1' } });
  await enforce({
    spec: {
      validations: [
        { expression: "request.operation != 'DELETE' || oldObject.data.k != '1'", message: 'keep' },
        {
          expression: "request.operation != 'UPDATE' || int(object.data.k) > int(oldObject.data.k)",
          message: 'grow',
        },
      ],
    },
  });
  const update = async (k: string): Promise<number> =>
    (await api.call('PATCH', `${MAPS}/a`, { body: { data: { k } } })).code;
  expect((await api.call('DELETE', `${MAPS}/a`)).code).toBe(422);
  expect([await update('0'), await update('2')]).toEqual([422, 200]);
  expect((await api.call('DELETE', `${MAPS}/a`)).code).toBe(200);
});

describe('parameters', () => {
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConstraints: { resourceRules: [{ ...maps(), resources: ['secrets'] }] },
    validations: [
      {
        expression: 'size(object.metadata.name) <= int(params.data.max)',
        messageExpression: "'max ' + params.data.max",
      },
    ],
  };
  const secret = async (name: string): Promise<Reply> =>
    create(name, {}, '/api/v1/namespaces/default/secrets');

  test('are objects of a built-in kind by name or selector, each of which must hold', async () => {
    await create('limits', { metadata: { name: 'limits', labels: { is: 'limit' } }, data: { max: '3' } });
    await create('other', { metadata: { name: 'other', labels: { is: 'limit' } }, data: { max: '2' } });
    await enforce({ spec, binding: { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } } });
    expect([(await secret('abc')).code, (await secret('abcd')).json.message]).toEqual([
      201,
      `secrets "abcd" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p-b' denied request: max 3`,
    ]);
    await enforce({
      name: 'q',
      spec,
      binding: { paramRef: { selector: { matchLabels: { is: 'limit' } }, parameterNotFoundAction: 'Deny' } },
    });
    expect((await secret('abx')).json.message).toContain("'q' with binding 'q-b' denied request: max 2");
    await api.call('PATCH', `${MAPS}/limits`, { body: { data: { max: '1' } } });
    expect((await secret('ab')).json.message).toContain('max 1');
  });

  test.each([
    [
      'Deny',
      422,
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    ],
    ['Allow', 201, ''],
  ])('that are absent: %s', async (parameterNotFoundAction, code, message) => {
    await enforce({ spec, binding: { paramRef: { name: 'none', parameterNotFoundAction } } });
    const reply = await secret('a');
    expect([reply.code, reply.json.message ?? '']).toEqual([code, expect.stringContaining(message)]);
  });

  test('are custom resources', async () => {
    await definitions.define(api, definitions.definitionBody({}));
    await write(definitions.GIZMOS_PATH, definitions.gizmo('g', { spec: { size: 3 } }));
    await enforce({
      spec: {
        ...spec,
        paramKind: { apiVersion: 'example.com/v1', kind: 'Gizmo' },
        validations: [{ expression: 'size(object.metadata.name) <= params.spec.size' }],
      },
      binding: { paramRef: { name: 'g', namespace: 'default', parameterNotFoundAction: 'Deny' } },
    });
    expect([(await secret('abc')).code, (await secret('abcd')).code]).toEqual([201, 422]);
  });

  test('are searched in slices of the event loop', async () => {
    await enforce({
      spec,
      binding: { paramRef: { selector: { matchLabels: { is: 'limit' } }, parameterNotFoundAction: 'Allow' } },
    });
    // The first write compiles the policy.
    await secret('c');
    const without = await pausesOf(async () => secret('b'));
    for (let at = 0; at < 20; at += 1) await create(`other-${String(at)}`);
    expect((await pausesOf(async () => secret('a'))) - without).toBe(20);
  });

  test('of a kind that is not served are an error of the policy', async () => {
    await enforce({
      spec: { ...spec, paramKind: { apiVersion: 'example.com/v1', kind: 'None' } },
      binding: { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } },
    });
    expect((await secret('a')).json.message).toBe(
      `secrets "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=None'`,
    );
  });
});

test('a policy applies to requests that begin after its binding was acknowledged, and no longer after its removal', async () => {
  for (let round = 0; round < 5; round += 1) {
    await enforce({ spec: { validations: [{ expression: 'false' }] } });
    expect((await create('a')).code).toBe(422);
    await api.call('DELETE', `${GROUP_PATH}/validatingadmissionpolicybindings/p-b`);
    expect((await create(`r${String(round)}`)).code).toBe(201);
    await api.call('DELETE', `${GROUP_PATH}/validatingadmissionpolicies/p`);
  }
});

test('a binding that was removed before a refill of the watch cache no longer applies', async () => {
  await enforce({ spec: { validations: [{ expression: 'false' }] } });
  await enforce({ name: 'q', spec: { validations: [{ expression: 'true' }] } });
  expect((await create('a')).code).toBe(422);
  await api.call('DELETE', `${GROUP_PATH}/validatingadmissionpolicybindings/p-b`);
  const prefix = `${GROUP.admissionregistration}/validatingadmissionpolicybindings/`;
  api.plane.cache.rebuildResource(prefix, 'a test');
  expect((await create('a')).code).toBe(201);
});

test('policies do not see policies', async () => {
  await enforce({
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
      },
      validations: [{ expression: 'false' }],
    },
  });
  expect((await create('a')).code).toBe(422);
  expect((await api.call('DELETE', `${GROUP_PATH}/validatingadmissionpolicies/p`)).code).toBe(200);
});

test('the authorizer answers for the user of the request and for service accounts', async () => {
  await enforce({
    spec: {
      variables: [{ name: 'may', expression: "authorizer.requestResource.check('create').allowed()" }],
      validations: [
        { expression: "variables.may && authorizer.path('/metrics').check('get').allowed()" },
        {
          expression:
            "authorizer.serviceAccount('default','a').group('apps').resource('deployments').check('get').allowed()",
        },
      ],
    },
  });
  expect((await create('a')).code).toBe(201);
});

test('costs beyond the budget refuse the write', async () => {
  // Two checks cost 700,000 of the 1,000,000 units that one expression may cost, and of the 10,000,000 of all of them.
  const check = (verb: string): string => `!authorizer.requestResource.check('${verb}').errored()`;
  const validations = Array.from({ length: 15 }, () => ({
    expression: `${check('get')} && ${check('list')}`,
  }));
  await enforce({ spec: { validations: validations.slice(1) } });
  expect((await create('b')).code).toBe(201);
  await enforce({ name: 'q', spec: { validations } });
  expect((await create('a')).json.message).toContain(
    'validation failed due to running out of cost budget, no further validation rules will be run',
  );
});

describe('mutating policies', () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const apply = (expression: string): object => ({
    patchType: 'ApplyConfiguration',
    applyConfiguration: { expression },
  });
  const patch = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

  async function mutateBy(name: string, spec: object, binding: object = {}): Promise<void> {
    await write(`${GROUP_PATH}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        reinvocationPolicy: 'Never',
        matchConstraints: { resourceRules: [maps(['CREATE', 'UPDATE'])] },
        ...spec,
      },
    });
    await write(`${GROUP_PATH}/mutatingadmissionpolicybindings`, {
      metadata: { name: `${name}-b` },
      spec: { policyName: name, ...binding },
    });
  }

  test.each([[[]], [['MutatingAdmissionPolicy' as const]]])(
    'apply where their gate is on: %j',
    async (gates) => {
      const kindSettings = { ...DEFAULT_KIND_SETTINGS, gates: new Set(gates) };
      await api.close();
      api = await startInProcessApi(undefined, { kindSettings });
      await mutateBy('p', { mutations: [patch('[JSONPatch{op: "add", path: "/data/by", value: "p"}]')] });
      const { json } = await create('a', { data: { k: '' } });
      expect(Object.keys(json.data)).toEqual(gates.length === 0 ? ['k'] : ['by', 'k']);
    },
  );

  test('apply configurations and JSON patches, each on the result of the one before', async () => {
    await mutateBy('p', {
      variables: [{ name: 'by', expression: 'request.userInfo.username' }],
      mutations: [
        apply('Object{metadata: Object.metadata{labels: {"by": variables.by}}, data: {"a": "1"}}'),
        patch(
          '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("x/y"), value: object.data.a + "2"}, JSONPatch{op: "test", path: "/data/a", value: "1"}]',
        ),
        patch(
          '[JSONPatch{op: "test", path: "/data/a", value: "no"}, JSONPatch{op: "remove", path: "/data/a"}]',
        ),
      ],
    });
    const { json } = await create('a', { data: { b: '2' } });
    expect(json).toMatchObject({
      metadata: { labels: { by: 'tester', 'x/y': '12' } },
      data: { a: '1', b: '2' },
    });
  });

  test('merge lists by key, with defaults, in the version that they match', async () => {
    await mutateBy('p', {
      matchConstraints: {
        resourceRules: [
          { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
        ],
      },
      matchConditions: [
        { name: 'one', expression: '!object.spec.template.spec.containers.exists(c, c.name == "side")' },
      ],
      mutations: [
        apply(`Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{containers: [
          Object.spec.template.spec.containers{name: "side", image: "i"}]}}}}`),
      ],
    });
    const labels = { a: 'b' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const { json } = await create(
      'd',
      { spec: { selector: { matchLabels: labels }, template } },
      deployments,
    );
    expect(json.spec.template.spec.containers).toMatchObject([
      { name: 'c' },
      { name: 'side', image: 'i', terminationMessagePath: '/dev/termination-log' },
    ]);
  });

  test('change custom resources by their schema, and replace values that it does not declare', async () => {
    const item = {
      type: 'object',
      properties: { name: { type: 'string' }, size: { type: 'integer', default: 7 } },
    };
    const parts = {
      type: 'array',
      items: item,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    };
    const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: { parts: { ...parts, items: { ...item, required: ['name'] } }, any },
        },
      },
    };
    await definitions.define(api, definitions.definitionBody({ versions: [{ name: 'v1', schema }] }));
    const rule = {
      apiGroups: ['example.com'],
      apiVersions: ['v1'],
      operations: ['CREATE'],
      resources: ['gizmos'],
    };
    await mutateBy('p', {
      matchConstraints: { resourceRules: [rule] },
      mutations: [
        apply('Object{spec: Object.spec{parts: [Object.spec.parts{name: "b"}]}}'),
        apply(
          'Object{spec: Object.spec{any: Object.spec.any{list: ["b"], deep: Object.spec.any.deep{more: 1}}}}',
        ),
      ],
    });
    const given = { parts: [{ name: 'a', size: 1 }], any: { kept: 1, list: ['a'], deep: { x: 1 } } };
    const { json } = await api.call('POST', definitions.GIZMOS_PATH, {
      body: definitions.gizmo('g', { spec: given }),
    });
    expect(json.spec).toEqual({
      parts: [
        { name: 'a', size: 1 },
        { name: 'b', size: 7 },
      ],
      any: { kept: 1, list: ['b'], deep: { more: 1 } },
    });
  });

  test('are applied in slices of the event loop', async () => {
    const selector = { matchLabels: { is: 'param' } };
    await mutateBy(
      'p',
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConstraints: { resourceRules: [{ ...maps(['CREATE']), resources: ['secrets'] }] },
        mutations: [patch('[JSONPatch{op: "test", path: "/metadata/name", value: "none"}]')],
      },
      { paramRef: { selector, parameterNotFoundAction: 'Allow' } },
    );
    const secret = async (name: string): Promise<Reply> =>
      create(name, {}, '/api/v1/namespaces/default/secrets');
    const selected = { labels: { is: 'param' } };
    const names = Array.from({ length: 10 }, (_, at) => `param-${String(at)}`);
    for (const name of names) await create(name, { metadata: { name, ...selected } });
    // Plugins run twice after a mutation: two searches and two invocations for each parameter.
    expect(await pausesOf(async () => secret('b'))).toBeGreaterThanOrEqual(3 * names.length);
  });

  test('are reinvoked after later changes if they allow it', async () => {
    const count = '[JSONPatch{op: "add", path: "/data/NAME", value: string(size(object.data))}]';
    await mutateBy('p', { reinvocationPolicy: 'IfNeeded', mutations: [patch(count.replace('NAME', 'p'))] });
    await mutateBy('q', { mutations: [patch(count.replace('NAME', 'q'))] });
    expect((await create('a', { data: { k: '' } })).json.data).toEqual({ k: '', p: '3', q: '2' });
  });

  test.each<[string, object, string]>([
    [
      'an atomic list',
      apply('Object{spec: Object.spec{accessModes: ["ReadWriteOnce"]}}'),
      'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.accessModes',
    ],
    [
      'a type out of place',
      apply('Object{spec: Object.wrong{}}'),
      'type mismatch: unexpected type name "Object.wrong", expected "Object.spec", which matches field name path from root Object type',
    ],
    [
      'an unknown field',
      apply('Object{spec: Object.spec{nope: 1}}'),
      'error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema',
    ],
    ['a missing path', patch('[JSONPatch{op: "remove", path: "/spec/none"}]'), 'JSON Patch: '],
    [
      'an error of the expression',
      patch('[JSONPatch{op: "add", path: "/spec/x", value: object.nope}]'),
      `expression '[JSONPatch{op: "add", path: "/spec/x", value: object.nope}]' resulted in error: no such key: nope`,
    ],
  ])('refuse the write because of %s', async (_, mutation, message) => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    await mutateBy('p', {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['persistentvolumeclaims'],
          },
        ],
      },
      mutations: [mutation],
    });
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const { code, json } = await create('a', { spec }, claims);
    expect([code, json.reason]).toEqual([403, 'Invalid']);
    expect(json.message).toContain(`policy 'p' with binding 'p-b' denied request: ${message}`);
  });
});
