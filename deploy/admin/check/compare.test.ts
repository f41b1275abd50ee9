import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createClient } from '../../../shared/client/client';
import { compareReplicas } from './compare';
import type { Replica } from './replicas';

/** Replicas that serve one resource with the given objects. */
const servers: Server[] = [];
const replicas: Replica[] = [];
afterEach(() => {
  for (const { client } of replicas.splice(0)) client.close();
  for (const server of servers.splice(0)) server.close();
});

async function replicaOf(names: readonly string[], asked: string[]): Promise<Replica> {
  const documents: Readonly<Record<string, unknown>> = {
    '/api': { versions: ['v1'] },
    '/apis': {
      groups: ['registration.test', 'metrics.test'].map((name) => ({
        name,
        versions: [{ groupVersion: `${name}/v1`, version: 'v1' }],
      })),
    },
    '/apis/registration.test/v1': {
      resources: [{ name: 'apiservices', kind: 'APIService', namespaced: false, verbs: ['get'] }],
    },
    '/apis/registration.test/v1/apiservices': {
      items: [
        { metadata: { name: 'v1.' }, spec: {} },
        { metadata: { name: 'v1.metrics.test' }, spec: { service: { name: 'metrics' } } },
      ],
    },
    '/apis/metrics.test/v1': {
      resources: [{ name: 'nodes', kind: 'NodeMetrics', namespaced: false, verbs: ['list'] }],
    },
    '/api/v1': {
      resources: [{ name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['list', 'get'] }],
    },
    '/api/v1/configmaps': { metadata: { resourceVersion: '7' }, items: names },
  };
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.startsWith('/apis/metrics.test/v1/nodes') === true) response.statusCode = 503;
    response.end(JSON.stringify(documents[(request.url ?? '').split('?')[0] ?? '']));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const replica = { server: address, client: createClient({ server: `http://${address}` }) };
  replicas.push(replica);
  return replica;
}

test('a replica that holds something else is seen, at the revision at which all were asked', async () => {
  const asked: string[] = [];
  const all = [
    await replicaOf(['a', 'b'], asked),
    await replicaOf(['a'], asked),
    await replicaOf(['a', 'b'], asked),
  ];
  const [comparison] = await compareReplicas(all);
  expect(comparison).toMatchObject({ resource: 'configmaps', revision: '7', isEqual: false });
  const [first, second, third] = comparison?.digests ?? [];
  expect(first?.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(second?.digest).not.toBe(first?.digest);
  expect(third?.digest).toBe(first?.digest);
  const exact = '/api/v1/configmaps?resourceVersion=7&resourceVersionMatch=Exact';
  expect(asked.filter((url) => url === exact)).toHaveLength(3);
});

test('replicas that all refuse a list are not equal', async () => {
  const all = [await replicaOf(['a'], []), await replicaOf(['a'], [])];
  for (const server of servers) {
    const [serve] = server.listeners('request') as [
      (request: IncomingMessage, response: ServerResponse) => void,
    ];
    server.removeAllListeners('request').on('request', (request, response) => {
      if (request.url?.includes('Exact') === true) response.writeHead(403).end();
      else serve(request, response);
    });
  }
  expect(await compareReplicas(all)).toMatchObject([
    { isEqual: false, digests: [{ digest: 'no answer: 403' }, { digest: 'no answer: 403' }] },
  ]);
});

test('replicas with the same objects are equal, and a replica never differs from itself', async () => {
  const one = await replicaOf(['a'], []);
  expect(await compareReplicas([one])).toMatchObject([{ isEqual: true }]);
  expect(await compareReplicas([one, await replicaOf(['a'], [])])).toMatchObject([{ isEqual: true }]);
  expect(await compareReplicas([])).toEqual([]);
});

test('what a server behind the replicas serves is not compared', async () => {
  const asked: string[] = [];
  const comparisons = await compareReplicas([await replicaOf(['a'], asked)]);
  expect(comparisons.map(({ resource }) => resource)).toEqual(['configmaps']);
  expect(asked.filter((url) => url.startsWith('/apis/metrics.test/v1/'))).toEqual([]);
});
