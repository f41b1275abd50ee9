import { RESOURCE } from '../../shared/api/resource-names';
import type { Endpoints } from '../../shared/api/types/core-v1';
import type { EndpointSlice } from '../../shared/api/types/discovery-v1';
import { eventually } from '../../shared/testing/eventually';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import type { WorkloadBench } from '../testing/workload-bench';
import { createWorkloadBench } from '../testing/workload-bench';
import { runMirroredSlices } from './mirrored-slices';

const ENDPOINTS = RESOURCE.endpoints;
const SLICES = RESOURCE.endpointslices;
const PORTS = [{ name: 'http', port: 80, protocol: 'TCP' }];

describe('the controller', () => {
  let bench: WorkloadBench;
  beforeEach(async () => {
    bench = await createWorkloadBench();
    bench.run(runMirroredSlices, 'endpointslicemirroring-controller', { mirroringMaxEndpointsPerSubset: 3 });
  });
  afterEach(async () => bench.close());

  const make = async (subsets: Endpoints['subsets'], labels = {}): Promise<void> => {
    const annotations = { team: 'a' };
    await bench.make(ENDPOINTS, 'db', {
      metadata: { labels, annotations },
      ...(subsets === undefined ? {} : { subsets }),
    });
  };
  const makeService = async (selector?: Readonly<Record<string, string>>): Promise<void> => {
    const spec = { ports: [{ port: 80, protocol: 'TCP' }], ...(selector === undefined ? {} : { selector }) };
    await bench.make(RESOURCE.services, 'db', { spec: spec as never });
  };
  const addressesOf = (slices: readonly EndpointSlice[]): readonly string[] =>
    slices
      .flatMap(({ addressType, endpoints }) =>
        (endpoints ?? []).map(
          ({ addresses, conditions }) =>
            `${addressType} ${(addresses ?? []).join()} ${String(conditions?.ready)}`,
        ),
      )
      .sort((a, b) => (a < b ? -1 : 1));
  const whenAddresses = async (...expected: readonly string[]): Promise<readonly EndpointSlice[]> =>
    bench.whenList(SLICES, expected.join(', '), (slices) => addressesOf(slices).join() === expected.join());

  test('mirrors the Endpoints of a Service without a selector, by address family, and follows them', async () => {
    await make(
      [
        {
          addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }],
          notReadyAddresses: [{ ip: '10.0.0.2' }],
          ports: PORTS,
        },
      ],
      { tier: 'x' },
    );
    await makeService();
    const slices = await whenAddresses('IPv4 10.0.0.1 true', 'IPv4 10.0.0.2 false', 'IPv6 fd00::1 true');
    expect(slices).toHaveLength(2);
    const { uid } = (await bench.read(ENDPOINTS, 'db')).metadata;
    for (const { metadata, ports } of slices) {
      expect(metadata).toMatchObject({
        generateName: 'db-',
        labels: {
          tier: 'x',
          [WORKLOAD_LABEL.serviceName]: 'db',
          [WORKLOAD_LABEL.sliceManagedBy]: expect.stringContaining(
            'endpointslicemirroring-controller',
          ) as unknown,
        },
        annotations: { team: 'a' },
        ownerReferences: [{ kind: 'Endpoints', name: 'db', uid, controller: true }],
      });
      expect(ports).toEqual(PORTS);
    }
    await bench.change(ENDPOINTS, 'db', {
      metadata: { annotations: { team: 'b' } },
      subsets: [{ addresses: [{ ip: '10.0.0.3' }], ports: PORTS }],
    });
    const after = await bench.whenList(
      SLICES,
      'one changed slice',
      (all) =>
        addressesOf(all).join() === 'IPv4 10.0.0.3 true' &&
        Object.values(all[0]?.metadata.annotations ?? {}).join() === 'b',
    );
    const kept = slices.find(({ addressType }) => addressType === 'IPv4');
    expect(after.map(({ metadata }) => metadata.uid)).toEqual([kept?.metadata.uid]);
    await bench.change(RESOURCE.services, 'db', { spec: { selector: { app: 'db' } } });
    await whenAddresses();
    expect(await bench.list(SLICES)).toEqual([]);
  });

  test('subsets with the same ports in another order have one slice', async () => {
    const other = { name: 'admin', port: 81, protocol: 'TCP' };
    await makeService();
    await make([
      { addresses: [{ ip: '10.0.0.1' }], ports: [...PORTS, other] },
      { addresses: [{ ip: '10.0.0.2' }], ports: [other, ...PORTS] },
    ]);
    expect(await whenAddresses('IPv4 10.0.0.1 true', 'IPv4 10.0.0.2 true')).toHaveLength(1);
  });

  test('merges subsets with the same ports before it counts and compares their addresses', async () => {
    const refer = (uid: string) => ({ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: uid, uid } });
    await makeService();
    await make([
      { addresses: [refer('a'), { ip: '10.0.0.2' }], ports: PORTS },
      { addresses: [refer('b')], notReadyAddresses: [{ ip: '10.0.0.2' }, { ip: '10.0.0.3' }], ports: PORTS },
    ]);
    const slices = await whenAddresses('IPv4 10.0.0.1 true', 'IPv4 10.0.0.1 true', 'IPv4 10.0.0.2 false');
    expect(slices).toHaveLength(1);
    await eventually('the skipped address is reported', async () => {
      const events = await bench.eventsOf('Endpoints');
      return events.some((event) => event.endsWith(' 1 addresses were skipped'));
    });
  });

  test('leaves Endpoints that ask for it alone, and deletes slices that lose their source', async () => {
    await makeService();
    await make([{ addresses: [{ ip: '10.0.0.1' }], ports: PORTS }]);
    await whenAddresses('IPv4 10.0.0.1 true');
    await bench.change(ENDPOINTS, 'db', { metadata: { labels: { [WORKLOAD_LABEL.skipMirror]: 'true' } } });
    await whenAddresses();
    await bench.change(ENDPOINTS, 'db', { metadata: { labels: { [WORKLOAD_LABEL.skipMirror]: null } } });
    await whenAddresses('IPv4 10.0.0.1 true');
    await bench.remove(ENDPOINTS, 'db');
    await whenAddresses();
    expect(await bench.list(SLICES)).toEqual([]);
  });
});
