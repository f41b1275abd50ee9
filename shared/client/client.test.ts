import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getRetryAfterMs, StatusError } from '../errors/status-error';
import { MEDIA_TYPE } from '../names';
import type { ApiObject } from '../object/object';
import { PATIENCE_MS } from '../testing/eventually';
import type { Client } from './client';
import { createClient } from './client';
import { createConnection } from './connection';
import { ConnectionError } from './connection-error';
import type { WatchEvent } from './options';
import { hasReason } from './status';
import type { FakeApiServer } from './testing/fake-api-server';
import { createFakeApiServer } from './testing/fake-api-server';
import { CONFIG_MAPS, NAMESPACES, PODS } from './testing/fake-resources';

let server: FakeApiServer;
let client: Client;

beforeEach(async () => {
  server = await createFakeApiServer();
  server.store.create(
    { resource: NAMESPACES, namespace: '', name: 'default' },
    { metadata: { name: 'default' } },
  );
  client = createClient({ server: server.url, timeoutMs: PATIENCE_MS });
});
afterEach(async () => {
  client.close();
  await server.close();
});

function configMap(name: string, data: Record<string, string> = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name, labels: { app: name } },
    data,
  };
}

const ref = (name: string) => ({ namespace: 'default', name });

test('an object is created, read, updated, patched and deleted', async () => {
  const created = await client.create(CONFIG_MAPS, configMap('a', { x: 'ü' }));
  expect(await client.get(CONFIG_MAPS, ref('a'))).toEqual(created);
  const updated = await client.update(CONFIG_MAPS, { ...created, data: { x: '2' } });
  expect(updated['data']).toEqual({ x: '2' });
  const merged = await client.patch(CONFIG_MAPS, ref('a'), {
    contentType: MEDIA_TYPE.mergePatch,
    body: { data: { y: '3' } },
  });
  expect(merged['data']).toEqual({ x: '2', y: '3' });
  const patched = await client.patch(CONFIG_MAPS, ref('a'), {
    contentType: MEDIA_TYPE.jsonPatch,
    body: [{ op: 'remove', path: '/data/x' }],
  });
  expect(patched['data']).toEqual({ y: '3' });
  const answer = await client.delete(CONFIG_MAPS, ref('a'), {
    preconditions: { uid: created.metadata.uid ?? '' },
  });
  expect(answer.kind).toBe('Status');
  await expect(client.get(CONFIG_MAPS, ref('a'))).rejects.toMatchObject({
    status: { code: 404, reason: 'NotFound', details: { name: 'a', kind: 'configmaps' } },
  });
});

test('a status update changes only the status', async () => {
  const pod = await client.create(PODS, { metadata: ref('p'), spec: { nodeName: 'n' } });
  const updated = await client.updateStatus(PODS, { ...pod, spec: {}, status: { phase: 'Running' } });
  expect(updated).toMatchObject({ spec: { nodeName: 'n' }, status: { phase: 'Running' } });
});

test('an update of an old version is a conflict', async () => {
  const created = await client.create(CONFIG_MAPS, configMap('a'));
  await client.update(CONFIG_MAPS, { ...created, data: { x: '1' } });
  const error: unknown = await client.update(CONFIG_MAPS, { ...created, data: {} }).catch((e: unknown) => e);
  expect(hasReason(error, 'Conflict')).toBe(true);
});

test('list items have the kind that typed lists omit, and selectors work', async () => {
  await client.create(CONFIG_MAPS, configMap('a'));
  await client.create(CONFIG_MAPS, configMap('b'));
  const list = await client.list(CONFIG_MAPS, { namespace: 'default', labelSelector: 'app=b' });
  expect(list.items).toHaveLength(1);
  expect(list.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } });
});

test('all pages of a list have one version, whatever is written in between', async () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) await client.create(CONFIG_MAPS, configMap(name));
  const version = String(server.store.revision);
  server.fault = ({ query }) => {
    if (query.has('continue')) {
      server.store.update(
        { resource: CONFIG_MAPS, ...ref('e') },
        configMap('e', { n: String(server.seen.length) }),
      );
    }
    return undefined;
  };
  const list = await client.listAll(CONFIG_MAPS, { limit: 2 });
  expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(list.metadata).toEqual({ resourceVersion: version });
  expect(list.items[4]).toMatchObject({ data: {} });
  expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(3);
});

test('when a continue token has expired, everything is listed at once', async () => {
  for (const name of ['a', 'b', 'c']) await client.create(CONFIG_MAPS, configMap(name));
  server.fault = ({ query }) => {
    if (query.has('continue')) {
      server.store.update({ resource: CONFIG_MAPS, ...ref('c') }, configMap('c', { late: 'yes' }));
      server.store.compact();
    }
    return undefined;
  };
  const list = await client.listAll(CONFIG_MAPS, { limit: 1 });
  expect(list.items).toHaveLength(3);
  expect(list.metadata.resourceVersion).toBe(String(server.store.revision));
});

test('a collection is deleted by selector', async () => {
  for (const name of ['a', 'b']) await client.create(CONFIG_MAPS, configMap(name));
  await client.deleteCollection(CONFIG_MAPS, { namespace: 'default', labelSelector: 'app=a' });
  expect(server.store.list(CONFIG_MAPS).map(({ metadata }) => metadata.name)).toEqual(['b']);
});

test('a watch delivers every change after its version, and ends cleanly when the server ends it', async () => {
  const created = await client.create(CONFIG_MAPS, configMap('a'));
  const events: WatchEvent[] = [];
  const { resourceVersion } = created.metadata;
  for await (const event of client.watch(CONFIG_MAPS, {
    resourceVersion,
    allowWatchBookmarks: true,
    onOpen: () => {
      server.store.update(
        { resource: CONFIG_MAPS, ...ref('a') },
        configMap('a', { text: 'ä€🙂'.repeat(5000) }),
      );
      server.store.delete({ resource: CONFIG_MAPS, ...ref('a') }, {});
      server.sendBookmarks();
    },
  })) {
    events.push(event);
    if (event.type === 'BOOKMARK') server.endWatches();
  }
  expect(events.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED', 'BOOKMARK']);
  expect(events[0]?.object['data']).toEqual({ text: 'ä€🙂'.repeat(5000) });
  expect(events.map(({ object }) => object.metadata.resourceVersion)).toEqual(['4', '5', '5']);
});

test('a watch from a forgotten version throws Expired, as the answer and within the stream', async () => {
  const created = await client.create(CONFIG_MAPS, configMap('a'));
  const followFrom = async (resourceVersion: string): Promise<void> => {
    for await (const event of client.watch(CONFIG_MAPS, {
      resourceVersion,
      onOpen: () => server.expireWatches(),
    })) {
      expect(event).toBeUndefined();
    }
  };
  await expect(followFrom(created.metadata.resourceVersion ?? '')).rejects.toMatchObject({
    status: { code: 410 },
  });
  server.store.compact();
  await expect(followFrom('1')).rejects.toMatchObject({ status: { reason: 'Expired' } });
});

async function follow(onOpen: () => void, signal?: AbortSignal): Promise<void> {
  for await (const event of client.watch(CONFIG_MAPS, { resourceVersion: '1', onOpen, signal })) {
    expect(event).toBeUndefined();
  }
}

test('only the beginning of an error response to a watch is read', async () => {
  const endless = createHttpServer((_request, response) => {
    response.writeHead(503);
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const send = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', send);
    send();
  });
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  const { port } = endless.address() as AddressInfo;
  const lost = createClient({ server: `http://127.0.0.1:${String(port)}` });
  const watching = lost.watch(PODS)[Symbol.asyncIterator]().next();
  await expect(watching).rejects.toMatchObject({ status: { code: 503, reason: 'ServiceUnavailable' } });
  await new Promise((resolve) => endless.close(resolve));
});

test('a watch whose connection breaks throws a ConnectionError, an aborted one its reason', async () => {
  await expect(follow(() => server.cutConnections())).rejects.toThrow(ConnectionError);
  const stop = new AbortController();
  const reason = new Error('enough');
  await expect(follow(() => stop.abort(reason), stop.signal)).rejects.toBe(reason);
});

test('a write on a broken connection has an unknown outcome and is not retried', async () => {
  server.fault = () => 'cutAfter';
  const error: unknown = await client.create(CONFIG_MAPS, configMap('a')).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ outcomeUnknown: true });
  expect((error as Error).message).toMatch(/outcome is unknown/);
  expect(server.seen).toHaveLength(1);
  expect(server.store.list(CONFIG_MAPS)).toHaveLength(1);
});

test('a write to a closed port has a known outcome', async () => {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const lonely = createClient({ server: `http://127.0.0.1:${String(port)}` });
  const error: unknown = await lonely.create(CONFIG_MAPS, configMap('a')).catch((e: unknown) => e);
  expect(error).toMatchObject({ name: 'ConnectionError', code: 'ECONNREFUSED', outcomeUnknown: false });
});

test('a read is retried once when its kept-alive connection was closed', async () => {
  await client.create(CONFIG_MAPS, configMap('a'));
  let cuts = 0;
  server.fault = () => (cuts++ === 0 ? 'cut' : undefined);
  expect(await client.get(CONFIG_MAPS, ref('a'))).toMatchObject({ metadata: { name: 'a' } });
  expect(cuts).toBe(2);
});

test('a call ends after its time with ETIMEDOUT, or with the reason of its signal', async () => {
  server.fault = () => 'hang';
  await expect(client.get(CONFIG_MAPS, ref('a'), { timeoutMs: 30 })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ETIMEDOUT',
    outcomeUnknown: false,
  });
  await expect(client.delete(CONFIG_MAPS, ref('a'), {}, { timeoutMs: 1_000 })).rejects.toMatchObject({
    outcomeUnknown: true,
  });
  const stop = new AbortController();
  const reason = new Error('enough');
  const call = client.get(CONFIG_MAPS, ref('a'), { signal: stop.signal });
  stop.abort(reason);
  await expect(call).rejects.toBe(reason);
});

test('a throttled call waits for Retry-After and is retried', async () => {
  let calls = 0;
  server.fault = () =>
    calls++ === 0
      ? new StatusError('TooManyRequests', 'slow down', { details: { retryAfterSeconds: 0 } })
      : undefined;
  await client.create(CONFIG_MAPS, configMap('a'));
  expect(calls).toBe(2);
});

test('a throttled call whose Retry-After exceeds its time limit is not retried and reports the delay', async () => {
  let calls = 0;
  server.fault = () => {
    calls += 1;
    return new StatusError('TooManyRequests', 'slow down', { details: { retryAfterSeconds: 3_600 } });
  };
  const error: unknown = await client.create(CONFIG_MAPS, configMap('a')).catch((thrown: unknown) => thrown);
  expect([calls, getRetryAfterMs(error)]).toEqual([1, 3_600_000]);
});

test('an error answer without a Status gets the reason that goes with its code', async () => {
  const answer = await client.request({ method: 'GET', path: '/version' });
  expect(answer.code).toBe(200);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ major: '1' });
  await expect(client.getJson('/apis/nothing/v1')).rejects.toMatchObject({ status: { reason: 'NotFound' } });
});

test('names are percent-encoded, and dot segments are refused', async () => {
  await client.create(CONFIG_MAPS, configMap('system:a/b'));
  expect(await client.get(CONFIG_MAPS, ref('system:a/b'))).toMatchObject({
    metadata: { name: 'system:a/b' },
  });
  await expect(client.get(CONFIG_MAPS, ref('..'))).rejects.toThrow(RangeError);
});

test('credentials and the user agent are sent with every request', async () => {
  const named = createClient({ server: server.url, token: 'secret', userAgent: 'me/1' });
  await named.list(CONFIG_MAPS);
  expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'user-agent': 'me/1' });
  named.close();
});

test('a token file is read again after a minute, and while it is gone or empty the last token is used', async () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'client-token-'));
  const tokenFile = path.join(dir, 'token');
  let now = 0;
  const connection = createConnection({ server: server.url, tokenFile }, { now: () => now });
  const sendAfter = async (change: () => void): Promise<string | undefined> => {
    change();
    now += 60_000;
    await connection.json({ method: 'GET', path: '/api/v1/namespaces/default/configmaps' });
    return server.seen.at(-1)?.headers.authorization;
  };
  await expect(sendAfter(() => undefined)).rejects.toThrow('ENOENT');
  expect(await sendAfter(() => writeFileSync(tokenFile, 't1\n'))).toBe('Bearer t1');
  expect(await sendAfter(() => rmSync(tokenFile))).toBe('Bearer t1');
  expect(await sendAfter(() => writeFileSync(tokenFile, ''))).toBe('Bearer t1');
  expect(await sendAfter(() => writeFileSync(tokenFile, 't2'))).toBe('Bearer t2');
  connection.close();
  rmSync(dir, { recursive: true });
});

test('a token source is asked for each request and notified of a refused token', async () => {
  const refused: string[] = [];
  let given = 0;
  const changing = createClient({
    server: server.url,
    token: 'not asked for',
    tokenSource: {
      token: async () => {
        given += 1;
        return Promise.resolve(`t${String(given)}`);
      },
      refused: (token) => refused.push(token),
    },
  });
  server.fault = ({ headers }) =>
    headers.authorization === 'Bearer t2' ? new StatusError('Unauthorized', 'Unauthorized') : undefined;
  await changing.list(CONFIG_MAPS);
  await expect(changing.list(CONFIG_MAPS)).rejects.toMatchObject({ status: { code: 401 } });
  await changing.list(CONFIG_MAPS);
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer t1',
    'Bearer t2',
    'Bearer t3',
  ]);
  expect(refused).toEqual(['t2']);
  changing.close();
});
