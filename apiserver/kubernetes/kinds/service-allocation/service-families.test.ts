import { patience } from '../../../../shared/testing/eventually';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { serviceRanges, startInProcessApi } from '../../../testing/in-process-api';
import { FaultyMemoryBackend } from '../../../engine/storage/testing/faulty-memory-backend';

const SERVICES = '/api/v1/namespaces/default/services';
const V4 = '10.0.0.0/24';
const V6 = 'fd00::/112';
const FOUR = /^10\.0\.0\.\d+$/;
const SIX = /^fd00::/;

let backend: FaultyMemoryBackend;
let apis: InProcessApi[];
beforeEach(() => {
  backend = new FaultyMemoryBackend();
  apis = [];
});
afterEach(async () => {
  for (const api of apis) await api.close();
});

/** A replica with these ranges, on the one store. */
async function start(ranges: string): Promise<InProcessApi> {
  const api = await startInProcessApi(backend, { ranges: serviceRanges(ranges) });
  apis.push(api);
  return api;
}

async function create(api: InProcessApi, name: string, spec: object, query = ''): Promise<Reply> {
  return api.call('POST', `${SERVICES}${query}`, {
    body: { metadata: { name }, spec: { ports: [{ port: 80 }], selector: { a: 'b' }, ...spec } },
  });
}

async function patch(api: InProcessApi, name: string, spec: object): Promise<Reply> {
  return api.call('PATCH', `${SERVICES}/${name}`, { body: { spec } });
}

async function claims(): Promise<readonly string[]> {
  const prefix = '/registry.claims/clusterip/';
  const { records } = await backend.list(prefix, {}, patience());
  return records.map(({ key }) => key.slice(prefix.length));
}

const messagesOf = ({ json }: Reply): readonly string[] =>
  json.details.causes.map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`);
const one = expect.stringMatching(FOUR) as unknown;
const other = expect.stringMatching(SIX) as unknown;

describe('on a cluster of two families', () => {
  test.each<readonly [what: string, ranges: string, given: object, expected: object]>([
    [
      'a Service without a request gets an address of the first family',
      `${V4},${V6}`,
      {},
      { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', clusterIP: one, clusterIPs: [one] },
    ],
    [
      'the first is that of the flag',
      `${V6},${V4}`,
      {},
      { ipFamilies: ['IPv6'], clusterIP: other, clusterIPs: [other] },
    ],
    [
      'PreferDualStack gets both families',
      `${V4},${V6}`,
      { ipFamilyPolicy: 'PreferDualStack' },
      { ipFamilies: ['IPv4', 'IPv6'], clusterIP: one, clusterIPs: [one, other] },
    ],
    [
      'families are in the requested order',
      `${V4},${V6}`,
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
      { ipFamilies: ['IPv6', 'IPv4'], clusterIP: other, clusterIPs: [other, one] },
    ],
    [
      'a Service that names one family gets that family',
      `${V4},${V6}`,
      { ipFamilies: ['IPv6'] },
      { ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack', clusterIPs: [other] },
    ],
    [
      'a Service that names two families requires both',
      `${V4},${V6}`,
      { ipFamilies: ['IPv4', 'IPv6'] },
      { ipFamilyPolicy: 'RequireDualStack', clusterIPs: [one, other] },
    ],
    [
      'an address tells its family, and the other one follows',
      `${V4},${V6}`,
      { clusterIP: 'fd00::7', ipFamilyPolicy: 'PreferDualStack' },
      { ipFamilies: ['IPv6', 'IPv4'], clusterIPs: ['fd00::7', one] },
    ],
    [
      'and so do two addresses',
      `${V4},${V6}`,
      { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7', 'fd00::7'] },
      {
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy: 'RequireDualStack',
        clusterIPs: ['10.0.0.7', 'fd00::7'],
      },
    ],
    [
      'a headless one with a selector has the families and no address',
      `${V4},${V6}`,
      { clusterIP: 'None', ipFamilyPolicy: 'PreferDualStack' },
      { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['None'] },
    ],
    [
      'a headless one without a selector has both',
      `${V4},${V6}`,
      { clusterIP: 'None', selector: null },
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
    ],
    [
      'a headless one without a selector that prefers both has them in a cluster of one family, too',
      V4,
      { clusterIP: 'None', selector: null, ipFamilyPolicy: 'PreferDualStack' },
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' },
    ],
  ])('%s', async (_what, ranges, given, expected) => {
    const { code, json } = await create(await start(ranges), 's', given);
    expect([code, json.message]).toEqual([201, undefined]);
    expect(json.spec).toMatchObject(expected);
    const held = (json.spec.clusterIPs as string[]).filter((each) => each !== 'None');
    expect([...(await claims())].sort()).toEqual(held.sort());
  });

  test('a dry run shows the families and takes nothing', async () => {
    const { json } = await create(
      await start(`${V4},${V6}`),
      's',
      { ipFamilyPolicy: 'PreferDualStack' },
      '?dryRun=All',
    );
    expect(json.spec).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'] });
    expect(await claims()).toEqual([]);
  });

  test('an address outside, or one that is taken, is refused, and the other goes back', async () => {
    const api = await start(`${V4},${V6}`);
    await create(api, 'first', { clusterIP: 'fd00::7' });
    const clusterIPs = ['10.0.0.7', 'fd00::7'];
    const taken = await create(api, 's', { clusterIP: '10.0.0.7', clusterIPs });
    expect(messagesOf(taken)).toEqual([
      'spec.clusterIPs: Invalid value: []string{"10.0.0.7", "fd00::7"}: ' +
        'failed to allocated ip:fd00::7 with error:provided IP is already allocated',
    ]);
    const outside = await create(api, 's', { clusterIP: '10.0.0.7', clusterIPs: ['10.0.0.7', 'fd01::7'] });
    expect(messagesOf(outside)[0]).toContain('The range of valid IPs is fd00::/112');
    expect(await claims()).toEqual(['fd00::7']);
  });

  test('a Service gets a second address, which it may name, and gives it back', async () => {
    const api = await start(`${V4},${V6}`);
    const { json: before } = await create(api, 's', {});
    const { json: both } = await patch(api, 's', { ipFamilyPolicy: 'RequireDualStack' });
    expect(both.spec).toMatchObject({
      ipFamilies: ['IPv4', 'IPv6'],
      clusterIPs: [before.spec.clusterIP, other],
    });
    const { json: single } = await patch(api, 's', { ipFamilyPolicy: 'SingleStack' });
    expect(single.spec).toMatchObject({ ipFamilies: ['IPv4'], clusterIPs: [before.spec.clusterIP] });
    expect(await claims()).toEqual([before.spec.clusterIP]);
    const named = {
      ipFamilyPolicy: 'PreferDualStack',
      clusterIPs: [before.spec.clusterIP as string, 'fd00::9'],
    };
    const { json: again } = await patch(api, 's', named);
    expect(again.spec).toMatchObject(named);
    expect(await claims()).toHaveLength(2);
  });

  test('a policy that is emptied is none', async () => {
    const api = await start(`${V4},${V6}`);
    await create(api, 's', {});
    const emptied = await patch(api, 's', { ipFamilyPolicy: '' });
    expect(emptied.code).toBe(422);
    expect(emptied.json.details.causes).toMatchObject([
      { field: 'spec.ipFamilyPolicy', reason: 'FieldValueNotSupported' },
    ]);
  });

  test.each([
    ['one family', V4, ['IPv4']],
    ['two families', `${V4},${V6}`, ['IPv4', 'IPv6']],
  ])('an update that removes the policy of %s keeps the previous one', async (_what, ranges, ipFamilies) => {
    const api = await start(ranges);
    await create(api, 's', { ipFamilyPolicy: 'PreferDualStack' });
    const { json } = await patch(api, 's', { ipFamilyPolicy: null });
    expect(json.spec).toMatchObject({ ipFamilyPolicy: 'PreferDualStack', ipFamilies });
    expect(JSON.stringify(json.metadata.managedFields)).not.toContain('ipFamilyPolicy');
  });

  test('families that are taken away follow from the addresses, and without any there are those that were', async () => {
    const api = await start(`${V4},${V6}`);
    await create(api, 's', { ipFamilies: ['IPv6', 'IPv4'] });
    const { json } = await patch(api, 's', { ipFamilies: null });
    expect(json.spec).toMatchObject({ ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' });
    const none = { clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null };
    const { json: same } = await patch(api, 's', none);
    expect(same.spec).toEqual(json.spec);
  });

  test.each<readonly [what: string, given: object]>([
    ['a cluster IP', {}],
    ['two addresses by preference', { ipFamilyPolicy: 'PreferDualStack' }],
    ['no address', { clusterIP: 'None' }],
    ['a node port', { type: 'NodePort' }],
    ['a health check port', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' }],
  ])('a PUT of the manifest keeps what was allocated to a Service with %s', async (_what, given) => {
    const api = await start(`${V6},${V4}`);
    const { json: created } = await create(api, 's', given);
    const body = { metadata: { name: 's' }, spec: { ports: [{ port: 80 }], selector: { a: 'b' }, ...given } };
    const { ipFamilyPolicy: _left, ...rest } = body.spec as { readonly ipFamilyPolicy?: string };
    for (const spec of [body.spec, rest]) {
      const { code, json } = await api.call('PUT', `${SERVICES}/s`, { body: { ...body, spec } });
      expect([code, json.spec]).toEqual([200, created.spec]);
    }
  });

  test('the second address is released only if the policy becomes SingleStack', async () => {
    const api = await start(`${V4},${V6}`);
    const { json } = await create(api, 's', { ipFamilyPolicy: 'RequireDualStack' });
    const [first] = json.spec.clusterIPs as string[];
    const reply = await patch(api, 's', { clusterIPs: [first], ipFamilies: ['IPv4'] });
    expect(messagesOf(reply)).toEqual(
      ['clusterIP', 'ipFamily'].map(
        (what) =>
          `spec.clusterIPs[0]: Invalid value: []string{"${String(first)}"}: ` +
          `\`ipFamilyPolicy\` must be set to 'SingleStack' when releasing the secondary ${what}`,
      ),
    );
    const swapped = await patch(api, 's', { ipFamilies: ['IPv6', 'IPv4'] });
    expect(swapped.code).toBe(422);
  });

  test('becoming an external name gives both back, and coming back takes new ones', async () => {
    const api = await start(`${V4},${V6}`);
    await create(api, 's', { ipFamilyPolicy: 'RequireDualStack' });
    const external = { type: 'ExternalName', externalName: 'example.com' };
    const { json } = await patch(api, 's', external);
    expect(json.spec).not.toHaveProperty('clusterIPs');
    expect(json.spec).not.toHaveProperty('ipFamilies');
    expect(await claims()).toEqual([]);
    const back = await patch(api, 's', {
      type: 'ClusterIP',
      externalName: null,
      ipFamilyPolicy: 'PreferDualStack',
    });
    expect(back.json.spec.clusterIPs).toEqual([one, other]);
    await api.call('DELETE', `${SERVICES}/s`);
    expect(await claims()).toEqual([]);
  });

  test('two addresses, or two families, of a single stack are refused', async () => {
    const api = await start(`${V4},${V6}`);
    const reply = await create(api, 's', { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] });
    expect(messagesOf(reply)).toEqual([
      'spec.ipFamilyPolicy: Invalid value: "SingleStack": ' +
        "must be RequireDualStack or PreferDualStack when multiple 'ipFamilies' are specified",
    ]);
  });
});

describe('on a cluster of one family', () => {
  test('PreferDualStack gets one family, and RequireDualStack is refused with the missing family', async () => {
    const api = await start(V4);
    const { json } = await create(api, 's', { ipFamilyPolicy: 'PreferDualStack' });
    expect(json.spec).toMatchObject({
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'PreferDualStack',
      clusterIPs: [one],
    });
    expect(messagesOf(await create(api, 'needs', { ipFamilies: ['IPv4', 'IPv6'] }))).toEqual([
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": Cluster is not configured for dual stack services',
      'spec.ipFamilies[1]: Invalid value: []: ipfamily IPv6 is not configured on cluster',
    ]);
    expect(messagesOf(await create(api, 'names', { clusterIP: 'fd00::7' }))).toEqual([
      'spec.clusterIPs[0]: Invalid value: []string{"fd00::7"}: may not use IPv6 on a cluster which is not configured for it',
    ]);
  });
});

describe('when the cluster gets a second family', () => {
  test('a Service that prefers two keeps its one until somebody asks, also through updates', async () => {
    const old = await start(V4);
    const { json: before } = await create(old, 's', { ipFamilyPolicy: 'PreferDualStack' });
    const api = await start(`${V4},${V6}`);
    const { json: same } = await patch(api, 's', { selector: { a: 'c' } });
    expect(same.spec).toMatchObject({ ipFamilies: ['IPv4'], clusterIPs: before.spec.clusterIPs as unknown });
    const { json: both } = await patch(api, 's', { ipFamilies: ['IPv4', 'IPv6'] });
    expect(both.spec.clusterIPs).toEqual([before.spec.clusterIP, other]);
    // A replica that still has the old flags lets it be.
    const { code, json: kept } = await patch(old, 's', { selector: { a: 'd' } });
    expect([code, kept.spec.clusterIPs]).toEqual([200, both.spec.clusterIPs]);
  });

  test('repair releases unused addresses and claims used ones, of both families', async () => {
    const api = await start(`${V4},${V6}`);
    const { json } = await create(api, 's', { ipFamilyPolicy: 'RequireDualStack' });
    const [four, six] = json.spec.clusterIPs as [string, string];
    const prefix = '/registry.claims/clusterip/';
    const signal = patience();
    const { record } = await backend.get(`${prefix}${six}`, signal);
    await backend.delete(`${prefix}${six}`, record?.revision ?? 0, signal);
    const deletedOwner = Buffer.from(JSON.stringify({ namespace: 'default', name: 'gone', uid: 'gone' }));
    await backend.create(`${prefix}fd00::99`, deletedOwner, {}, signal);
    await backend.create(`${prefix}10.0.0.99`, deletedOwner, {}, signal);
    await api.plane.serviceAllocation.repair(signal);
    const [addresses] = await api.plane.serviceAllocation.repair(signal);
    expect(addresses).toMatchObject({ freed: 2, outside: 0, duplicates: 0 });
    expect([...(await claims())].sort()).toEqual([four, six].sort());
  });
});

test('an address in a non-canonical form is claimed like the canonical one', async () => {
  const api = await start(`${V6},${V4}`);
  const { code, json } = await create(api, 's', { clusterIP: 'FD00::0042' });
  expect([code, json]).toMatchObject([201, { spec: { clusterIPs: ['FD00::0042'] } }]);
  for (let round = 0; round < 3; round += 1) {
    const [addresses] = await api.plane.serviceAllocation.repair(patience());
    expect(addresses).toMatchObject({ freed: 0, claimed: 0, suspected: 0 });
  }
  expect(await claims()).toEqual(['fd00::42']);
  const again = await create(api, 'other', { clusterIP: 'fd00::42' });
  expect(messagesOf(again)).toEqual([expect.stringContaining('provided IP is already allocated')]);
  await api.call('DELETE', `${SERVICES}/s`);
  expect(await claims()).toEqual([]);
});
