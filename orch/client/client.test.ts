import { createFakeApiServer } from '../../shared/client/testing/fake-api-server';
import type { FakeApiServer } from '../../shared/client/testing/fake-api-server';
import { CONFIG_MAPS, DEPLOYMENTS, REPLICA_SETS } from '../../shared/client/testing/fake-resources';
import { patience } from '../../shared/testing/eventually';
import type { ConfigMap } from '../../shared/api/types/core-v1';
import type { Change, Connection, TypedClient } from '.';
import { connect, defineResource, mergePatch, runController, updateWithRetry } from '.';

let server: FakeApiServer;
let client: TypedClient & Connection;

beforeEach(async () => {
  server = await createFakeApiServer();
  server.store.checksNamespaces = false;
  client = connect({ server: server.url });
});
afterEach(async () => {
  client.close();
  await server.close();
});

const data = (name: string, value: string): ConfigMap => ({ metadata: { name }, data: { value } });

test('a typed resource fills in kind, version and namespace, and reads, replaces and patches', async () => {
  const maps = client.core.v1.configmaps('ns');
  const created = await maps.create(data('a', '1'));
  expect(created).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { namespace: 'ns' } });
  expect((await maps.patch('a', mergePatch({ data: { value: '2' } }))).data).toEqual({ value: '2' });
  await expect(maps.update({ ...created, data: { value: '3' } })).rejects.toMatchObject({
    status: { code: 409 },
  });
  const changed = await updateWithRetry(maps, 'a', (map) => ({ ...map, data: { value: '4' } }));
  expect(changed.data).toEqual({ value: '4' });
  expect((await client.core.v1.configmaps().list()).items.map(({ metadata }) => metadata.name)).toEqual([
    'a',
  ]);
  await maps.delete('a');
  await expect(maps.get('a')).rejects.toMatchObject({ status: { reason: 'NotFound' } });
});

test('apply sends the whole object as an apply patch of its manager', async () => {
  server.fault = () => undefined;
  const sent = client.apps.v1
    .deployments('ns')
    .apply({ metadata: { name: 'web' }, spec: { replicas: 2 } }, { fieldManager: 'me', force: true });
  await sent.catch(() => undefined);
  const { method, path, query, headers } = server.seen[0]!;
  expect({ method, path, type: headers['content-type'] }).toEqual({
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/ns/deployments/web',
    type: 'application/apply-patch+yaml',
  });
  expect(Object.fromEntries(query)).toEqual({ fieldManager: 'me', force: 'true' });
});

test('a watch begins with the current objects, and continues after a broken connection without loss or repetition', async () => {
  const maps = client.core.v1.configmaps('ns');
  await maps.create(data('a', '1'));
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const { type, object } of maps.watch({ signal: stop.signal })) {
    seen.push(`${type} ${object.metadata.name ?? ''}`);
    if (seen.length === 1) await maps.create(data('b', '1'));
    if (seen.length === 2) {
      server.cutConnections();
      await maps.create(data('c', '1'));
    }
    if (seen.length === 3) stop.abort();
  }
  expect(seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
});

test('an informer delivers differences over an expired history, and one change for each object to a slow reader', async () => {
  const maps = client.core.v1.configmaps('ns');
  await maps.create(data('a', '1'));
  await maps.create(data('gone', '1'));
  const seen: string[] = [];
  const informer = maps.informer({ signal: patience(), retry: { initialMs: 1, maxMs: 10 } });
  const show = ({ type, object }: Change<ConfigMap>): string =>
    `${type} ${object.metadata.name ?? ''}=${object.data?.['value'] ?? ''}`;
  for await (const change of informer) {
    seen.push(show(change));
    if (seen.length === 2) {
      await informer.synced;
      server.store.delete({ resource: CONFIG_MAPS, namespace: 'ns', name: 'gone' }, {});
      for (const value of ['2', '3'])
        await updateWithRetry(maps, 'a', (map) => ({ ...map, data: { value } }));
      server.expireWatches();
    }
    if (seen.length === 4) break;
  }
  expect(seen.slice(0, 2)).toEqual(['added a=1', 'added gone=1']);
  expect(seen.slice(2).sort()).toEqual(['deleted gone=1', expect.stringMatching(/^updated a=[23]$/u)]);
  expect(informer.store.get('ns/gone')).toBeUndefined();
});

test('a controller reconciles an object for changes of what it owns, and when it is gone', async () => {
  const Deployments = defineResource({ ...DEPLOYMENTS });
  const ReplicaSets = defineResource({ ...REPLICA_SETS });
  const stop = new AbortController();
  const calls: string[] = [];
  let wake: () => void = () => undefined;
  const until = async (count: number): Promise<void> => {
    while (calls.length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const running = runController(
    {
      client,
      resource: Deployments,
      owns: [ReplicaSets],
      reconcile: async (object, key) => {
        calls.push(`${key} ${object === undefined ? 'gone' : 'there'}`);
        wake();
        return Promise.resolve();
      },
    },
    stop.signal,
  );
  const deployments = client.of(Deployments, 'ns');
  const { metadata } = await deployments.create({ metadata: { name: 'web' } });
  await until(1);
  const ownerReferences = [
    { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: metadata.uid ?? '', controller: true },
  ];
  await client.of(ReplicaSets, 'ns').create({ metadata: { name: 'web-1', ownerReferences } });
  await until(2);
  await deployments.delete('web');
  await until(3);
  stop.abort();
  await running;
  expect(calls.slice(0, 3)).toEqual(['ns/web there', 'ns/web there', 'ns/web gone']);
});

test('a client of a fetch function fails as one over sockets does', async () => {
  const cut = async (): Promise<Response> =>
    Promise.resolve(
      new Response(new ReadableStream({ start: (controller) => controller.error(new Error('cut')) })),
    );
  const answers: (() => Promise<Response>)[] = [
    async () => Promise.reject(new TypeError('no network')),
    async () => new Promise(() => undefined),
    // A read whose connection breaks is sent once more.
    cut,
    cut,
    async () =>
      Promise.resolve(Response.json({ kind: 'Status', reason: 'NotFound', code: 404 }, { status: 404 })),
  ];
  const maps = connect({ fetch: async () => answers.shift()!() }).core.v1.configmaps('ns');
  await expect(maps.create(data('a', '1'))).rejects.toMatchObject({
    name: 'ConnectionError',
    outcomeUnknown: true,
    message: expect.stringContaining('no network'),
  });
  // It answers nothing: the time limit of the call ends it.
  await expect(maps.get('a', { timeoutMs: 1 })).rejects.toMatchObject({ outcomeUnknown: false });
  await expect(maps.get('a')).rejects.toMatchObject({ message: expect.stringContaining('cut') });
  await expect(maps.get('a')).rejects.toMatchObject({ status: { reason: 'NotFound' } });
});
