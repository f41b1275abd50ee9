import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { define, definitionBody } from '../../../testing/custom-resources/definitions';
import type { Review, WebhookServer } from './testing/webhook-server';
import { allow, configurationOf, hookAt, patching, startWebhook } from './testing/webhook-server';

const MAPS = '/api/v1/namespaces/default/configmaps';
const GIZMOS = '/apis/example.com/v1/namespaces/default/gizmos';
const OLD = '2001-02-03T04:05:06Z';
const OTHER_NAMESPACE =
  'the namespace of the provided object does not match the namespace sent on the request';
const VERSION_SET = 'resourceVersion should not be set on objects to be created';

let api: InProcessApi;
let mutating: WebhookServer;
let validating: WebhookServer;

beforeAll(async () => {
  [api, mutating, validating] = await Promise.all([startInProcessApi(), startWebhook(), startWebhook()]);
  await define(api, definitionBody({ versions: [{ name: 'v1' }] }));
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }];
  for (const [type, webhook] of [
    ['Mutating', mutating],
    ['Validating', validating],
  ] as const) {
    const { path, body } = configurationOf(type, 'conf', [hookAt(webhook, { rules })]);
    expect((await api.call('POST', path, { body })).code).toBe(201);
  }
});
afterEach(() => {
  mutating.behave = allow;
});
afterAll(async () => {
  await Promise.all([api.close(), mutating.close(), validating.close()]);
});

const set = (field: string, value: unknown): object => ({ op: 'add', path: `/metadata/${field}`, value });
const unset = (field: string): object => ({ op: 'remove', path: `/metadata/${field}` });

const lastSeen = (): Review => validating.asked.at(-1)?.review.request;

let count = 0;
/** A name that no other test has used. */
function newName(): string {
  count += 1;
  return `m${String(count)}`;
}

async function create(operations: readonly object[], metadata: object, query = ''): Promise<Reply> {
  mutating.behave = patching(...operations);
  return api.call('POST', MAPS + query, { body: { metadata } });
}

describe('a webhook that patches a new object', () => {
  test.each([
    ['another namespace', [set('namespace', 'kube-system')], 400, OTHER_NAMESPACE],
    ['a resourceVersion', [set('resourceVersion', '7')], 500, VERSION_SET],
    ['an invalid name', [set('name', 'Not Valid')], 422, 'metadata.name: Invalid value'],
    ['no name', [unset('name')], 422, 'metadata.name: Required value'],
    ['a negative generation', [set('generation', -1)], 422, 'metadata.generation: Invalid value'],
    ['an owner without uid', [set('ownerReferences', [{}])], 422, 'metadata.ownerReferences.uid'],
    ['a finalizer without domain', [set('finalizers', ['x'])], 422, 'metadata.finalizers'],
    ['a list as metadata', [{ op: 'add', path: '/metadata', value: [] }], 500, ''],
  ])('is refused for %s', async (_what, operations, code, message) => {
    const name = newName();
    const reply = await create(operations, { name });
    expect([reply.code, reply.json.message]).toEqual([code, expect.stringContaining(message)]);
    expect((await api.call('GET', `${MAPS}/${name}`)).code).toBe(404);
  });

  test.each([
    ['no namespace', [unset('namespace')], { namespace: 'default' }],
    [
      'a zero resourceVersion',
      [set('resourceVersion', '0')],
      { resourceVersion: expect.stringMatching(/^[1-9]/) },
    ],
    [
      'a malformed resourceVersion',
      [set('resourceVersion', 'x')],
      { resourceVersion: expect.stringMatching(/^[1-9]/) },
    ],
    ['a uid', [set('uid', 'mine')], { uid: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
    [
      'a creationTimestamp',
      [set('creationTimestamp', OLD)],
      { creationTimestamp: expect.not.stringMatching(OLD) },
    ],
    ['a generation', [set('generation', 7)], { generation: 7 }],
    ['a deletionTimestamp', [set('deletionTimestamp', OLD)], { deletionTimestamp: OLD }],
    ['a selfLink', [set('selfLink', '/x')], { uid: expect.any(String) }],
    ['a finalizer', [set('finalizers', ['example.com/f'])], { finalizers: ['example.com/f'] }],
  ])('may set %s', async (_what, operations, metadata) => {
    const reply = await create(operations, { name: newName() });
    expect([reply.code, reply.json.metadata]).toEqual([201, expect.objectContaining(metadata)]);
    const { name } = reply.json.metadata;
    expect((await api.call('GET', `${MAPS}/${String(name)}`)).json).toEqual(reply.json);
  });

  test('renames it: it is stored under the new name, and validating webhooks see both names', async () => {
    const [sent, stored] = [newName(), newName()];
    const reply = await create([set('name', stored)], { name: sent });
    expect([reply.code, reply.json.metadata.name]).toEqual([201, stored]);
    expect(lastSeen()).toMatchObject({ name: sent, object: { metadata: { name: stored } } });
    expect((await api.call('GET', `${MAPS}/${sent}`)).code).toBe(404);
    expect((await api.call('GET', `${MAPS}/${stored}`)).json).toEqual(reply.json);
    const again = await create([set('name', stored)], { name: newName() });
    expect([again.code, again.json.message]).toEqual([409, `configmaps "${stored}" already exists`]);
  });

  test('is called once if it sets a taken name, and again if a name that the server generated is taken', async () => {
    const taken = newName();
    await create([], { name: taken });
    const random = jest.spyOn(api.plane.store, 'randomInt').mockReturnValue(0);
    const { name: generated } = (await create([], { generateName: 'same-' })).json.metadata;
    const callsFor = async (operations: readonly object[], metadata: object): Promise<readonly unknown[]> => {
      const before = mutating.asked.length;
      const { code, json } = await create(operations, metadata);
      return [code, json.message, mutating.asked.length - before];
    };
    const exists = (name: string): string => `configmaps "${name}" already exists`;
    expect(await callsFor([set('name', taken)], { generateName: 'any-' })).toEqual([409, exists(taken), 1]);
    expect(await callsFor([], { generateName: 'same-' })).toEqual([409, exists(generated), 8]);
    const renamed = [unset('name'), set('generateName', 'same-')];
    expect(await callsFor(renamed, { name: newName() })).toEqual([409, exists(generated), 8]);
    random.mockRestore();
  });

  test('names the new name in errors of validation', async () => {
    const reply = await create([set('name', 'renamed'), set('labels', { '': 'x' })], { name: newName() });
    expect([reply.code, reply.json.details.name]).toEqual([422, 'renamed']);
  });

  test('replaces the name by a generateName, or the generateName by another one', async () => {
    const one = await create([unset('name'), set('generateName', 'made-')], { name: newName() });
    expect([one.code, one.json.metadata.name]).toEqual([201, expect.stringMatching(/^made-.{5}$/)]);
    const other = await create([set('generateName', 'other-')], { generateName: 'given-' });
    expect([other.code, other.json.metadata.name]).toEqual([201, expect.stringMatching(/^other-.{5}$/)]);
    expect(lastSeen().name).toBe(other.json.metadata.name);
  });

  test('does not see system metadata of the client, and validating webhooks see that of the server', async () => {
    const system = { uid: 'mine', creationTimestamp: OLD, deletionTimestamp: OLD, selfLink: '/x' };
    const reply = await create([], { name: newName(), ...system, deletionGracePeriodSeconds: 3 });
    expect(reply.code).toBe(201);
    const seen = mutating.asked.at(-1)?.review.request.object.metadata;
    expect(seen.creationTimestamp).toBeNull();
    for (const field of ['uid', 'deletionTimestamp', 'selfLink', 'deletionGracePeriodSeconds']) {
      expect(seen).not.toHaveProperty(field);
    }
    const { uid, creationTimestamp } = reply.json.metadata;
    expect(lastSeen().object.metadata).toMatchObject({ uid, creationTimestamp });
  });

  test('may set a resourceVersion in a dry run, and drop the one of the client', async () => {
    const name = newName();
    expect((await create([set('resourceVersion', '7')], { name }, '?dryRun=All')).code).toBe(201);
    expect((await create([], { name, resourceVersion: '7' })).code).toBe(400);
    expect((await create([unset('resourceVersion')], { name, resourceVersion: '7' })).code).toBe(201);
  });

  test('cannot give a cluster-scoped object a namespace', async () => {
    mutating.behave = patching(set('namespace', 'x'));
    const { code, json } = await api.call('POST', '/api/v1/nodes', {
      body: { metadata: { name: newName() } },
    });
    expect([code, json.metadata.namespace]).toEqual([201, undefined]);
  });

  test('moves a custom resource no more than another object', async () => {
    const make = async (...operations: readonly object[]): Promise<Reply> => {
      mutating.behave = patching(...operations);
      const body = { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name: newName() } };
      return api.call('POST', GIZMOS, { body });
    };
    expect((await make(set('namespace', 'kube-system'))).code).toBe(400);
    expect((await make(set('resourceVersion', '7'))).code).toBe(500);
    const renamed = newName();
    expect((await make(set('name', renamed))).json.metadata.name).toBe(renamed);
    expect((await api.call('GET', `${GIZMOS}/${renamed}`)).code).toBe(200);
  });

  test('may change its version but not its kind', async () => {
    const headers = { 'content-type': 'application/json' };
    const path = '/apis/batch/v1/namespaces/default/cronjobs';
    const job = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } };
    const make = async (...operations: readonly object[]): Promise<Reply> => {
      mutating.behave = patching(...operations);
      const spec = { schedule: '* * * * *', jobTemplate: { spec: job } };
      return api.call('POST', path, { body: { metadata: { name: newName() }, spec }, headers });
    };
    const type = (field: 'kind' | 'apiVersion', value: unknown): object => ({
      op: 'add',
      path: `/${field}`,
      value,
    });
    expect((await make(type('apiVersion', 'batch/v1beta1'))).json.apiVersion).toBe('batch/v1');
    expect((await make({ op: 'remove', path: '/kind' }, type('apiVersion', ''))).code).toBe(201);
    expect((await make(type('kind', 'Job'))).code).toBe(500);
    expect((await make(type('apiVersion', 'batch/v7'))).code).toBe(500);
    expect((await make(type('kind', 7))).code).toBe(500);
  });

  test('changes neither kind nor group of a custom resource', async () => {
    const make = async (operation: object): Promise<Reply> => {
      mutating.behave = patching(operation);
      const body = { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name: newName() } };
      return api.call('POST', GIZMOS, { body });
    };
    const { code, json } = await make({ op: 'add', path: '/kind', value: 'Other' });
    expect([code, json.message]).toEqual([
      422,
      expect.stringContaining('kind: Invalid value: "Other": must be Gizmo'),
    ]);
    expect((await make({ op: 'remove', path: '/kind' })).code).toBe(500);
    expect((await make({ op: 'add', path: '/apiVersion', value: 'other.com/v1' })).code).toBe(500);
  });

  test('cannot rename an object that an apply creates', async () => {
    mutating.behave = patching(set('name', 'other'));
    const [name, headers] = [newName(), { 'content-type': 'application/apply-patch+yaml' }];
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
    const { code, json } = await api.call('PATCH', `${MAPS}/${name}?fieldManager=me`, { body, headers });
    expect([code, json.message]).toEqual([
      400,
      `the name of the object (other) does not match the name on the URL (${name})`,
    ]);
  });
});

describe('a webhook that patches an updated object', () => {
  const update = async (operations: readonly object[], method: string): Promise<Reply> => {
    const metadata = { name: newName() };
    const path = `${MAPS}/${metadata.name}`;
    await api.call('POST', MAPS, { body: { metadata } });
    mutating.behave = patching(...operations);
    return api.call(method, path, { body: { metadata, data: { k: 'v' } } });
  };

  const refused: readonly (readonly [string, readonly object[], number, string])[] = [
    ['another namespace', [set('namespace', 'kube-system')], 400, OTHER_NAMESPACE],
    [
      'another name',
      [set('name', 'other')],
      422,
      'ConfigMap "other" is invalid: metadata.name: Invalid value: "other": field is immutable',
    ],
    ['another uid', [set('uid', 'u')], 422, 'metadata.uid: Invalid value: "u": field is immutable'],
    [
      'a deletionTimestamp',
      [set('deletionTimestamp', OLD)],
      422,
      'metadata.deletionTimestamp: Invalid value',
    ],
    ['an old resourceVersion', [set('resourceVersion', '1')], 409, 'the object has been modified'],
    [
      'a malformed resourceVersion',
      [set('resourceVersion', 'x')],
      500,
      'the resourceVersion "x" is no version',
    ],
  ];
  const cases = refused.flatMap(([what, ...rest]) =>
    ['PUT', 'PATCH'].map((method) => [what, method, ...rest] as const),
  );
  test.each(cases)('is refused for %s: %s', async (_what, method, operations, code, message) => {
    const reply = await update(operations, method);
    expect([reply.code, reply.json.message]).toEqual([code, expect.stringContaining(message)]);
  });

  test('may drop the namespace, the uid and the resourceVersion, and set what the server overwrites', async () => {
    const { code, json } = await update(
      [
        unset('namespace'),
        set('uid', ''),
        set('resourceVersion', ''),
        set('generation', 7),
        set('creationTimestamp', OLD),
      ],
      'PUT',
    );
    expect(code).toBe(200);
    expect(json).toMatchObject({ metadata: { namespace: 'default' }, data: { k: 'v' } });
    expect(json.metadata).not.toHaveProperty('generation');
    expect(json.metadata.creationTimestamp).not.toBe(OLD);
    expect(lastSeen().object.metadata).toMatchObject({ uid: json.metadata.uid, namespace: 'default' });
  });
});

test('a webhook that moves the object of a subresource is refused, and may not identify another one', async () => {
  const send = async (path: string, body: object, ...operations: readonly object[]): Promise<number> => {
    mutating.behave = patching(...operations);
    return (await api.call(path.endsWith('/scale') ? 'PATCH' : 'POST', path, { body })).code;
  };
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const pods = '/api/v1/namespaces/default/pods';
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  const sets = '/apis/apps/v1/namespaces/default/replicasets';
  const metadata = { name: 'x' };
  await send(pods, { metadata, spec: template.spec });
  await send(accounts, { metadata });
  await send(sets, { metadata, spec: { selector: { matchLabels: { a: 'b' } }, template } });
  const [other, uid] = [set('name', 'other'), set('uid', 'u')];
  expect(await send(`${pods}/x/eviction`, { metadata }, other)).toBe(400);
  expect(await send(`${pods}/x/binding`, { metadata, target: { name: 'n' } }, other)).toBe(400);
  expect(await send(`${pods}/x/binding`, { metadata, target: { name: 'n' } }, uid)).toBe(409);
  expect(await send(`${accounts}/x/token`, {}, other)).toBe(422);
  expect(await send(`${accounts}/x/token`, {}, set('namespace', 'other'))).toBe(422);
  expect(await send(`${accounts}/x/token`, {}, uid)).toBe(409);
  expect(await send(`${sets}/x/scale`, {}, uid)).toBe(409);
  expect(await send(`${sets}/x/scale`, {}, set('resourceVersion', '1'))).toBe(409);
  expect(
    await send(`${sets}/x/scale`, { spec: { replicas: 3 } }, unset('uid'), unset('resourceVersion')),
  ).toBe(200);
});
