import { randomInt } from 'node:crypto';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import type { Backend, WriteOutcome } from '../../../engine/storage/backend';
import { FaultyMemoryBackend } from '../../../engine/storage/testing/faulty-memory-backend';

/** A replica whose feed from the common store can be delayed. */
interface Replica {
  readonly api: InProcessApi;
  /** The outcome of its creates, in order. */
  readonly creates: { readonly key: string; readonly outcome: WriteOutcome }[];
  /** Stops its cache until the result is called. */
  hold(): () => void;
}

const LATE_TURNS_MAX = 40;

async function startReplica(common: FaultyMemoryBackend, lateTurns = 0): Promise<Replica> {
  let held: Promise<void> = Promise.resolve();
  const creates: Replica['creates'] = [];
  const backend: Backend = {
    get: (...asked) => common.get(...asked),
    list: (...asked) => common.list(...asked),
    create: async (...asked) => {
      const outcome = await common.create(...asked);
      creates.push({ key: asked[0], outcome });
      return outcome;
    },
    update: (...asked) => common.update(...asked),
    delete: (...asked) => common.delete(...asked),
    async *watch(options, signal) {
      for await (const batch of common.watch(options, signal)) {
        for (let turns = randomInt(lateTurns + 1); turns > 0; turns -= 1) await turn();
        await held;
        yield batch;
      }
    },
    currentRevision: (signal) => common.currentRevision(signal),
    compact: (...asked) => common.compact(...asked),
    close: async () => undefined,
  };
  return {
    api: await startInProcessApi(backend),
    creates,
    hold: () => {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

let common: FaultyMemoryBackend;
let replicas: Replica[] = [];
const start = async (lateTurns?: number): Promise<Replica> => {
  const replica = await startReplica(common, lateTurns);
  replicas.push(replica);
  return replica;
};
beforeEach(() => {
  common = new FaultyMemoryBackend();
});
afterEach(async () => {
  await Promise.all(replicas.map(async ({ api }) => api.close()));
  replicas = [];
});

const NAMESPACES = '/api/v1/namespaces';
const CONFIG_MAP = { metadata: { name: 'late' } };

async function makeNamespace({ api }: Replica, name: string): Promise<void> {
  const made = await api.call('POST', NAMESPACES, { body: { metadata: { name } } });
  expect(made.code).toBe(201);
}

async function know({ api }: Replica, name: string): Promise<void> {
  expect((await api.call('GET', `${NAMESPACES}/${name}`)).code).toBe(200);
}

/** Removes the namespace as the namespace controller does, with a single check. */
async function removeNamespace({ api }: Replica, name: string): Promise<void> {
  expect((await api.call('DELETE', `${NAMESPACES}/${name}`)).code).toBe(200);
  await api.call('DELETE', `${NAMESPACES}/${name}/configmaps`);
  const terminating = await api.call('GET', `${NAMESPACES}/${name}`);
  const body = { ...terminating.json, spec: { finalizers: [] } };
  expect((await api.call('PUT', `${NAMESPACES}/${name}/finalize`, { body })).code).toBe(200);
  expect((await api.call('GET', `${NAMESPACES}/${name}`)).code).toBe(404);
}

async function keysBelow(prefix: string): Promise<string[]> {
  const { records } = await common.list(prefix, { keysOnly: true }, new AbortController().signal);
  return records.map(({ key }) => key);
}

test.each([
  ['POST', 'configmaps', {}],
  ['PATCH', 'configmaps/late?fieldManager=m', { 'content-type': 'application/apply-patch+yaml' }],
] as const)(
  'a %s on a replica that has not seen the end of the namespace creates nothing',
  async (method, path, headers) => {
    const [first, behind] = [await start(), await start()];
    await makeNamespace(first, 'ns');
    await know(behind, 'ns');
    const release = behind.hold();
    await first.api.call('DELETE', `${NAMESPACES}/ns`);
    const before = behind.creates.length;
    const body = { apiVersion: 'v1', kind: 'ConfigMap', ...CONFIG_MAP };
    const creating = behind.api.call(method, `${NAMESPACES}/ns/${path}`, { body, headers });
    while (behind.creates.length === before) await turn();
    // Its admission allowed the object on outdated knowledge; the guard in the store did not.
    expect(behind.creates.slice(before).map(({ outcome }) => outcome)).toEqual([
      { ok: false, current: undefined, revision: common.revision },
    ]);
    release();
    expect((await creating).json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'configmaps "late" is forbidden: unable to create new content in namespace ns because it is being terminated',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    });
    expect(await keysBelow('/registry/core/configmaps/ns/')).toEqual([]);
  },
);

test.each([
  ['has gone', false, 404],
  ['has gone and come again under its name', true, 201],
])(
  'a replica that has not seen that the namespace %s decides by the current state',
  async (_what, again, code) => {
    const [first, behind] = [await start(), await start()];
    await makeNamespace(first, 'ns');
    await know(behind, 'ns');
    const release = behind.hold();
    await removeNamespace(first, 'ns');
    if (again) await makeNamespace(first, 'ns');
    const before = behind.creates.length;
    const creating = behind.api.call('POST', `${NAMESPACES}/ns/configmaps`, { body: CONFIG_MAP });
    while (behind.creates.length === before) await turn();
    expect(behind.creates.at(-1)?.outcome.ok).toBe(false);
    release();
    expect((await creating).code).toBe(code);
    expect(await keysBelow('/registry/core/configmaps/ns/')).toHaveLength(again ? 1 : 0);
  },
);

test('a namespace that was only relabelled meanwhile gets the object at the second attempt', async () => {
  const [first, behind] = [await start(), await start()];
  await makeNamespace(first, 'ns');
  await know(behind, 'ns');
  const release = behind.hold();
  await first.api.call('PATCH', `${NAMESPACES}/ns`, { body: { metadata: { labels: { a: 'b' } } } });
  const before = behind.creates.length;
  const creating = behind.api.call('POST', `${NAMESPACES}/ns/configmaps`, { body: CONFIG_MAP });
  while (behind.creates.length === before) await turn();
  release();
  expect((await creating).code).toBe(201);
  expect(behind.creates.slice(before).map(({ outcome }) => outcome.ok)).toEqual([false, true]);
});

test('no object stays in a namespace that is removed while replicas are late and writers busy', async () => {
  const rounds = 40;
  const writers = await Promise.all(Array.from({ length: 3 }, async () => start(LATE_TURNS_MAX)));
  const remover = await start();
  const codes = new Map<number, number>();
  for (let round = 0; round < rounds; round += 1) {
    const name = `ns-${String(round)}`;
    await makeNamespace(remover, name);
    const writing = writers.map(async ({ api }) => {
      for (let at = 0; ; at += 1) {
        const body = { metadata: { generateName: 'c-' } };
        const { code } = await api.call('POST', `${NAMESPACES}/${name}/configmaps`, { body });
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (code !== 201) return;
        await turn();
      }
    });
    for (let turns = randomInt(LATE_TURNS_MAX); turns > 0; turns -= 1) await turn();
    await removeNamespace(remover, name);
    await Promise.all(writing);
  }
  expect(await keysBelow('/registry/core/configmaps/ns-')).toEqual([]);
  expect([...codes.keys()].toSorted((a, b) => a - b)).toEqual(expect.arrayContaining([201]));
  expect([...codes.keys()].filter((code) => ![201, 403, 404].includes(code))).toEqual([]);
  const refusedByStore = writers.flatMap(({ creates }) => creates).filter(({ outcome }) => !outcome.ok);
  expect(refusedByStore.length).toBeGreaterThan(0);
});
