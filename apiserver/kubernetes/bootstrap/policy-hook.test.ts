import { ANNOTATION, GROUP, NAMESPACE } from '../../../shared/names';
import { silentLog } from '../../../shared/log/log';
import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import type { PolicyHook } from './policy-hook';
import { createPolicyHook } from './policy-hook';

const RBAC = `/apis/${GROUP.rbac}/v1`;
const DISCOVERY = `${RBAC}/clusterroles/system:discovery`;
const DISCOVERERS = `${RBAC}/clusterrolebindings/system:discovery`;

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

function hook(): PolicyHook {
  const { store, registry } = api.plane;
  return createPolicyHook({ store, registry, log: silentLog });
}

/** Returns the object after a start of a new replica. */
// eslint-disable-next-line typescript/no-explicit-any
async function afterStart(path: string): Promise<any> {
  await hook().run(patience());
  return (await api.call('GET', path)).json;
}

async function patch(path: string, body: object): Promise<void> {
  expect((await api.call('PATCH', path, { body })).code).toBe(200);
}

test('an empty store gets all roles and bindings, in their namespaces', async () => {
  await hook().run(patience());
  expect((await api.call('GET', `${RBAC}/clusterroles/cluster-admin`)).json.rules).toHaveLength(2);
  expect((await api.call('GET', `${RBAC}/clusterroles`)).json.items.length).toBeGreaterThan(50);
  const inSystem = await api.call('GET', `${RBAC}/namespaces/${NAMESPACE.system}/rolebindings`);
  expect(inSystem.json.items.length).toBeGreaterThan(3);
});

test('concurrent and later starts write each object once', async () => {
  await Promise.all([hook(), hook(), hook()].map((each) => each.run(patience())));
  const before = (await api.call('GET', `${RBAC}/clusterroles`)).json.items;
  await hook().run(patience());
  expect((await api.call('GET', `${RBAC}/clusterroles`)).json.items).toEqual(before);
});

test('missing rules are added, and additional rules are kept', async () => {
  const { rules } = await afterStart(DISCOVERY);
  const own = { verbs: ['get'], nonResourceURLs: ['/own', '/api'] };
  await patch(DISCOVERY, { rules: [own], metadata: { labels: { mine: 'x' } } });
  const grown = await afterStart(DISCOVERY);
  expect(grown.metadata.labels.mine).toBe('x');
  expect(grown.rules[0]).toEqual(own);
  const urls = grown.rules.slice(1).flatMap((rule: { nonResourceURLs: string[] }) => rule.nonResourceURLs);
  expect(urls.toSorted()).toEqual(
    rules[0].nonResourceURLs.filter((url: string) => url !== '/api').toSorted(),
  );
});

test('missing labels and annotations are restored, changed values are kept', async () => {
  const { metadata } = await afterStart(DISCOVERY);
  const [[label]] = Object.entries(metadata.labels) as [[string, string]];
  await patch(DISCOVERY, { metadata: { labels: { [label]: null } } });
  expect((await afterStart(DISCOVERY)).metadata.labels).toEqual(metadata.labels);
  await patch(DISCOVERY, { metadata: { labels: { [label]: 'other' } } });
  expect((await afterStart(DISCOVERY)).metadata.labels[label]).toBe('other');
});

test('a protected role or binding is unchanged', async () => {
  await hook().run(patience());
  const annotations = { [ANNOTATION.autoUpdate]: 'false' };
  await patch(DISCOVERY, { rules: [], metadata: { annotations } });
  await patch(DISCOVERERS, { subjects: [], metadata: { annotations } });
  expect((await afterStart(DISCOVERY)).rules ?? []).toEqual([]);
  expect((await afterStart(DISCOVERERS)).subjects ?? []).toEqual([]);
});

test('missing subjects are added, and additional subjects are kept', async () => {
  const { subjects } = await afterStart(DISCOVERERS);
  const other = { kind: 'User', apiGroup: GROUP.rbac, name: 'me' };
  await patch(DISCOVERERS, { subjects: [other] });
  expect((await afterStart(DISCOVERERS)).subjects).toEqual([other, ...subjects]);
});

test('a binding with another role is recreated', async () => {
  const before = await afterStart(DISCOVERERS);
  await api.call('DELETE', DISCOVERERS);
  const roleRef = { ...before.roleRef, name: 'cluster-admin' };
  const body = { metadata: { name: 'system:discovery' }, roleRef, subjects: [] };
  expect((await api.call('POST', `${RBAC}/clusterrolebindings`, { body })).code).toBe(201);
  const after = await afterStart(DISCOVERERS);
  expect(after).toMatchObject({ roleRef: before.roleRef, subjects: before.subjects });
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
});

test('aggregation selectors are extended, rules are left to the controller, and an unexpected aggregation is removed', async () => {
  const { aggregationRule } = await afterStart(`${RBAC}/clusterroles/edit`);
  const mine = { matchLabels: { mine: 'x' } };
  await patch(`${RBAC}/clusterroles/edit`, { aggregationRule: { clusterRoleSelectors: [mine] } });
  const edit = await afterStart(`${RBAC}/clusterroles/edit`);
  expect(edit.aggregationRule.clusterRoleSelectors).toEqual([mine, ...aggregationRule.clusterRoleSelectors]);
  await patch(DISCOVERY, { aggregationRule: { clusterRoleSelectors: [mine] } });
  expect((await afterStart(DISCOVERY)).aggregationRule).toBeUndefined();
});

test('a deleted object is created again', async () => {
  await hook().run(patience());
  await api.call('DELETE', DISCOVERY);
  await api.call('DELETE', DISCOVERERS);
  expect((await afterStart(DISCOVERY)).rules).toHaveLength(1);
  expect((await afterStart(DISCOVERERS)).subjects).toHaveLength(1);
});

test('a binding that cannot be recreated does not block the update of the others', async () => {
  const before = await afterStart(DISCOVERERS);
  await api.call('DELETE', DISCOVERERS);
  await api.call('DELETE', DISCOVERY);
  const metadata = { name: 'system:discovery', finalizers: ['example.com/f'] };
  const body = { metadata, roleRef: { ...before.roleRef, name: 'cluster-admin' } };
  expect((await api.call('POST', `${RBAC}/clusterrolebindings`, { body })).code).toBe(201);
  expect((await afterStart(DISCOVERY)).rules).toHaveLength(1);
  expect((await api.call('GET', DISCOVERERS)).json.metadata.deletionTimestamp).toBeDefined();
});

test('a temporary failure of the store is retried', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
  const create = jest.spyOn(api.backend, 'create').mockRejectedValueOnce(new Error('out of reach'));
  const over = jest.fn();
  const running = hook().run(new AbortController().signal).finally(over);
  while (over.mock.calls.length === 0) {
    await jest.advanceTimersByTimeAsync(1_000);
    await new Promise(setImmediate);
  }
  await running;
  expect(create.mock.calls.length).toBeGreaterThan(1);
  jest.useRealTimers();
  expect((await api.call('GET', DISCOVERY)).code).toBe(200);
});
