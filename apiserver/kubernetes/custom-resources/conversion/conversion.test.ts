import { linkedAbort } from '../../../../shared/concurrency/linked-abort';
import { MEDIA_TYPE } from '../../../../shared/names';
import { eventually, patience } from '../../../../shared/testing/eventually';
import type { Behaviour, Review, WebhookServer } from '../../admission/webhooks/testing/webhook-server';
import {
  configurationOf,
  hookAt,
  patching,
  startWebhook,
} from '../../admission/webhooks/testing/webhook-server';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { DEFINITIONS_PATH } from '../../../testing/custom-resources/definitions';
import {
  V1_PATH,
  V2_PATH,
  convertedDefinition,
  convertingBy,
  defineConverted,
  gizmoV1,
  gizmoV2,
} from '../../../testing/custom-resources/converting';

let api: InProcessApi;
let webhook: WebhookServer;
beforeEach(async () => {
  api = await startInProcessApi();
  webhook = await startWebhook(convertingBy());
});
afterEach(async () => {
  await api.close();
  await webhook.close();
});

const cut: Behaviour = (_asked, { response }) => {
  response.destroy();
  return undefined;
};
const post = async (path: string, body: object) => api.call('POST', path, { body });
const get = async (path: string, accept: string = MEDIA_TYPE.json) =>
  api.call('GET', path, { headers: { accept } });

test('an object is created, read and updated in either version, and stored in one', async () => {
  await defineConverted(api, webhook);
  const made = await post(V2_PATH, gizmoV2('a'));
  expect([made.code, made.json.apiVersion, made.json.spec]).toEqual([
    201,
    'example.com/v2',
    // v1 does not have the default of v2.
    { address: 'h:80' },
  ]);
  const stored = await get(`${V1_PATH}/a`);
  expect([stored.json.apiVersion, stored.json.spec]).toEqual(['example.com/v1', { host: 'h', port: 80 }]);
  const patched = await api.call('PATCH', `${V2_PATH}/a`, {
    body: { spec: { address: 'i:81' } },
    headers: { 'content-type': MEDIA_TYPE.mergePatch },
  });
  expect([patched.code, patched.json.spec.address]).toEqual([200, 'i:81']);
  expect((await get(`${V1_PATH}/a`)).json.spec).toEqual({ host: 'i', port: 81 });
  const put = await api.call('PUT', `${V2_PATH}/a`, {
    body: { ...patched.json, spec: { address: 'nonsense' } },
  });
  expect([put.code, put.json.details.causes[0].field]).toEqual([422, 'spec.address']);
  const gone = await api.call('DELETE', `${V2_PATH}/a`);
  expect([gone.code, (await get(`${V2_PATH}/a`)).code]).toEqual([200, 404]);
});

test('a review has the version that the definition requests, and the objects with their defaults', async () => {
  await defineConverted(api, webhook, { conversionReviewVersions: ['v9', 'v1beta1', 'v1'] });
  await post(V1_PATH, gizmoV1('a'));
  await get(`${V2_PATH}/a`);
  const review: Review = webhook.asked[0]?.review;
  expect(review.apiVersion).toBe('apiextensions.orch/v1beta1');
  expect(review.request.desiredAPIVersion).toBe('example.com/v2');
  expect(review.request.objects).toMatchObject([
    { apiVersion: 'example.com/v1', kind: 'Gizmo', spec: { port: 80 } },
  ]);
});

test('a list is converted in batches and cached: the second list calls no webhook', async () => {
  await defineConverted(api, webhook);
  for (let at = 0; at < 600; at += 1) await post(V1_PATH, gizmoV1(`g${String(at)}`));
  const first = await get(V2_PATH);
  expect(first.json.items).toHaveLength(600);
  expect(new Set(first.json.items.map((item: Review) => item.spec.address))).toEqual(new Set(['h:80']));
  expect(webhook.asked).toHaveLength(3);
  expect((await get(V2_PATH)).text).toBe(first.text);
  const yaml = await get(V2_PATH, MEDIA_TYPE.yaml);
  const table = await get(V2_PATH, `application/json;as=Table;v=v1;g=meta.orch`);
  expect([yaml.code, table.code, webhook.asked.length]).toEqual([200, 200, 3]);
});

test('watches in both versions receive the same changes, each converted once for all watchers', async () => {
  await defineConverted(api, webhook);
  const stop = linkedAbort(patience());
  const from = (await get(V1_PATH)).json.metadata.resourceVersion;
  const watch = (path: string) => api.watch(`${path}?watch=1&resourceVersion=${String(from)}`, stop.signal);
  const watches = [watch(V1_PATH), watch(V2_PATH), watch(V2_PATH)];
  const events = watches.map(async (each) => (await each.next()).value);
  await post(V1_PATH, gizmoV1('a'));
  const seen = (await Promise.all(events)).map((event) => [event?.type, event?.object['spec']]);
  expect(seen).toEqual([
    ['ADDED', { host: 'h', port: 80 }],
    ['ADDED', { address: 'h:80' }],
    ['ADDED', { address: 'h:80' }],
  ]);
  expect(webhook.asked).toHaveLength(1);
  stop.abort(new Error('the test is over'));
});

test('an object that cannot be converted ends a watch in the other version with an error, and no other watch', async () => {
  await defineConverted(api, webhook);
  webhook.behave = () => ({ result: { status: 'Failed', message: 'no way' } });
  const stop = linkedAbort(patience());
  const other = api.watch(`${V2_PATH}?watch=1`, stop.signal);
  const own = api.watch(`${V1_PATH}?watch=1`, stop.signal);
  const [failed, seen] = [other.next(), own.next()];
  await post(V1_PATH, gizmoV1('a'));
  expect((await failed).value).toMatchObject({
    type: 'ERROR',
    object: { code: 500, message: 'conversion webhook for example.com/v1, Kind=Gizmo failed: no way' },
  });
  expect((await other.next()).done).toBe(true);
  expect((await seen).value?.type).toBe('ADDED');
  stop.abort(new Error('the test is over'));
});

test('reviews are timed by definition and versions, including failed ones', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('timed'));
  await get(`${V2_PATH}/timed`);
  const about = (succeeded: boolean): string =>
    `crd_name="gizmos.example.com",from_version="v1",to_version="v2",succeeded="${String(succeeded)}"`;
  const counted = async (succeeded: boolean): Promise<number> => {
    const { text } = await get('/metrics');
    const name = 'apiserver_crd_webhook_conversion_duration_seconds_count';
    const line = text.split('\n').find((each) => each.startsWith(`${name}{${about(succeeded)}}`)) ?? '';
    return Number(line.slice(line.lastIndexOf(' ') + 1));
  };
  expect(await counted(true)).toBeGreaterThan(0);
  const before = await counted(false);
  webhook.behave = cut;
  await post(V1_PATH, gizmoV1('untimely'));
  expect((await get(`${V2_PATH}/untimely`)).code).toBe(500);
  expect((await counted(false)) - before).toBe(1);
});

test('an unreachable webhook fails the requests that need conversion with the message of v1.21, and no others', async () => {
  const nowhere = 'https://127.0.0.1:1/convert';
  await defineConverted(api, webhook, { clientConfig: { url: nowhere } });
  await post(V1_PATH, gizmoV1('a'));
  const failed = await get(`${V2_PATH}/a`);
  expect([failed.code, failed.json.reason, failed.json.message]).toEqual([
    500,
    undefined,
    `conversion webhook for example.com/v1, Kind=Gizmo failed: Post "${nowhere}?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
  ]);
  expect((await get(V2_PATH)).code).toBe(500);
  expect((await post(V2_PATH, gizmoV2('b'))).code).toBe(500);
  expect((await get(`${V1_PATH}/a`)).code).toBe(200);
  expect((await api.call('DELETE', `${V1_PATH}/a`)).code).toBe(200);
  // An empty list needs no conversion.
  expect((await get(V2_PATH)).json.items).toEqual([]);
});

const METADATA = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.orch`;

test('metadata requests in the storage version need no webhook, even if an object is stored in another version', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  await migrateTo('v2');
  webhook.behave = cut;
  expect((await get(V2_PATH, METADATA)).json.items[0].metadata.name).toBe('a');
  expect((await get(V2_PATH)).code).toBe(500);
  expect((await get(V1_PATH)).code).toBe(200);
});

async function migrateTo(storage: 'v1' | 'v2'): Promise<void> {
  const path = `${DEFINITIONS_PATH}/gizmos.example.com`;
  const { metadata } = (await get(path)).json;
  const { spec } = convertedDefinition(webhook, { storage });
  const { code } = await api.call('PUT', path, {
    body: { apiVersion: 'apiextensions.orch/v1', kind: 'CustomResourceDefinition', metadata, spec },
  });
  expect(code).toBe(200);
}

test('an update without a change rewrites an object in the current storage version', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  await migrateTo('v2');
  const path = `${DEFINITIONS_PATH}/gizmos.example.com`;
  expect((await get(path)).json.status.storedVersions).toEqual(['v1', 'v2']);
  const before = (await get(`${V2_PATH}/a`)).json;
  const after = await api.call('PUT', `${V2_PATH}/a`, { body: before });
  expect(after.code).toBe(200);
  expect(after.json.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
  // From now on, v2 needs no conversion.
  webhook.behave = cut;
  expect((await get(`${V2_PATH}/a`)).json.spec).toEqual({ address: 'h:80', mode: 'plain' });
});

const lies: readonly (readonly [string, (objects: Review[]) => readonly unknown[], string])[] = [
  ['drops objects', () => [], ' returned 0 objects, expected 1'],
  ['adds objects', ([one]) => [one, one], ' returned 2 objects, expected 1'],
  [
    'changes the name',
    ([one]) => [{ ...one, metadata: { ...one.metadata, name: 'other' } }],
    ' returned invalid object: must have the same name: a != other',
  ],
  [
    'changes the uid',
    ([one]) => [{ ...one, metadata: { ...one.metadata, uid: 'other' } }],
    ' returned invalid object: must have the same UID: ',
  ],
  [
    'answers in a third version',
    ([one]) => [{ ...one, apiVersion: 'example.com/v3' }],
    ' returned invalid object: invalid groupVersion (expected example.com/v2, received example.com/v3)',
  ],
  [
    'answers with another kind',
    ([one]) => [{ ...one, kind: 'Widget' }],
    ' returned invalid object: invalid kind (expected Gizmo, received Widget)',
  ],
  [
    'spoils labels',
    ([one]) => [{ ...one, metadata: { ...one.metadata, labels: { a: 1 } } }],
    ' returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
  ],
];

test.each(lies)('a response of a webhook that %s is rejected', async (_what, change, message) => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  webhook.behave = convertingBy(change);
  const { code, json } = await get(`${V2_PATH}/a`);
  expect(code).toBe(500);
  expect(json.message).toContain(`conversion webhook for example.com/v1, Kind=Gizmo${message}`);
});

test('a conversion can change labels and annotations of the metadata, and nothing else', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, { ...gizmoV1('a'), metadata: { name: 'a', labels: { x: 'y' }, finalizers: ['f'] } });
  webhook.behave = convertingBy(([one]) => {
    const { name, namespace, uid } = one.metadata;
    return [{ ...one, metadata: { name, namespace, uid, annotations: { b: 'c' }, finalizers: [] } }];
  });
  const { metadata } = (await get(`${V2_PATH}/a`)).json;
  expect(metadata).toMatchObject({ annotations: { b: 'c' }, finalizers: ['f'], generation: 1 });
  expect(metadata.labels).toBeUndefined();
});

test('a response with another uid, or a malformed one, fails the request', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  const fails = async (response: object | undefined): Promise<string> => {
    webhook.behave = ({ review }, raw) => {
      const { kind, apiVersion } = review;
      raw.response.end(JSON.stringify({ kind, apiVersion, response }));
      return undefined;
    };
    return (await get(`${V2_PATH}/a`)).json.message;
  };
  expect(await fails({ uid: 'x', result: { status: 'Success' } })).toContain(
    'failed: expected response.uid=',
  );
  expect(await fails(undefined)).toContain('failed: no response provided');
});

test('server-side apply in either version respects the field owners of the other', async () => {
  await defineConverted(api, webhook);
  const apply = async (path: string, manager: string, body: object) =>
    api.call('PATCH', `${path}/a?fieldManager=${manager}`, {
      body,
      headers: { 'content-type': MEDIA_TYPE.applyPatch },
    });
  const first = await apply(V1_PATH, 'one', gizmoV1('a'));
  expect(first.code).toBe(201);
  const conflict = await apply(V2_PATH, 'two', gizmoV2('a', { address: 'other:1' }));
  expect(conflict.code).toBe(409);
  const shared = await apply(V2_PATH, 'two', gizmoV2('a', { address: 'h:80' }));
  expect(shared.code).toBe(200);
  const managers = shared.json.metadata.managedFields.map((entry: Review) => [
    entry.manager,
    entry.apiVersion,
    Object.keys(entry.fieldsV1['f:spec']),
  ]);
  expect(managers).toEqual([
    ['one', 'example.com/v1', ['f:host', 'f:port']],
    ['two', 'example.com/v2', ['f:address']],
  ]);
});

test('status and scale, dry runs and deletions of collections work in the other version', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a', { host: 'h', port: 80, replicas: 2 }));
  const scale = await get(`${V2_PATH}/a/scale`);
  expect(scale.json.spec).toEqual({ replicas: 2 });
  const scaled = await api.call('PUT', `${V2_PATH}/a/scale`, {
    body: { ...scale.json, spec: { replicas: 3 } },
  });
  expect([scaled.code, scaled.json.spec]).toEqual([200, { replicas: 3 }]);
  const live = (await get(`${V2_PATH}/a`)).json;
  const status = await api.call('PUT', `${V2_PATH}/a/status`, { body: { ...live, status: { replicas: 3 } } });
  expect([status.code, status.json.status]).toEqual([200, { replicas: 3 }]);
  const dry = await post(`${V2_PATH}?dryRun=All`, gizmoV2('b'));
  expect([dry.code, dry.json.spec.address]).toEqual([201, 'h:80']);
  const removed = await api.call('DELETE', V2_PATH);
  expect([removed.code, removed.json.items[0].spec.address]).toEqual([200, 'h:80']);
  expect((await get(V1_PATH)).json.items).toEqual([]);
});

test('a deletion of a collection whose response cannot be converted deletes nothing', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  await post(V1_PATH, gizmoV1('b'));
  webhook.behave = convertingBy((objects) => objects.filter(({ metadata }) => metadata.name === 'a'));
  expect((await api.call('DELETE', V2_PATH)).code).toBe(500);
  expect((await get(V1_PATH)).json.items).toHaveLength(2);
  expect((await api.call('DELETE', V1_PATH)).code).toBe(200);
});

test('a webhook that hangs delays only the requests that need it', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  webhook.behave = () => undefined;
  const gone = new AbortController();
  const waiting = api.call('GET', `${V2_PATH}/a`, { signal: gone.signal }).then(
    ({ code }) => code,
    () => 'given up',
  );
  await webhook.askedTimes(1);
  expect((await get(`${V1_PATH}/a`)).code).toBe(200);
  expect((await post(V1_PATH, gizmoV1('b'))).code).toBe(201);
  expect((await post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } })).code).toBe(201);
  gone.abort(new Error('the client has left'));
  expect(await waiting).not.toBe(200);
});

test('a response beyond the size limit fails the request', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  webhook.behave = (_asked, { response }) => {
    response.end(Buffer.alloc(9 * 1024 * 1024, ' '));
    return undefined;
  };
  const { code, json } = await get(`${V2_PATH}/a`);
  expect(code).toBe(500);
  expect(json.message).toContain('conversion webhook for example.com/v1, Kind=Gizmo failed: ');
});

test('requests that are cancelled or time out do not count as webhook failures', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  let think: () => void = () => undefined;
  const thought = new Promise<void>((resolve) => {
    think = resolve;
  });
  const convert = convertingBy();
  webhook.behave = async (...asked) => {
    await thought;
    return convert(...asked);
  };
  // More tries than the allowed consecutive failures.
  for (let tries = 0; tries < 6; tries += 1) {
    const gone = new AbortController();
    const left = api
      .call('GET', `${V2_PATH}/a`, { signal: gone.signal })
      .catch((error: unknown) => String(error));
    await webhook.askedTimes(1);
    gone.abort(new Error('the client has left'));
    expect(await left).toBe('Error: the client has left');
    expect((await get(`${V2_PATH}/a?timeout=50ms`)).code).toBe(504);
  }
  think();
  // No request has to wait for a probe: the shared call has continued.
  expect((await get(`${V2_PATH}/a`)).code).toBe(200);
  const [report] = api.plane.webhookMetrics.reports();
  expect([webhook.asked.length, report?.hook.type, report?.outage]).toEqual([1, 'conversion', undefined]);
});

test('five consecutive failures open the circuit, until a probe succeeds', async () => {
  await defineConverted(api, webhook);
  await post(V1_PATH, gizmoV1('a'));
  webhook.behave = cut;
  let message = '';
  for (let tries = 0; tries < 6; tries += 1) message = (await get(`${V2_PATH}/a`)).json.message;
  expect(message).toContain('it has not answered since');
  webhook.behave = convertingBy();
  await eventually('a probe', async () => (await get(`${V2_PATH}/a`)).code === 200);
  const [report] = api.plane.webhookMetrics.reports();
  expect([report?.hook.type, report?.outage]).toEqual(['conversion', undefined]);
});

test('a webhook is resolved by its Service', async () => {
  const { caBundle, port } = webhook;
  const service = { namespace: 'default', name: 'converter', port, path: '/convert' };
  await defineConverted(api, webhook, { clientConfig: { service, caBundle } });
  await post(V1_PATH, gizmoV1('a'));
  const missing = await get(`${V2_PATH}/a`);
  expect(missing.json.message).toContain(
    `failed: Post "https://converter.default.svc:${String(port)}/convert?timeout=30s": service "converter" not found`,
  );
  const spec = { type: 'ExternalName', externalName: '127.0.0.1.nip.invalid' };
  await post('/api/v1/namespaces/default/services', { metadata: { name: 'converter' }, spec });
  const unknown = await get(`${V2_PATH}/a`);
  expect(unknown.json.message).toContain(
    `Post "https://converter.default.svc:${String(port)}/convert?timeout=30s": dial tcp`,
  );
});

test('admission webhooks receive an object in the version that they request', async () => {
  await defineConverted(api, webhook);
  const seen: string[] = [];
  const admission = await startWebhook(({ review }) => {
    seen.push(JSON.stringify(review.request.object.spec));
    return patching({ op: 'add', path: '/spec/replicas', value: 7 })();
  });
  const rules = [
    { operations: ['*'], apiGroups: ['example.com'], apiVersions: ['v1'], resources: ['gizmos'], scope: '*' },
  ];
  const { path, body } = configurationOf('Mutating', 'm', [
    hookAt(admission, { rules, matchPolicy: 'Equivalent' }),
  ]);
  await post(path, body);
  const made = await post(V2_PATH, gizmoV2('a'));
  expect([made.code, made.json.spec]).toEqual([201, { address: 'h:80', replicas: 7 }]);
  expect(seen[0]).toContain('"host":"h"');
  await admission.close();
});
