import { setMaxListeners } from 'node:events';
import { PATIENCE_MS } from '../../../shared/testing/eventually';
import { StorageError } from '../storage/backend';
import type { ClusterCache } from './cluster-cache';
import type { Entry } from './state/entry';
import type { CacheLimits } from './limits';
import type { Frame } from './testing/fixtures';
import {
  createCache,
  JsonRepresentation,
  framesOf,
  podBytes,
  podKey,
  PODS,
  requestFor,
} from './testing/fixtures';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';
import type { WatchRequest } from './fan-out/watch-request';

/** A small seeded random generator (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

interface ModelPod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly color: string;
  readonly revision: number;
}

const NAMESPACES = ['a', 'a-b', 'b\u{1F600}', 'b\uFF5E'];
const COLORS = ['red', 'green', 'blue'];
const NODE_NAMES = ['', 'n1', 'n2', 'n3'];

/** The store, and its pods at every revision. */
class World {
  readonly backend = new FaultyMemoryBackend();
  readonly states: ReadonlyMap<string, ModelPod>[] = [new Map()];
  /** Set when no more writes follow and clients no longer reconnect. */
  isCalm = false;
  /** Set before the final abort of the streams. */
  isOver = false;
  readonly #random: (below: number) => number;

  constructor(random: (below: number) => number) {
    this.#random = random;
  }

  step(): void {
    const changes: { key: string; value?: Buffer }[] = [];
    const next = new Map(this.states.at(-1));
    const revision = this.backend.revision + 1;
    const count = this.#random(8) === 0 ? 1 + this.#random(5) : 1;
    const touched = new Set<string>();
    for (let at = 0; at < count; at += 1) {
      const pod = this.#pod(revision);
      const key = podKey(pod);
      if (touched.has(key)) continue;
      touched.add(key);
      if (this.#random(4) === 0 && next.has(key)) {
        changes.push({ key });
        next.delete(key);
      } else {
        changes.push({ key, value: podBytes({ ...pod, labels: { color: pod.color } }) });
        next.set(key, pod);
      }
    }
    if (this.#random(10) === 0) changes.push({ key: '/foreign', value: Buffer.from('x') });
    this.backend.transact(changes);
    this.states.push(next);
  }

  #pod(revision: number): ModelPod {
    const pick = <Item>(items: readonly Item[]): Item => items[this.#random(items.length)]!;
    const namespace = pick(NAMESPACES);
    const name = `p${this.#random(12)}`;
    return { namespace, name, node: pick(NODE_NAMES), color: pick(COLORS), revision };
  }
}

interface Selector {
  readonly request: Partial<WatchRequest>;
  readonly holds: (pod: ModelPod) => boolean;
}

function selectorFrom(random: (below: number) => number): Selector {
  const namespace = random(2) === 0 ? NAMESPACES[random(NAMESPACES.length)]! : '';
  const name = random(4) === 0 ? `p${random(12)}` : '';
  const node = random(3) === 0 ? NODE_NAMES[random(NODE_NAMES.length)]! : undefined;
  const color = random(2) === 0 ? COLORS[random(COLORS.length)]! : undefined;
  return {
    request: {
      namespace,
      name,
      fieldEquals: node === undefined ? [] : [['spec.nodeName', node]],
      matches: color === undefined ? undefined : (entry: Entry): boolean => entry.labels['color'] === color,
    },
    holds: (pod) =>
      (namespace === '' || pod.namespace === namespace) &&
      (name === '' || pod.name === name) &&
      (node === undefined || pod.node === node) &&
      (color === undefined || pod.color === color),
  };
}

interface ClientOptions {
  readonly open: (from: number | undefined) => AsyncIterable<Buffer>;
  readonly selector: Selector;
  readonly from: number | undefined;
  readonly pause: () => Promise<void>;
  /** Whether to disconnect after this piece and reconnect at once. */
  readonly leaves: () => boolean;
  /** Whether its history may be lost, so that it has to list again. */
  readonly mayExpire: boolean;
}

/** One client that replays a watch and checks every step of it against the model. */
class Client {
  readonly done: Promise<void>;
  readonly #world: World;
  readonly #selector: Selector;
  readonly #state = new Map<string, string>();
  #at: number | undefined;
  failure: Error | undefined;
  expired = 0;
  last: Frame | undefined;

  constructor(world: World, options: ClientOptions) {
    this.#world = world;
    this.#selector = options.selector;
    this.#at = options.from;
    if (options.from !== undefined)
      for (const [key, revision] of this.#expected(options.from)) this.#state.set(key, revision);
    this.done = this.#follow(options);
    // Awaited at the end of the test.
    this.done.catch((error: unknown) => {
      this.failure = error as Error;
    });
  }

  /** Resumes from the last known resourceVersion when its stream ends before the test does. */
  async #follow(options: ClientOptions): Promise<void> {
    do {
      if (this.#at === undefined) this.#state.clear();
      await this.#read(options.open(this.#at), options);
      await turn();
    } while (!this.#world.isOver);
  }

  async #read(stream: AsyncIterable<Buffer>, { pause, leaves, mayExpire }: ClientOptions): Promise<void> {
    let initial: string[] = [];
    for await (const piece of stream) {
      for (const frame of framesOf(piece)) {
        this.last = frame;
        const revision = Number(frame.object.metadata?.resourceVersion);
        if (frame.type === 'ERROR') {
          if (!mayExpire || frame.object.code !== 410) throw new Error(frame.object.message);
          this.expired += 1;
          this.#at = undefined;
          return;
        }
        if (frame.type === 'BOOKMARK') {
          if (frame.object.metadata.annotations !== undefined) {
            expect(initial).toEqual([...this.#expected(revision).keys()]);
            initial = [];
            this.#at = revision;
          }
          this.#reached(revision);
          this.#compareAt(revision);
          continue;
        }
        const key = podKey(frame.object.metadata as { namespace: string; name: string });
        if (this.#at === undefined) {
          expect(frame.type).toBe('ADDED');
          initial.push(key);
          this.#state.set(key, String(revision));
          continue;
        }
        this.#reached(revision);
        expect(frame.type === 'ADDED').toBe(!this.#state.has(key));
        if (frame.type === 'DELETED') this.#state.delete(key);
        else this.#state.set(key, String(revision));
      }
      await pause();
      if (leaves()) return;
    }
  }

  /** Checks that no matching change between the last known revision and `revision` is missing. */
  #reached(revision: number): void {
    const before = this.#at ?? 0;
    expect(revision).toBeGreaterThanOrEqual(before);
    if (revision > before) {
      this.#compareAt(revision - 1);
      this.#at = revision;
    }
  }

  #compareAt(revision: number): void {
    const expected = this.#expected(revision);
    const isSame =
      expected.size === this.#state.size && [...expected].every(([key, at]) => this.#state.get(key) === at);
    // Jest's comparison is slow, so it only runs on a difference.
    if (!isSame) expect(this.#state).toEqual(expected);
  }

  /** The expected resourceVersions by key, for a client with this selector. */
  #expected(revision: number): Map<string, string> {
    const state = this.#world.states[revision] ?? new Map<string, ModelPod>();
    const entries = [...state].filter(([, pod]) => this.#selector.holds(pod));
    entries.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return new Map(entries.map(([key, pod]) => [key, String(pod.revision)]));
  }
}

async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

async function play(
  seed: number,
  options: { limits?: Partial<CacheLimits>; outages?: boolean; disasters?: boolean } = {},
): Promise<{ cache: ClusterCache; world: World; clients: Client[] }> {
  const random = randomFrom(seed);
  const world = new World(random);
  for (let at = random(60); at > 0; at -= 1) world.step();
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const cache = createCache(world.backend, { limits: { watcherQueueFramesMax: 100_000, ...options.limits } });
  await cache.start(controller.signal);
  const pods = cache.resource(PODS.keyPrefix);
  const clients: Client[] = [];
  const representation = new JsonRepresentation();
  const join = (): void => {
    const selector = selectorFrom(random);
    const from = random(3) === 0 ? undefined : random(world.backend.revision + 1);
    const slowness = random(4);
    const open = (at: number | undefined): AsyncIterable<Buffer> =>
      pods.watch(
        requestFor({
          ...selector.request,
          from: at,
          representation,
          bookmarks: true,
          sendInitialEvents: true,
        }),
        controller.signal,
      );
    const pause = async (): Promise<void> => {
      for (let turns = slowness * random(4); turns > 0; turns -= 1) await turn();
    };
    const leaves = (): boolean => options.disasters === true && !world.isCalm && random(4) === 0;
    const mayExpire = options.disasters === true;
    clients.push(new Client(world, { open, selector, from, pause, leaves, mayExpire }));
  };
  for (let at = 0; at < 300; at += 1) {
    world.step();
    if (random(8) === 0) join();
    if (random(3) === 0) await turn();
    if (options.outages === true && random(40) === 0) {
      world.backend.fail(new StorageError('unavailable', 'a moment'));
      await turn();
      world.backend.fail(undefined);
    }
    if (options.disasters === true) await disaster(random, world, cache);
  }
  world.isCalm = true;
  expect(
    await cache.waitForRevision(world.backend.revision, {
      timeoutMs: PATIENCE_MS,
      signal: controller.signal,
    }),
  ).toBe(true);
  // Watches that still read history become live before the end, so that their last bookmark has the last revision.
  while (cache.watchers().filter(({ isLive }) => isLive).length < clients.length) {
    await turn();
    for (const { failure } of clients) if (failure !== undefined) throw failure;
  }
  world.isOver = true;
  await cache.drain({ spreadMs: 0, refuseNew: false }, controller.signal);
  await Promise.all(clients.map((client) => client.done));
  controller.abort();
  return { cache, world, clients };
}

/** Occasionally injects a fault that makes clients list again or reconnect. */
async function disaster(
  random: (below: number) => number,
  { backend }: World,
  cache: ClusterCache,
): Promise<void> {
  switch (random(40)) {
    case 0:
      return backend.compact(random(backend.revision + 1), new AbortController().signal);
    case 1:
      if (cache.notReadyReason() === undefined) cache.rebuildResource(PODS.keyPrefix, 'a test');
      return;
    case 2:
      backend.fail(new StorageError('reset', 'another store'));
      await turn();
      return backend.fail(undefined);
    case 3:
    case 4:
      return cache.drain({ spreadMs: 0, refuseNew: false }, new AbortController().signal);
    default:
      cache.sweep();
  }
}

function expectAllComplete({ world, clients }: { world: World; clients: Client[] }): void {
  expect(clients.length).toBeGreaterThan(10);
  for (const client of clients) {
    expect(client.last?.type).toBe('BOOKMARK');
    expect(client.last?.object.metadata.resourceVersion).toBe(String(world.backend.revision));
  }
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'every watcher replays exactly the history of its selection (seed %i)',
  async (seed) => {
    expectAllComplete(await play(seed));
  },
);

test.each([11, 12, 13, 14])(
  'so it does when rings are tiny and most of history comes from the store (seed %i)',
  async (seed) => {
    const played = await play(seed, {
      limits: { ringEventsMax: 7, historyStreamsMax: 2, historyTurnMsMax: 1, historyPauseMsMax: 0 },
    });
    expectAllComplete(played);
    expect(played.cache.stats().historyStreams).toBeGreaterThan(5);
  },
);

test.each([21, 22, 23, 24])(
  'so it does when bytes are scarce and the store fails now and then (seed %i)',
  async (seed) => {
    const played = await play(seed, {
      limits: { ringBytesMax: 3_000, derivedBytesMax: 2_000 },
      outages: true,
    });
    expectAllComplete(played);
    expect(played.cache.stats().historyStreams).toBeGreaterThan(0);
  },
);

test.each([31, 32, 33, 34, 35, 36])(
  'so it does through drains, rebuilds, compactions and resets, with bookmarks at every chance and clients that come and go (seed %i)',
  async (seed) => {
    const played = await play(seed, {
      limits: {
        ringEventsMax: 7,
        historyStreamsMax: 2,
        historyTurnMsMax: 1,
        historyPauseMsMax: 0,
        bookmarkIntervalMs: 0,
      },
      outages: true,
      disasters: true,
    });
    expectAllComplete(played);
    expect(played.clients.some(({ expired }) => expired > 0)).toBe(true);
  },
);
