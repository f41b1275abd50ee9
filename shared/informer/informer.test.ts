import { createClient } from '../client/client';
import { StatusError } from '../errors/status-error';
import type { FakeApiServer } from '../client/testing/fake-api-server';
import { createFakeApiServer } from '../client/testing/fake-api-server';
import { CONFIG_MAPS } from '../client/testing/fake-resources';
import type { Log } from '../log/log';
import { silentLog } from '../log/log';
import type { ApiObject } from '../object/object';
import type { Informer, InformerOptions } from './informer';
import { createInformer } from './informer';

let server: FakeApiServer;
let stop: AbortController;
let running: Promise<void>[];

beforeEach(async () => {
  server = await createFakeApiServer();
  server.store.checksNamespaces = false;
  stop = new AbortController();
  running = [];
});
afterEach(async () => {
  stop.abort();
  await Promise.all(running);
  await server.close();
});

const place = (name: string) => ({ resource: CONFIG_MAPS, namespace: 'ns', name });

function write(name: string, value: string, labels: Record<string, string> = {}): ApiObject {
  const object = { metadata: { namespace: 'ns', name, labels }, data: { value } };
  const { store } = server;
  return store.find(place(name)) === undefined
    ? store.create(place(name), object)
    : store.update(place(name), object);
}

interface Watched {
  readonly informer: Informer<ApiObject>;
  readonly calls: string[];
  /** Resolves once the condition holds; looked at after every change. */
  readonly until: (holds: () => boolean) => Promise<void>;
}

function shown(object: ApiObject): string {
  return `${object.metadata.name ?? ''}=${(object['data'] as { value: string }).value}`;
}

async function start(options: Partial<InformerOptions<ApiObject, ApiObject>> = {}): Promise<Watched> {
  const informer = createInformer({
    client: createClient({ server: server.url }),
    resource: CONFIG_MAPS,
    retry: { initialMs: 1, maxMs: 20 },
    ...options,
  });
  const calls: string[] = [];
  const checks = new Set<() => void>();
  const tell = (what: string): void => {
    calls.push(what);
    for (const check of checks) check();
  };
  informer.addHandler({
    onAdd: (object) => tell(`add ${shown(object)}`),
    onUpdate: (before, after) => tell(`update ${shown(before)} to ${shown(after)}`),
    onDelete: (last, { isStale }) => tell(`delete ${shown(last)}${isStale ? ' (stale)' : ''}`),
  });
  running.push(informer.run(stop.signal));
  await informer.whenSynced(stop.signal);
  await waitFor(() => informer.watchingForMs() > 0);
  const until = async (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        checks.delete(check);
        resolve();
      };
      checks.add(check);
      check();
    });
  return { informer, calls, until };
}

async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

const lists = (): number => server.seen.filter(({ query }) => !query.has('watch')).length;

test('handlers see what is there, then every change, and the store follows', async () => {
  write('a', '1');
  const { informer, calls, until } = await start();
  expect(calls).toEqual(['add a=1']);
  write('a', '2');
  write('b', '1');
  server.store.delete(place('a'), {});
  await until(() => calls.length === 4);
  expect(calls.slice(1)).toEqual(['update a=1 to a=2', 'add b=1', 'delete a=2']);
  expect(informer.store.keys()).toEqual(['ns/b']);
  expect(informer.hasSynced()).toBe(true);
});

test('a late handler gets an add for every object, a removed one gets nothing', async () => {
  write('a', '1');
  const { informer, calls, until } = await start();
  const names: string[] = [];
  const remove = informer.addHandler({ onAdd: ({ metadata }) => names.push(metadata.name ?? '') });
  remove();
  write('b', '1');
  await until(() => calls.length === 2);
  expect(names).toEqual(['a']);
});

test('the watch requests bookmarks and a timeout of five to ten minutes, the list requests pages', async () => {
  await start({ namespace: 'ns', labelSelector: 'app=x', random: () => 0.5 });
  const [list, watch] = server.seen;
  expect(Object.fromEntries(list?.query ?? [])).toEqual({ limit: '500', labelSelector: 'app=x' });
  expect(list?.path).toBe('/api/v1/namespaces/ns/configmaps');
  expect(Object.fromEntries(watch?.query ?? [])).toMatchObject({
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: '450',
    resourceVersion: '1',
  });
});

test('a cut watch is resumed where it was, without a new list', async () => {
  write('a', '1');
  const { calls, until } = await start();
  write('a', '2');
  await until(() => calls.length === 2);
  server.cutConnections();
  write('a', '3');
  await until(() => calls.length === 3);
  expect(calls).toEqual(['add a=1', 'update a=1 to a=2', 'update a=2 to a=3']);
  expect(lists()).toBe(1);
});

test('a watch that the server ends is resumed from the last bookmark, however much was forgotten before it', async () => {
  write('a', '1');
  const { calls, until } = await start();
  write('a', '2');
  await until(() => calls.length === 2);
  // Changes of other resources move the version on; the bookmark says that nothing of ours was among them.
  server.store.create({ ...place('x'), resource: { ...CONFIG_MAPS, resource: 'others' } }, { metadata: {} });
  server.sendBookmarks();
  server.endWatches();
  server.store.compact();
  const version = String(server.store.revision);
  await waitFor(() => server.seen.some(({ query }) => query.get('resourceVersion') === version));
  write('a', '3');
  await until(() => calls.length === 3);
  expect(lists()).toBe(1);
});

test('when several objects vanish in one version and the connection breaks between them, none is missed', async () => {
  for (const name of ['a', 'b', 'c']) write(name, '1');
  const { calls, until } = await start();
  const before = server.store.revision;
  server.endWatchesAfter(1);
  server.store.expire([place('a'), place('b'), place('c')]);
  await until(() => calls.filter((line) => line.startsWith('delete')).length === 3);
  expect(calls.slice(3)).toEqual(['delete a=1', 'delete b=1', 'delete c=1']);
  await waitFor(() => server.watchCount() === 1);
  const resumed = server.seen.at(-1)?.query.get('resourceVersion');
  expect(Number(resumed)).toBe(before);
  expect(lists()).toBe(1);
});

test('after a 410 everything is listed again and only the differences are delivered', async () => {
  for (const name of ['a', 'b', 'c']) write(name, '1');
  const { informer, calls, until } = await start();
  // The watch is refused while the world changes.
  server.fault = ({ query }) => (query.has('watch') ? 'cut' : undefined);
  server.cutConnections();
  write('a', '2');
  server.store.delete(place('b'), {});
  server.store.delete(place('c'), {});
  write('c', '9');
  write('d', '1');
  server.store.compact();
  server.fault = () => undefined;
  await until(() => informer.store.keys().includes('ns/d'));
  expect(calls.slice(3).toSorted()).toEqual(
    ['update a=1 to a=2', 'delete b=1 (stale)', 'delete c=1 (stale)', 'add c=9', 'add d=1'].toSorted(),
  );
  expect(calls.indexOf('delete c=1 (stale)')).toBeLessThan(calls.indexOf('add c=9'));
  expect(lists()).toBe(2);
});

test('an in-stream 410 also leads to a new list', async () => {
  write('a', '1');
  const { calls, until } = await start();
  server.expireWatches();
  await waitFor(() => lists() === 2);
  write('a', '2');
  await until(() => calls.length === 2);
  expect(calls).toEqual(['add a=1', 'update a=1 to a=2']);
});

test('a refused watch is tried again from the same version, and only after several refusals a list is made', async () => {
  write('a', '1');
  await start();
  let refusals = 0;
  server.fault = ({ query }) => {
    if (!query.has('watch') || refusals === 3) return undefined;
    refusals += 1;
    return new StatusError('InternalError', 'no');
  };
  const from = server.seen.length;
  server.endWatches();
  await waitFor(() => lists() === 2);
  await waitFor(() => server.watchCount() === 1);
  const requests = server.seen.slice(from).map(({ query }) => query.get('resourceVersion') ?? 'list');
  // The first end came at once and with nothing in it, so that the first of the watches below is a retry as well.
  expect(requests).toEqual(['2', '2', '2', 'list', '2']);
});

test.each(['ServiceUnavailable', 'TooManyRequests'] as const)(
  'however often a watch is refused with %s, it is tried again from the same version and nothing is listed',
  async (reason) => {
    write('a', '1');
    await start();
    let refusals = 0;
    server.fault = ({ query }) => {
      if (!query.has('watch') || refusals === 5) return undefined;
      refusals += 1;
      return new StatusError(reason, 'not now');
    };
    server.endWatches();
    await waitFor(() => refusals === 5 && server.watchCount() === 1);
    expect(lists()).toBe(1);
  },
);

test('an informer obeys Retry-After', async () => {
  write('a', '1');
  const waits: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields) => waits.push((fields as { waitMs: unknown }).waitMs),
    child: () => log,
  };
  await start({ log });
  let refusals = 0;
  server.fault = ({ query }) => {
    if (!query.has('watch') || refusals > 0) return undefined;
    refusals += 1;
    return new StatusError('TooManyRequests', 'not now', { details: { retryAfterSeconds: 1 } });
  };
  server.endWatches();
  await waitFor(() => refusals === 1 && server.watchCount() === 1);
  expect(waits).toContain(1_000);
});

test('an event that could not be applied is delivered again', async () => {
  write('a', '1');
  let isBroken = false;
  const { informer } = await start({
    transform: (object) => {
      if (!isBroken) return object;
      isBroken = false;
      throw new Error('defect');
    },
  });
  isBroken = true;
  write('b', '1');
  await waitFor(() => informer.store.keys().includes('ns/b'));
  expect(lists()).toBe(1);
});

test('informers that lose the connection to one server report it once, and that it is back', async () => {
  const lines: string[] = [];
  const keep = (_fields: object, message: string): void => void lines.push(message);
  const log: Log = { ...silentLog, warn: keep, info: keep, child: () => log };
  let failures = 0;
  server.fault = () => {
    failures += 1;
    return 'cut';
  };
  const outage = { isReported: false };
  for (let count = 0; count < 3; count += 1) {
    const client = createClient({ server: server.url, outage });
    const retry = { initialMs: 1, maxMs: 5 };
    running.push(createInformer({ client, resource: CONFIG_MAPS, retry, log }).run(stop.signal));
  }
  await waitFor(() => failures >= 12);
  expect(lines).toEqual(['connection to the API server failed; retrying all lists and watches']);
  server.fault = () => undefined;
  await waitFor(() => server.watchCount() === 3 && lines.at(-1) === 'connected to the API server again');
  const failed = lines.filter((line) => line.startsWith('connection'));
  expect(lines).toHaveLength(2 * failed.length);
});

test('an outage does not end the informer, and a broken handler does not stop the others', async () => {
  server.fault = () => 'cut';
  const informer = createInformer({
    client: createClient({ server: server.url }),
    resource: CONFIG_MAPS,
    retry: { initialMs: 1, maxMs: 20 },
  });
  informer.addHandler({
    onAdd: () => {
      throw new Error('defect');
    },
  });
  const names: (string | undefined)[] = [];
  informer.addHandler({ onAdd: ({ metadata }) => names.push(metadata.name) });
  running.push(informer.run(stop.signal));
  await waitFor(() => server.seen.length > 4);
  expect(informer.hasSynced()).toBe(false);
  write('a', '1');
  server.fault = () => undefined;
  await informer.whenSynced(stop.signal);
  expect(names).toEqual(['a']);
});

test('an object that leaves the selection is delivered as deleted, one that enters it as added', async () => {
  write('a', '1', { app: 'x' });
  const { calls, until } = await start({ labelSelector: 'app=x' });
  write('b', '1', { app: 'y' });
  write('b', '2', { app: 'x' });
  write('a', '2', { app: 'y' });
  await until(() => calls.length === 3);
  expect(calls).toEqual(['add a=1', 'add b=2', 'delete a=1']);
});

test('objects are cut down before they are kept, and found by index', async () => {
  write('a', '1', { app: 'x' });
  const { informer } = await start({
    indexers: { app: ({ metadata }) => Object.values(metadata.labels ?? {}) },
    transform: ({ metadata }) => ({ metadata, data: { value: '-' } }),
  });
  expect(informer.store.byIndex('app', 'x')).toMatchObject([
    { metadata: { name: 'a' }, data: { value: '-' } },
  ]);
});
