import { AUDIT_ANNOTATION, GROUP } from '../../../../shared/names';
import { API_SERVER_USER } from '../../../engine/registry/api-server-user';
import { define, definitionBody } from '../../../testing/custom-resources/definitions';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { attributesOf } from '../testing/plugin-bench';
import type { Review, WebhookServer } from './testing/webhook-server';
import { allow, configurationOf, hookAt, patching, startWebhook } from './testing/webhook-server';

let api: InProcessApi;
let webhook: WebhookServer;
let others: WebhookServer[];

beforeEach(async () => {
  others = [];
  [api, webhook] = await Promise.all([startInProcessApi(), startWebhook()]);
});
afterEach(async () => {
  await Promise.all([api.close(), webhook.close(), ...others.map(async (each) => each.close())]);
});

const MAPS = '/api/v1/namespaces/default/configmaps';

async function configure(
  type: 'Mutating' | 'Validating',
  hooks: readonly object[],
  name = 'conf',
): Promise<void> {
  const { path, body } = configurationOf(type, name, hooks);
  const { code, text } = await api.call('POST', path, { body });
  if (code !== 201) throw new Error(text);
}

async function another(behave = allow): Promise<WebhookServer> {
  const started = await startWebhook(behave);
  others.push(started);
  return started;
}

async function createMap(fields: object = {}, query = ''): Promise<Reply> {
  return api.call('POST', MAPS + query, { body: { metadata: { name: 'm' }, ...fields } });
}

const request = (at = 0): Review => webhook.asked[at]?.review.request;

describe('a webhook gets', () => {
  test('the user, the operation, and the object in the version of its rule', async () => {
    await configure('Validating', [hookAt(webhook)]);
    await createMap({ data: { k: 'v' } }, '?fieldManager=me');
    expect(webhook.asked[0]?.url).toBe('/review?timeout=10s');
    expect(webhook.asked[0]?.review).toMatchObject({
      kind: 'AdmissionReview',
      apiVersion: `${GROUP.admission}/v1`,
    });
    const { uid, userInfo, object, ...rest } = request();
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(userInfo).toEqual({ username: 'tester', groups: ['system:masters'] });
    expect(object).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'm', namespace: 'default', uid: expect.any(String) },
      data: { k: 'v' },
    });
    expect(rest).toEqual({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'm',
      namespace: 'default',
      operation: 'CREATE',
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: `${GROUP.meta}/v1`, fieldManager: 'me' },
    });
  });

  test('the object before and after an update, and the deleted one', async () => {
    await createMap({ data: { k: 'old' } });
    await configure('Validating', [hookAt(webhook)]);
    await api.call('PATCH', `${MAPS}/m`, { body: { data: { k: 'new' } } });
    await api.call('DELETE', `${MAPS}/m`, {
      body: { gracePeriodSeconds: 0, propagationPolicy: 'Background' },
    });
    expect(request(0)).toMatchObject({
      operation: 'UPDATE',
      name: 'm',
      object: { data: { k: 'new' } },
      oldObject: { data: { k: 'old' } },
      options: { kind: 'UpdateOptions' },
    });
    expect(request(1)).toMatchObject({
      operation: 'DELETE',
      object: null,
      oldObject: { data: { k: 'new' } },
      options: { kind: 'DeleteOptions', gracePeriodSeconds: 0, propagationPolicy: 'Background' },
    });
  });

  test.each(['Mutating', 'Validating'] as const)('each object of a deleted collection: %s', async (type) => {
    const names = ['m1', 'm2', 'm3'];
    const labels = { goes: 'yes' };
    for (const name of names) await createMap({ metadata: { name, labels }, data: { is: name } });
    await createMap({ metadata: { name: 'stays' } });
    await configure(type, [hookAt(webhook)]);
    const { code } = await api.call('DELETE', `${MAPS}?labelSelector=goes%3Dyes`);
    expect(code).toBe(200);
    const shown = webhook.asked.map(({ review }): Review => review.request);
    expect(shown).toHaveLength(names.length);
    expect(new Set(shown.map(({ name }) => name))).toEqual(new Set(names));
    for (const { name, ...rest } of shown) {
      expect(rest).toMatchObject({
        operation: 'DELETE',
        namespace: 'default',
        object: null,
        oldObject: { metadata: { name }, data: { is: name } },
        options: { kind: 'DeleteOptions' },
      });
    }
  });

  test('a new object without its generated name at first, and then with it', async () => {
    await configure('Mutating', [hookAt(webhook)]);
    await configure('Validating', [hookAt(webhook)]);
    await api.call('POST', MAPS, { body: { metadata: { generateName: 'gen-' } } });
    expect(request(0).name).toBeUndefined();
    expect(request(1).name).toMatch(/^gen-/);
  });

  test('the kind of a subresource', async () => {
    const path = `/apis/apps/v1/namespaces/default/deployments`;
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    await api.call('POST', path, { body: { metadata: { name: 'd' }, spec } });
    const rules = [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['*/scale'] }];
    await configure('Mutating', [hookAt(webhook, { rules })]);
    webhook.behave = patching({ op: 'replace', path: '/spec/replicas', value: 7 });
    const { json } = await api.call('PATCH', `${path}/d/scale`, { body: { spec: { replicas: 3 } } });
    expect(request()).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      subResource: 'scale',
      requestSubResource: 'scale',
      object: { kind: 'Scale', spec: { replicas: 3 } },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } },
    });
    expect(json.spec.replicas).toBe(7);
  });

  test('an eviction as a subresource of a pod', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    await api.call('POST', pods, {
      body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    });
    const rules = [
      { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'] },
    ];
    await configure('Validating', [hookAt(webhook, { rules })]);
    webhook.behave = () => ({ allowed: false });
    const { code } = await api.call('POST', `${pods}/p/eviction`, { body: { metadata: { name: 'p' } } });
    expect(code).toBe(400);
    expect(request()).toMatchObject({
      kind: { group: 'policy', kind: 'Eviction' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      requestResource: { group: '', version: 'v1', resource: 'pods' },
      name: 'p',
      namespace: 'default',
    });
  });

  test('reviews in v1beta1 if that is its only version', async () => {
    await configure('Validating', [hookAt(webhook, { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] })]);
    webhook.behave = (_asked, { response }) => {
      response.end('{"response":{"allowed":true}}');
      return undefined;
    };
    expect((await createMap()).code).toBe(201);
    expect(webhook.asked[0]?.review.apiVersion).toBe(`${GROUP.admission}/v1beta1`);
    webhook.behave = (_asked, { response }) => {
      response.end(`{"apiVersion":"${GROUP.admission}/v1","response":{"allowed":true}}`);
      return undefined;
    };
    expect((await createMap({ metadata: { name: 'other' } })).code).toBe(500);
  });
});

describe('other versions of the same objects', () => {
  const CRON = {
    schedule: '* * * * *',
    jobTemplate: {
      spec: {
        template: {
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'c', image: 'i' }],
          },
        },
      },
    },
  };
  const path = '/apis/batch/v1/namespaces/default/cronjobs';
  const rules = [
    { operations: ['*'], apiGroups: ['batch'], apiVersions: ['v1beta1'], resources: ['cronjobs'] },
  ];

  test('are converted to the version of the rule', async () => {
    await configure('Mutating', [hookAt(webhook, { rules })]);
    webhook.behave = patching({ op: 'add', path: '/spec/suspend', value: true });
    const { json } = await api.call('POST', path, { body: { metadata: { name: 'c' }, spec: CRON } });
    expect(request()).toMatchObject({
      kind: { group: 'batch', version: 'v1beta1', kind: 'CronJob' },
      resource: { group: 'batch', version: 'v1beta1', resource: 'cronjobs' },
      requestKind: { group: 'batch', version: 'v1', kind: 'CronJob' },
      object: { apiVersion: 'batch/v1beta1', kind: 'CronJob' },
    });
    expect(json).toMatchObject({ apiVersion: 'batch/v1', spec: { suspend: true } });
  });

  test('do not match an Exact rule', async () => {
    await configure('Mutating', [hookAt(webhook, { rules, matchPolicy: 'Exact' })]);
    await api.call('POST', path, { body: { metadata: { name: 'c' }, spec: CRON } });
    expect(webhook.asked).toEqual([]);
  });
});

describe('matching', () => {
  const label = (labels: object) => ({ metadata: { name: 'm', labels } });

  test("uses the object's labels before or after the write", async () => {
    await configure('Validating', [hookAt(webhook, { objectSelector: { matchLabels: { see: 'me' } } })]);
    await createMap(label({ see: 'not' }));
    expect(webhook.asked).toHaveLength(0);
    await api.call('PUT', `${MAPS}/m`, { body: label({ see: 'me' }) });
    await api.call('PUT', `${MAPS}/m`, { body: label({}) });
    await api.call('PUT', `${MAPS}/m`, { body: { ...label({}), data: { a: 'b' } } });
    expect(webhook.asked).toHaveLength(2);
  });

  test('uses the current labels of the namespace', async () => {
    await configure('Validating', [hookAt(webhook, { namespaceSelector: { matchLabels: { see: 'me' } } })]);
    await createMap();
    expect(webhook.asked).toHaveLength(0);
    await api.call('PATCH', '/api/v1/namespaces/default', { body: { metadata: { labels: { see: 'me' } } } });
    await createMap({ metadata: { name: 'n' } });
    expect(webhook.asked).toHaveLength(1);
  });

  test("uses a namespace's own labels, and always matches cluster-scoped objects", async () => {
    const rules = [
      {
        operations: ['*'],
        apiGroups: ['*'],
        apiVersions: ['*'],
        resources: ['namespaces', 'nodes'],
        scope: 'Cluster',
      },
    ];
    await configure('Validating', [
      hookAt(webhook, { rules, namespaceSelector: { matchLabels: { see: 'me' } } }),
    ]);
    await api.call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'plain' } } });
    await api.call('POST', '/api/v1/namespaces', {
      body: { metadata: { name: 'seen', labels: { see: 'me' } } },
    });
    await api.call('POST', '/api/v1/nodes', { body: { metadata: { name: 'node' } } });
    expect(webhook.asked.map(({ review }) => review.request.name)).toEqual(['seen', 'node']);
    expect(request().namespace).toBe('seen');
  });

  test('excludes webhook configurations', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }];
    await configure('Validating', [hookAt(webhook, { rules })]);
    webhook.behave = () => ({ allowed: false });
    const { path } = configurationOf('Validating', '', []);
    expect(
      (await api.call('PATCH', `${path}/conf`, { body: { metadata: { labels: { a: 'b' } } } })).code,
    ).toBe(200);
    expect((await createMap()).code).toBe(400);
    expect((await api.call('DELETE', `${path}/conf`)).code).toBe(200);
    expect((await createMap()).code).toBe(201);
  });
});

describe('a refusal', () => {
  test.each([
    [{}, 400, 'denied the request without explanation', undefined],
    [{ message: 'no' }, 400, 'denied the request: no', undefined],
    [{ reason: 'Odd' }, 400, 'denied the request: Odd', 'Odd'],
    [{ code: 403, message: 'no', reason: 'Forbidden' }, 403, 'denied the request: no', 'Forbidden'],
    [{ code: 200, message: 'no' }, 400, 'denied the request: no', undefined],
    [{ code: 4444, message: 'no' }, 400, 'denied the request: no', undefined],
  ])('of %j is answered with %i', async (status, code, message, reason) => {
    await configure('Validating', [hookAt(webhook)]);
    webhook.behave = () => ({ allowed: false, status });
    const reply = await createMap();
    expect(reply).toMatchObject({ code, json: { status: 'Failure', code } });
    expect(reply.json.message).toBe(`admission webhook "a.example.org" ${message}`);
    expect(reply.json.reason).toBe(reason);
    expect((await api.call('GET', `${MAPS}/m`)).code).toBe(404);
  });

  test('of several counts in the order of the names', async () => {
    const second = await another(() => ({ allowed: false, status: { message: 'second' } }));
    webhook.behave = async () => {
      await second.askedTimes(1);
      return { allowed: false, status: { message: 'first' } };
    };
    await configure('Validating', [hookAt(second)], 'b');
    await configure('Validating', [hookAt(webhook)], 'a');
    expect((await createMap()).json.message).toMatch(/: first$/);
  });
});

test('warnings of a webhook reach the client', async () => {
  await configure('Validating', [hookAt(webhook)]);
  webhook.behave = () => ({ allowed: true, warnings: ['mind', 'the gap', ''] });
  expect((await createMap()).warnings).toEqual(['mind', 'the gap']);
});

test('warnings beyond the limits are dropped', async () => {
  await configure('Validating', [hookAt(webhook)]);
  const warnings = Array.from({ length: 100_000 }, (_none, at) => String(at));
  webhook.behave = () => ({ allowed: true, warnings });
  const reply = await createMap();
  expect(reply.code).toBe(201);
  expect(reply.warnings.length).toBeLessThan(5_000);
  expect(reply.warnings.slice(0, 2)).toEqual(['0', '1']);
});

describe('dry runs', () => {
  test('reach webhooks without side effects', async () => {
    await configure('Mutating', [hookAt(webhook, { sideEffects: 'NoneOnDryRun' })]);
    expect((await createMap({}, '?dryRun=All')).code).toBe(201);
    expect(request()).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
  });

  test('fail for a webhook with side effects, whatever its failurePolicy', async () => {
    const { body } = configurationOf('Mutating', 'conf', [
      hookAt(webhook, { sideEffects: 'Some', failurePolicy: 'Ignore' }),
    ]);
    const v1beta1 = `${GROUP.admissionregistration}/v1beta1`;
    await api.call('POST', `/apis/${v1beta1}/mutatingwebhookconfigurations`, {
      body: { ...body, apiVersion: v1beta1 },
    });
    const reply = await createMap({}, '?dryRun=All');
    expect(reply).toMatchObject({ code: 400, json: { reason: 'BadRequest' } });
    expect(reply.json.message).toBe('admission webhook "a.example.org" does not support dry run');
    expect(webhook.asked).toHaveLength(0);
  });
});

describe('patches', () => {
  test('are applied in order of names, each to the previous result, with defaults', async () => {
    const second = await another(({ review }) => {
      const seen = String(review.request.object.metadata.labels.first);
      return patching({ op: 'add', path: '/metadata/labels/second', value: `after-${seen}` })();
    });
    webhook.behave = patching({ op: 'add', path: '/metadata/labels', value: { first: 'x' } });
    await configure('Mutating', [hookAt(second)], 'b');
    await configure('Mutating', [hookAt(webhook)], 'a');
    const { json } = await createMap();
    expect(json.metadata.labels).toEqual({ first: 'x', second: 'after-x' });
  });

  test("of a pod get defaults like a client's pod", async () => {
    const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
    await configure('Mutating', [hookAt(webhook, { rules })]);
    webhook.behave = patching({
      op: 'add',
      path: '/spec/containers/-',
      value: { name: 'side', image: 'car' },
    });
    const { json } = await api.call('POST', '/api/v1/namespaces/default/pods', {
      body: { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    });
    expect(json.spec.containers[1]).toMatchObject({ name: 'side', imagePullPolicy: 'Always' });
    expect(json.metadata.managedFields).toHaveLength(1);
  });

  test('that produce an invalid object are refused', async () => {
    await configure('Mutating', [hookAt(webhook)]);
    webhook.behave = patching({ op: 'add', path: '/metadata/labels', value: { 'not valid': 'x' } });
    expect(await createMap()).toMatchObject({ code: 422, json: { reason: 'Invalid' } });
    webhook.behave = patching({ op: 'replace', path: '/data', value: 7 });
    expect(await createMap()).toMatchObject({ code: 500, json: { reason: 'InternalError' } });
    webhook.behave = patching({ op: 'replace', path: '/kind', value: 'Secret' });
    expect(await createMap()).toMatchObject({ code: 500, json: { reason: 'InternalError' } });
  });

  test('of a deletion are refused', async () => {
    await createMap();
    await configure('Mutating', [hookAt(webhook)]);
    webhook.behave = patching({ op: 'add', path: '/data', value: {} });
    const reply = await api.call('DELETE', `${MAPS}/m`);
    expect(reply.json.message).toBe(
      'Internal error occurred: admission webhook "a.example.org" attempted to modify the object, which is not supported for this operation',
    );
  });

  test('that duplicate an owner keep it once with a warning', async () => {
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u1' };
    await configure('Mutating', [hookAt(webhook)]);
    webhook.behave = patching({ op: 'add', path: '/metadata/ownerReferences', value: [owner, owner] });
    const reply = await createMap();
    expect(reply.json.metadata.ownerReferences).toEqual([owner]);
    expect(reply.warnings).toEqual([
      expect.stringMatching(
        /^.metadata.ownerReferences contains duplicate entries after mutating admission happens; .*: u1$/,
      ),
    ]);
  });

  test('of an update belong to no manager until a client changes them', async () => {
    await createMap({ data: { a: '1' } });
    await configure('Mutating', [hookAt(webhook)]);
    webhook.behave = patching({ op: 'add', path: '/data/made', value: 'x' });
    const { json } = await api.call('PATCH', `${MAPS}/m?fieldManager=me`, { body: { data: { b: '2' } } });
    expect(json.data).toEqual({ a: '1', b: '2', made: 'x' });
    expect(JSON.stringify(json.metadata.managedFields)).not.toContain('made');
    webhook.behave = allow;
    const next = await api.call('PATCH', `${MAPS}/m?fieldManager=me`, { body: { data: { made: 'y' } } });
    expect(JSON.stringify(next.json.metadata.managedFields)).toContain('f:made');
  });

  test('of managedFields that are invalid are undone with a warning', async () => {
    await configure('Mutating', [hookAt(webhook)]);
    webhook.behave = patching({ op: 'remove', path: '/metadata/managedFields/0/operation' });
    const reply = await createMap({ data: { a: 'b' } });
    expect(reply.warnings).toEqual([
      expect.stringMatching(/managedFields was in an invalid state after admission/),
    ]);
    expect(reply.json.metadata.managedFields).toEqual([expect.objectContaining({ operation: 'Update' })]);
  });
});

describe('a webhook with reinvocationPolicy IfNeeded', () => {
  const again = { reinvocationPolicy: 'IfNeeded' };
  const mark = (name: string, { review }: { readonly review: Review }): object => {
    const labels = review.request.object.metadata.labels as Record<string, string>;
    const times = Number(labels[name] ?? 0) + 1;
    return patching({ op: 'add', path: `/metadata/labels/${name}`, value: String(times) })();
  };

  test('is called once more when a later one has changed the object', async () => {
    const second = await another((asked) => mark('second', asked));
    webhook.behave = (asked) => mark('first', asked);
    await configure('Mutating', [hookAt(webhook, again)], 'a');
    await configure('Mutating', [hookAt(second)], 'b');
    const { json } = await createMap({ metadata: { name: 'm', labels: { x: 'y' } } });
    expect(json.metadata.labels).toEqual({ x: 'y', first: '2', second: '1' });
    expect([webhook.asked.length, second.asked.length]).toEqual([2, 1]);
  });

  test('is not called again for its own change, nor without a change', async () => {
    const second = await another();
    webhook.behave = (asked) => mark('first', asked);
    await configure('Mutating', [hookAt(webhook, again)], 'a');
    await configure('Mutating', [hookAt(second, again)], 'b');
    await createMap({ metadata: { name: 'm', labels: { x: 'y' } } });
    expect([webhook.asked.length, second.asked.length]).toEqual([1, 1]);
  });
});

test('webhooks share one encoding of an unchanged object', async () => {
  await configure('Mutating', [hookAt(webhook), hookAt(webhook, { name: 'b.example.org' })]);
  await createMap({ data: { k: 'v' } });
  const [one, other] = webhook.asked.map(({ text }) => text.slice(text.indexOf('"object":')));
  expect(one).toBe(other);
});

describe('the audit event names', () => {
  const { signal } = new AbortController();

  async function notes(type: 'mutate' | 'validate'): Promise<Record<string, unknown>> {
    const noted: Record<string, unknown> = {};
    const annotate = (key: string, value: string, from?: 'Request'): void => {
      noted[key] = from === undefined ? value : [from, value];
    };
    const attributes = attributesOf('v1/configmaps', {
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm' } },
      namespace: 'default',
      annotate,
    });
    await api.plane.store.admission[type](attributes, signal);
    return noted;
  }

  test('the webhook that changed the object, and its patch', async () => {
    const operation = { op: 'add', path: '/data', value: { a: 'b' } };
    const second = await another();
    await configure('Mutating', [hookAt(second), hookAt(webhook, { name: 'b.example.org' })]);
    webhook.behave = () => ({
      ...patching(operation)(),
      auditAnnotations: { k: 'v' },
    });
    const who = { configuration: 'conf', webhook: 'b.example.org' };
    expect(await notes('mutate')).toEqual({
      [`${AUDIT_ANNOTATION.webhookMutation}round_0_index_0`]: JSON.stringify({
        configuration: 'conf',
        webhook: 'a.example.org',
        mutated: false,
      }),
      [`${AUDIT_ANNOTATION.webhookMutation}round_0_index_1`]: JSON.stringify({ ...who, mutated: true }),
      [`${AUDIT_ANNOTATION.webhookPatch}round_0_index_1`]: [
        'Request',
        JSON.stringify({ ...who, patch: [operation], patchType: 'JSONPatch' }),
      ],
      'b.example.org/k': 'v',
    });
  });

  test('the webhook that the request bypassed', async () => {
    await configure('Validating', [hookAt(webhook, { failurePolicy: 'Ignore' })]);
    webhook.behave = () => ({ uid: 'another' });
    expect(await notes('validate')).toEqual({
      [`${AUDIT_ANNOTATION.webhookIgnored.validating}round_0_index_0`]: 'a.example.org',
    });
  });
});

test('writes of the server itself bypass webhooks, so that none can prevent a start', async () => {
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
  await configure('Validating', [hookAt(webhook, { rules })]);
  const attributes = attributesOf('v1/configmaps', {
    object: { metadata: { name: 'm' } },
    namespace: 'default',
  });
  const { signal } = new AbortController();
  const own = { ...attributes, write: { ...attributes.write, user: API_SERVER_USER } };
  await api.plane.store.admission.validate(own, signal);
  expect(webhook.asked).toHaveLength(0);
  await api.plane.store.admission.validate(attributes, signal);
  expect(webhook.asked).toHaveLength(1);
});

test('validating webhooks are called concurrently', async () => {
  const hooks = Array.from({ length: 12 }, (_none, at) =>
    hookAt(webhook, { name: `n${String(at)}.example.org` }),
  );
  await configure('Validating', hooks);
  webhook.behave = async () => {
    await webhook.askedTimes(12);
    return { allowed: true };
  };
  expect((await createMap()).code).toBe(201);
});

test('the debug page lists called webhooks', async () => {
  await configure('Validating', [hookAt(webhook)]);
  await createMap();
  const { json } = await api.call('GET', '/debug/webhooks');
  expect(json.webhooks).toEqual([
    {
      type: 'validating',
      configuration: 'conf',
      name: 'a.example.org',
      failurePolicy: 'Fail',
      state: 'closed',
      since: expect.stringMatching(/^\d{4}-/),
      executing: 0,
      waiting: 0,
      failures: {},
    },
  ]);
});

describe('custom resources', () => {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer', minimum: 1 }, color: { type: 'string', default: 'red' } },
      },
    },
  };
  const rules = [
    { operations: ['*'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['gizmos'] },
  ];
  const create = async (version: string, spec: object): Promise<Reply> =>
    api.call('POST', `/apis/example.com/${version}/namespaces/default/gizmos`, {
      body: { apiVersion: `example.com/${version}`, kind: 'Gizmo', metadata: { name: 'g' }, spec },
    });

  beforeEach(async () => {
    const versions = ['v1', 'v2'].map((name) => ({ name, schema }));
    await define(api, definitionBody({ versions }));
  });

  test("are sent pruned and with defaults in the rule's version, patched, and validated by their schema", async () => {
    await configure('Mutating', [hookAt(webhook, { rules })]);
    webhook.behave = patching({ op: 'add', path: '/spec/size', value: 7 });
    const { json } = await create('v2', { size: 1, odd: true });
    expect(request()).toMatchObject({
      kind: { group: 'example.com', version: 'v1', kind: 'Gizmo' },
      requestKind: { group: 'example.com', version: 'v2', kind: 'Gizmo' },
      object: { apiVersion: 'example.com/v1', kind: 'Gizmo' },
    });
    expect(request().object.spec).toEqual({ size: 1, color: 'red' });
    expect(json).toMatchObject({ apiVersion: 'example.com/v2', spec: { size: 7, color: 'red' } });
  });

  test('that become invalid are refused', async () => {
    await configure('Mutating', [hookAt(webhook, { rules })]);
    webhook.behave = patching({ op: 'add', path: '/spec/size', value: 0 });
    expect((await create('v1', { size: 1 })).code).toBe(422);
  });

  test('lose unknown fields that a webhook adds', async () => {
    await configure('Mutating', [hookAt(webhook, { rules })]);
    webhook.behave = patching({ op: 'add', path: '/spec/odd', value: 0 });
    expect((await create('v1', { size: 1 })).json.spec).toEqual({ size: 1, color: 'red' });
  });
});

test('calls are counted by target, including those without an answer', async () => {
  const { host } = new URL(webhook.url);
  // Counted for the whole process: an earlier webhook may have had the same port.
  const counted = async (code: string): Promise<number> => {
    const { text } = await api.call('GET', '/metrics');
    const series = `rest_client_requests_total{code="${code}",method="POST",host="${host}"} `;
    const line = text.split('\n').find((each) => each.startsWith(series));
    return Number(line?.slice(series.length) ?? 0);
  };
  const before = { answered: await counted('200'), failed: await counted('<error>') };
  await configure('Validating', [hookAt(webhook)]);
  await createMap();
  expect(webhook.asked.length).toBeGreaterThan(0);
  expect((await counted('200')) - before.answered).toBe(webhook.asked.length);
  await webhook.close();
  await createMap({ metadata: { name: 'other' } });
  expect((await counted('<error>')) - before.failed).toBeGreaterThan(0);
});
