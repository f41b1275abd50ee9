import { NEWEST_LEVEL } from '../../apiserver/testing/kinds/newest-level';
import type { ServiceCIDR } from '../../shared/api/types/networking-v1';
import { ADDRESS_ALLOCATOR, FINALIZER, GROUP, LABEL } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import { runServiceCidrs } from './service-cidrs';

const CIDRS = `/apis/${GROUP.networking}/v1/servicecidrs`;
const ADDRESSES = `/apis/${GROUP.networking}/v1/ipaddresses`;
const SERVICES = '/api/v1/namespaces/default/services';

let bench: RoleBench;
beforeEach(async () => {
  bench = await createRoleBench();
  bench.run(
    // The clock of the cluster is ahead of that of the machine.
    async (context, signal) => {
      const clock = { now: () => Date.now() + 120_000 };
      await runServiceCidrs({ ...context, clock }, signal, { graceMs: 60_000 });
    },
    'service-cidrs-controller',
  );
});
afterEach(async () => bench.close());

async function createCidr(name: string, ...cidrs: string[]): Promise<void> {
  await bench.call('POST', CIDRS, { metadata: { name }, spec: { cidrs } });
  await bench.when<ServiceCIDR>(CIDRS, name, (cidr) => ready(cidr)?.status === 'True');
}

function ready(
  cidr: ServiceCIDR | undefined,
): { readonly status: string; readonly reason: string } | undefined {
  return cidr?.status?.conditions?.find(({ type }) => type === 'Ready');
}

/** Resolves with undefined. */
async function whenGone(name: string): Promise<ApiObject | undefined> {
  return bench.when(CIDRS, name, (cidr) => cidr === undefined);
}

async function createService(name: string, clusterIP: string): Promise<ApiObject> {
  return bench.call('POST', SERVICES, { metadata: { name }, spec: { clusterIP, ports: [{ port: 80 }] } });
}

test(`at ${NEWEST_LEVEL}, a range is protected and ready, and is removed when no Service has an address of it`, async () => {
  await createCidr('more', '10.9.0.0/24', 'fd00::/112');
  const more = await bench.when<ServiceCIDR>(CIDRS, 'more', () => true);
  expect(more?.metadata.finalizers).toEqual([FINALIZER.serviceCidr]);
  await createService('one', '10.9.0.7');
  await bench.call('DELETE', `${CIDRS}/more`);
  const held = await bench.when<ServiceCIDR>(CIDRS, 'more', (cidr) => ready(cidr)?.status === 'False');
  expect(ready(held)).toMatchObject({ reason: 'Terminating' });
  // Nor is it ready for others.
  await expect(createService('two', '10.9.0.8')).rejects.toMatchObject({ status: { code: 422 } });
  await bench.call('DELETE', `${SERVICES}/one`);
  expect(await whenGone('more')).toBeUndefined();
});

test('a range is removed at once if another one has all of its addresses, or those in use', async () => {
  await createCidr('whole', '10.8.0.0/16');
  await createCidr('part', '10.8.1.0/24');
  await createService('one', '10.8.1.7');
  await bench.call('DELETE', `${CIDRS}/part`);
  expect(await whenGone('part')).toBeUndefined();
  await createCidr('half', '10.8.0.0/17');
  await bench.call('DELETE', `${CIDRS}/whole`);
  expect(await whenGone('whole')).toBeUndefined();
});

test('addresses that do not belong to Services hold no range', async () => {
  await createCidr('more', '10.9.0.0/24');
  const parentRef = { resource: 'gateways', name: 'g' };
  const labels = { [LABEL.addressManager]: `not-${ADDRESS_ALLOCATOR}` };
  await bench.call('POST', ADDRESSES, { metadata: { name: '10.9.0.7', labels }, spec: { parentRef } });
  await bench.call('DELETE', `${CIDRS}/more`);
  expect(await whenGone('more')).toBeUndefined();
});
