import { GROUP } from '../shared/names';
import { eventually, patience } from '../shared/testing/eventually';
import type { Answer, ApiClient } from './support/client';
import { configMap, namespace } from './support/objects';
import { suiteHaSet } from './support/suite';
import { explained } from './support/workspace';

const DEFINITIONS = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

const set = suiteHaSet({
  replicas: 2,
  etcd: 1,
  balancer: false,
  controllerManagers: 1,
  dialect: 'orch',
});

function definition(plural: string, kind: string, more: object = {}): object {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1, default: 1 } } },
    },
  };
  return {
    apiVersion: `${GROUP.apiextensions}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...more,
    },
  };
}

/** Waits, at one replica, until a definition is established. */
async function established(client: ApiClient, plural: string): Promise<void> {
  const path = `${DEFINITIONS}?watch=1&fieldSelector=metadata.name%3D${plural}.example.com`;
  for await (const { object } of client.watch(path, patience())) {
    const { conditions } = object.status as {
      readonly conditions: { type: string; status: string }[] | null;
    };
    if (conditions?.some(({ type, status }) => type === 'Established' && status === 'True') === true) return;
  }
  throw new Error(`${plural} is not established`);
}

const place = (plural: string, name = ''): string =>
  `/apis/example.com/v1/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`;

function custom(kind: string, name: string, rest: object = {}): object {
  return { apiVersion: 'example.com/v1', kind, metadata: { name }, ...rest };
}

test(
  'a definition created on one replica is served by the other at once and survives restarts',
  explained(async () => {
    const [a, b] = [set.of(0), set.of(1)];
    for (let round = 0; round < 10; round += 1) {
      const [plural, kind] = [`quick${String(round)}s`, `Quick${String(round)}`];
      expect((await a.create(DEFINITIONS, definition(plural, kind))).status).toBe(201);
      await established(a, plural);
      const made = await b.create(place(plural), custom(kind, 'one'));
      expect([made.status, made.body.spec]).toEqual([201, undefined]);
      expect((await a.get(place(plural, 'one'))).status).toBe(200);
    }
    await set.replicas[0]?.kill();
    expect((await b.create(DEFINITIONS, definition('alones', 'Alone'))).status).toBe(201);
    await established(b, 'alones');
    expect((await b.create(place('alones'), custom('Alone', 'one', { spec: {} }))).body.spec).toEqual({
      size: 1,
    });
    await set.replicas[0]?.restart();
    // The controller-manager connects to this replica alone, and exits if it is away for longer than the lease.
    await set.controllerManagers[0]?.restart();
    const read = await set.of(0).get(place('alones', 'one'));
    expect([read.status, read.body.spec]).toEqual([200, { size: 1 }]);
    expect(
      (await set.of(0).create(place('quick3s'), custom('Quick3', 'bad', { spec: { size: 0 } }))).status,
    ).toBe(422);
    await b.delete(`${DEFINITIONS}/alones.example.com`);
    await eventually('the definition is gone', async () =>
      isGone(set.of(0), `${DEFINITIONS}/alones.example.com`),
    );
    expect((await set.of(0).get(place('alones', 'one'))).status).toBe(404);
  }),
);

async function isGone(client: ApiClient, path: string): Promise<boolean> {
  return (await client.get(path)).status === 404;
}

test(
  'custom objects are deleted with their owner and with their namespace',
  explained(async () => {
    const client = set.of(1);
    await client.create(DEFINITIONS, definition('gizmos', 'Gizmo'));
    await established(client, 'gizmos');
    const owner: Answer = await client.create(place('gizmos'), custom('Gizmo', 'owner'));
    const uid = owner.body.metadata?.uid;
    const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Gizmo', name: 'owner', uid }];
    const owned = { ...custom('Gizmo', 'owned'), metadata: { name: 'owned', ownerReferences } };
    expect((await client.create(place('gizmos'), owned)).status).toBe(201);
    const map = { ...configMap('owned'), metadata: { name: 'owned', ownerReferences } };
    expect((await client.create('/api/v1/namespaces/default/configmaps', map)).status).toBe(201);
    await client.delete(place('gizmos', 'owner'), { propagationPolicy: 'Foreground' });
    await eventually(
      'the dependents are deleted',
      async () =>
        (await isGone(client, place('gizmos', 'owner'))) &&
        (await isGone(client, place('gizmos', 'owned'))) &&
        (await isGone(client, '/api/v1/namespaces/default/configmaps/owned')),
    );
    expect((await client.create('/api/v1/namespaces', namespace('short'))).status).toBe(201);
    const inShort = '/apis/example.com/v1/namespaces/short/gizmos';
    expect((await client.create(inShort, custom('Gizmo', 'one'))).status).toBe(201);
    await client.delete('/api/v1/namespaces/short');
    await eventually('the namespace is gone', async () => isGone(client, '/api/v1/namespaces/short'));
    expect((await client.get(inShort)).body.items).toEqual([]);
  }),
);
