import { StorageError } from '../../engine/storage/backend';
import { FaultyMemoryBackend } from '../../engine/storage/testing/faulty-memory-backend';
import type { Reply } from '../../testing/in-process-api';
import {
  DEFINITIONS_PATH,
  conditionOf,
  define,
  definitionBody,
  GIZMOS_PATH as PATH,
  gizmo,
  untilGone,
  untilStatus,
} from '../../testing/custom-resources/definitions';
import type { Replica } from '../../testing/custom-resources/replica';
import { startReplica } from '../../testing/custom-resources/replica';

let common: FaultyMemoryBackend;
let a: Replica;
let b: Replica;
beforeEach(async () => {
  common = new FaultyMemoryBackend();
  a = await startReplica(common);
  b = await startReplica(common);
});
afterEach(async () => {
  await a.api.close();
  await b.api.close();
  await common.close();
});

const create = async (replica: Replica, name: string): Promise<Reply> =>
  replica.api.call('POST', PATH, { body: gizmo(name) });

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  for (let turns = 0; turns < 50; turns += 1) await turn();
  const still = Symbol('still');
  return (await Promise.race([promise, Promise.resolve(still)])) === still;
}

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('a definition that one replica established', () => {
  test.each([PATH, '/apis/example.com', '/apis/example.com/v1'])(
    'is served at once by another replica at %s, which waits for its state',
    async (path) => {
      const release = b.hold();
      await define(a.api, definitionBody());
      const asked = b.api.call('GET', path);
      expect(await isPending(asked)).toBe(true);
      release();
      expect((await asked).code).toBe(200);
    },
  );

  test('is listed by another replica among all groups', async () => {
    const release = b.hold();
    await define(a.api, definitionBody());
    const asked = b.api.call('GET', '/apis');
    expect(await isPending(asked)).toBe(true);
    release();
    expect((await asked).json.groups.at(-1).name).toBe('example.com');
  });

  test('is not waited for in requests of unknown resources and built-in groups', async () => {
    expect((await b.api.call('GET', '/apis/example.com/v1/gizmos')).text).toBe('404 page not found\n');
    const { currentRevision } = common.calls;
    expect((await b.api.call('GET', '/apis/apps/v1/gizmos')).code).toBe(404);
    expect((await b.api.call('GET', '/apis/apps/v1')).code).toBe(200);
    expect(common.calls.currentRevision).toBe(currentRevision);
  });

  test('returns 503 while the store is unreachable, while known resources are served', async () => {
    await define(a.api, definitionBody());
    expect((await b.api.call('GET', PATH)).code).toBe(200);
    common.outage = new StorageError('unavailable', 'gone');
    expect((await b.api.call('GET', '/apis/example.org/v1/gizmos')).code).toBe(503);
    expect((await b.api.call('GET', '/apis/example.org')).code).toBe(503);
    expect((await b.api.call('GET', '/apis/example.com/v1')).code).toBe(200);
    expect((await b.api.call('GET', '/apis')).code).toBe(200);
    common.outage = undefined;
  });
});

describe('concurrent replicas', () => {
  test('establish every definition once, and give every name to one of them', async () => {
    const plurals = Array.from({ length: 12 }, (_, index) => `kind${String(index)}s`);
    const bodies = plurals.map((plural, index) =>
      definitionBody({ plural, kind: `Kind${String(index % 4)}` }),
    );
    const made = bodies.map(async (body, index) =>
      (index % 2 === 0 ? a : b).api.call('POST', DEFINITIONS_PATH, { body }),
    );
    for (const { code } of await Promise.all(made)) expect(code).toBe(201);
    const statuses = await Promise.all(
      bodies.map(async ({ metadata }) =>
        untilStatus(a.api, metadata.name, (status) => conditionOf(status, 'NamesAccepted') !== undefined),
      ),
    );
    const kinds = statuses
      .map(({ acceptedNames }) => (acceptedNames as { readonly kind: string }).kind)
      .filter((kind) => kind !== '');
    expect(kinds.toSorted()).toEqual(['Kind0', 'Kind1', 'Kind2', 'Kind3']);
    await untilQuiet();
    const { revision } = common;
    await untilQuiet();
    expect(common.revision).toBe(revision);
  });

  test('clean up a deleted definition together', async () => {
    await define(a.api, definitionBody());
    await b.api.call('GET', PATH);
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => create(index % 2 === 0 ? a : b, `g${String(index)}`)),
    );
    await b.api.call('DELETE', `${DEFINITIONS_PATH}/gizmos.example.com`);
    await Promise.all([untilGone(a.api, 'gizmos.example.com'), untilGone(b.api, 'gizmos.example.com')]);
    expect(await left()).toEqual([]);
  });

  test('store nothing after a definition is gone, even through a replica with a stale state', async () => {
    for (let round = 0; round < 5; round += 1) {
      await define(a.api, definitionBody());
      expect((await create(b, 'first')).code).toBe(201);
      const release = b.hold();
      await a.api.call('DELETE', `${DEFINITIONS_PATH}/gizmos.example.com`);
      const late = Array.from({ length: 5 }, async (_, index) => create(b, `late${String(index)}`));
      expect(await isPending(Promise.any(late))).toBe(true);
      await untilGone(a.api, 'gizmos.example.com');
      release();
      for (const { code } of await Promise.all(late)) expect([404, 405]).toContain(code);
      expect(await left()).toEqual([]);
    }
  });
});

test('a creation is not rejected if the deleted definition was created again', async () => {
  for (let round = 0; round < 10; round += 1) {
    await define(a.api, definitionBody());
    expect((await b.api.call('GET', PATH)).code).toBe(200);
    const release = b.hold();
    await a.api.call('DELETE', `${DEFINITIONS_PATH}/gizmos.example.com`);
    await untilGone(a.api, 'gizmos.example.com');
    await define(a.api, definitionBody());
    const asked = create(b, 'late');
    // The deletion is marked while the request is running.
    b.step();
    await isPending(asked);
    release();
    expect((await asked).code).toBe(201);
    await a.api.call('DELETE', `${DEFINITIONS_PATH}/gizmos.example.com`);
    await untilGone(a.api, 'gizmos.example.com');
  }
});

describe('a definition that was changed through another replica', () => {
  const versions = (minimum: number): object => ({
    spec: {
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec: { type: 'object', properties: { size: { type: 'integer', minimum } } } },
            },
          },
        },
      ],
    },
  });

  test('validates every later write, even on a replica with a stale state', async () => {
    await define(a.api, {
      ...definitionBody(),
      spec: { ...(definitionBody()['spec'] as object), ...versionsOf(0) },
    });
    const post = async (name: string, size: number): Promise<Reply> =>
      b.api.call('POST', PATH, {
        body: { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name }, spec: { size } },
      });
    expect((await post('old', 1)).code).toBe(201);
    for (const [minimum, code] of [
      [5, 422],
      [0, 200],
    ] as const) {
      const release = b.hold();
      await a.api.call('PATCH', `${DEFINITIONS_PATH}/gizmos.example.com`, { body: versions(minimum) });
      const written = [
        b.api.call('PATCH', `${PATH}/old`, { body: { spec: { size: 2 + minimum / 5 } } }),
        b.api.call('PATCH', `${PATH}/old/status`, { body: {} }),
        post(`new${String(minimum)}`, 3),
      ];
      expect(await isPending(Promise.any(written.toSpliced(1, 1)))).toBe(true);
      release();
      const [patched, , created] = await Promise.all(written);
      expect(patched?.code).toBe(code);
      expect(created?.code).toBe(code === 200 ? 201 : code);
    }
  });

  const versionsOf = (minimum: number): object => (versions(minimum) as { readonly spec: object }).spec;
});

describe('a replica that starts', () => {
  test('serves established definitions, with their objects cached, before it is ready', async () => {
    await define(a.api, definitionBody());
    await define(a.api, definitionBody({ plural: 'others', kind: 'Other' }));
    await create(a, 'one');
    const late = await startReplica(common);
    const { cache, custom } = late.api.plane;
    expect(custom.notReadyReason()).toBeUndefined();
    expect(cache.resource('example.com/gizmos/').isReady).toBe(true);
    expect(cache.resource('example.com/others/').isReady).toBe(true);
    expect((await late.api.call('GET', `${PATH}?resourceVersion=0`)).json.items).toHaveLength(1);
    await late.api.close();
  });
});

/** Returns the keys of gizmos in the store. */
async function left(): Promise<readonly string[]> {
  const { records } = await common.list('/registry/example.com/gizmos/', {}, new AbortController().signal);
  return records.map(({ key }) => key);
}

/** Resolves when no background work is running. */
async function untilQuiet(): Promise<void> {
  for (let turns = 0; turns < 200; turns += 1) await turn();
}
