import { GROUP } from '../../../../shared/names';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

const ROLES = `/apis/${GROUP.rbac}/v1/namespaces/default/roles`;
const STATEFUL_SETS = '/apis/apps/v1/namespaces/default/statefulsets';

async function call(method: string, path: string, body: object, manager = 'm'): Promise<Reply> {
  return api.call(method, `${path}?fieldManager=${manager}`, { body });
}

function fieldsOf({ json }: Reply, manager = 'm'): unknown {
  const entries: readonly { manager: string; fieldsV1: unknown }[] = json.metadata.managedFields ?? [];
  return entries.find((entry) => entry.manager === manager)?.fieldsV1;
}

test('an empty list in a field that is always written is owned by its writer, and shown as null', async () => {
  const created = await call('POST', ROLES, { metadata: { name: 'empty' }, rules: [] });
  expect([created.code, created.json.rules]).toEqual([201, null]);
  expect(fieldsOf(created)).toEqual({ 'f:rules': {} });
});

test.each([
  ['left out', {}],
  ['null', { rules: null }],
])('an empty list that is %s has no owner', async (what, rules) => {
  const created = await call('POST', ROLES, {
    metadata: { name: `none-${what.slice(0, 4)}`.trim() },
    ...rules,
  });
  expect([created.code, created.json.rules]).toEqual([201, null]);
  expect(fieldsOf(created)).toBeUndefined();
});

test('an empty list of a patch and a nested one are owned as well', async () => {
  await call('POST', ROLES, {
    metadata: { name: 'nested' },
    rules: [{ apiGroups: [''], verbs: ['get'], resources: ['x'] }],
  });
  const patched = await call('PATCH', `${ROLES}/nested`, { rules: [] }, 'patcher');
  expect([patched.json.rules, fieldsOf(patched, 'patcher')]).toEqual([null, { 'f:rules': {} }]);
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } };
  const spec = { replicas: 0, serviceName: 's', selector: { matchLabels: { a: 'b' } }, template };
  const created = await call('POST', STATEFUL_SETS, { metadata: { name: 'set' }, spec });
  expect(created.code).toBe(201);
  expect(fieldsOf(created)).toMatchObject({
    'f:spec': { 'f:template': { 'f:spec': { 'f:containers': {} } } },
  });
  expect(created.json.spec.template.spec.containers).toBeNull();
});

test('a repeated write changes neither the version nor the generation', async () => {
  const name = { metadata: { name: 'again' } };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [] } };
  const spec = { replicas: 0, serviceName: 's', selector: { matchLabels: { a: 'b' } }, template };
  const created = await call('POST', STATEFUL_SETS, { ...name, spec });
  const again = await call('PUT', `${STATEFUL_SETS}/again`, { ...name, spec });
  expect(again.code).toBe(200);
  expect(again.json.metadata).toEqual(created.json.metadata);
});

test('an empty list in an omitempty field has no owner', async () => {
  const created = await call('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'no-secrets' },
    secrets: [],
  });
  expect([created.code, fieldsOf(created)]).toEqual([201, undefined]);
});

test('the writer of an empty struct owns the struct, not the fields that admission sets', async () => {
  const limits = [{ type: 'Container', default: { cpu: '500m' }, defaultRequest: { cpu: '250m' } }];
  const made = await call('POST', '/api/v1/namespaces', { metadata: { name: 'limited' } });
  expect(made.code).toBe(201);
  await call('POST', '/api/v1/namespaces/limited/limitranges', { metadata: { name: 'l' }, spec: { limits } });
  const pods = '/api/v1/namespaces/limited/pods';
  const containers = [{ name: 'c', image: 'i' }];
  const created = await call('POST', pods, { metadata: { name: 'p' }, spec: { containers } });
  const ownContainer = (resources: object): object => ({
    'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:resources': resources } } },
  });
  expect(created.json.spec.containers[0].resources).toEqual({
    limits: { cpu: '500m' },
    requests: { cpu: '250m' },
  });
  const own = fieldsOf(created);
  expect(own).toMatchObject(ownContainer({}));
  expect(own).not.toMatchObject(ownContainer({ 'f:limits': {} }));
  const patched = await call('PATCH', `${pods}/p`, { metadata: { labels: { a: 'b' } } }, 'other');
  expect(fieldsOf(patched)).toEqual(own);
  expect(fieldsOf(patched, 'other')).toEqual({ 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } });
});
