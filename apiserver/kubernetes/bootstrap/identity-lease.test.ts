import { API_SERVER_MANAGER, GROUP, LABEL, NAMESPACE } from '../../../shared/names';
import { silentLog } from '../../../shared/log/log';
import { patience } from '../../../shared/testing/eventually';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { createExpiredIdentities } from './expired-identities';
import { createIdentityLease, replicaId } from './identity-lease';

const LEASES = `/apis/${GROUP.coordination}/v1/namespaces/${NAMESPACE.system}/leases`;
const HOUR_MS = 3_600_000;
const ID = replicaId('0f5a');

let api: InProcessApi;
let nowMs: number;

beforeEach(async () => {
  api = await startInProcessApi();
  nowMs = Date.UTC(2021, 3, 8);
});
afterEach(async () => api.close());

const parts = () => ({
  store: { ...api.plane.store, clock: { now: () => nowMs } },
  registry: api.plane.registry,
  log: silentLog,
});

async function renew(id = ID): Promise<void> {
  const lease = createIdentityLease({
    ...parts(),
    id,
    durationSeconds: 60,
    renewMs: 10_000,
    onRenewed: () => undefined,
  });
  await lease.reconcile(patience());
}

const removeExpired = async (): Promise<void> => {
  // When the response arrives, the cache has seen all earlier writes.
  await names();
  await createExpiredIdentities({ ...parts(), periodMs: HOUR_MS }).reconcile(patience());
};

const names = async (): Promise<readonly string[]> =>
  (await api.call('GET', LEASES)).json.items.map(
    ({ metadata }: { metadata: { name: string } }) => metadata.name,
  );

test('a replica has a lease with its name, renews it, and creates it again after a deletion', async () => {
  await renew();
  const { json: first } = await api.call('GET', `${LEASES}/${ID}`);
  expect(first).toMatchObject({
    metadata: { name: `${API_SERVER_MANAGER}-0f5a`, labels: { [LABEL.component]: API_SERVER_MANAGER } },
    spec: { holderIdentity: ID, leaseDurationSeconds: 60, renewTime: '2021-04-08T00:00:00.000000Z' },
  });
  nowMs += 10_500;
  await renew();
  const { json: second } = await api.call('GET', `${LEASES}/${ID}`);
  expect(second.metadata.uid).toBe(first.metadata.uid);
  expect(second.spec).toEqual({ ...first.spec, renewTime: '2021-04-08T00:00:10.500000Z' });
  await api.call('DELETE', `${LEASES}/${ID}`);
  await renew();
  expect(await names()).toEqual([ID]);
});

test('expired leases of replicas are deleted, and no others', async () => {
  await renew('orch-gone');
  const holder = { holderIdentity: 'x', leaseDurationSeconds: 1, renewTime: '2020-01-01T00:00:00.000000Z' };
  await api.call('POST', LEASES, { body: { metadata: { name: 'elected' }, spec: holder } });
  const never = { metadata: { name: 'never', labels: { [LABEL.component]: API_SERVER_MANAGER } }, spec: {} };
  await api.call('POST', LEASES, { body: never });
  nowMs += 30_000;
  await renew();
  await removeExpired();
  expect(await names()).toEqual(['elected', ID, 'orch-gone']);
  nowMs += 30_001;
  await removeExpired();
  expect(await names()).toEqual(['elected', ID]);
});

test('a lease that is renewed concurrently is kept', async () => {
  await renew();
  await names();
  const { store } = parts();
  const leases = store.cache.resource(`${GROUP.coordination}/leases/`);
  const before = leases.snapshot();
  nowMs += HOUR_MS;
  await renew();
  await names();
  const cache = instead(store.cache, { resource: () => instead(leases, { snapshot: () => before }) });
  await createExpiredIdentities({ ...parts(), store: { ...store, cache }, periodMs: 1 }).reconcile(
    patience(),
  );
  expect(await names()).toEqual([ID]);
});

/** Returns the target with some methods replaced. */
function instead<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (_target, key) => {
      if (Object.hasOwn(methods, key)) return methods[key as keyof T];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
