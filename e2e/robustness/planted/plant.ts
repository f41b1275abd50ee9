/**
 * Loaded into a server or a candidate before its own code (`node --require`), only by the tests of the checks. It adds the bug that the
 * file ORCH_PLANTED_BUG_FILE contains, or none if the file is empty. No program of the project loads it, and none of their flags or
 * variables refers to it.
 */
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ClusterCache } from '../../../apiserver/engine/watch-cache/cluster-cache';
import { ResourceWatches } from '../../../apiserver/engine/watch-cache/fan-out/resource-watches';
import { ResourceCache } from '../../../apiserver/engine/watch-cache/resource-cache';
import { Ring } from '../../../apiserver/engine/watch-cache/state/ring';
import type { Backend, Revision } from '../../../apiserver/engine/storage/backend';
import { createEtcdBackend } from '../../../apiserver/engine/storage/stores/etcd/etcd-backend';
import { EtcdClient } from '../../../apiserver/engine/storage/stores/etcd/etcd-client';
import { WatchState } from '../../../apiserver/engine/storage/stores/etcd/watch-state';
import { silentLog } from '../../../shared/log/log';
import type { PlantedBug } from './bugs';
import { isPlantedBug } from './bugs';

/** The delay of the cache after the store, for bugs that need one. */
const LAG_MS = 100;
const READ_AHEAD_MAX = 10_000;
const TOO_NEW_BY = 20;
const EVERY_SO_MANY = 5;

const PLANT: Readonly<Record<PlantedBug, () => void>> = {
  'stale read from the cache': () => {
    delayEvents(() => undefined);
    ClusterCache.prototype.freshen = async () => Promise.resolve('fresh');
  },

  "watch resumed at the header's revision": () => {
    const begin = method(ResourceWatches.prototype, 'begin');
    ResourceWatches.prototype.begin = function (this: ResourceWatches, request, signal) {
      const from = request.from === undefined ? undefined : Math.max(request.from, this.state.revision);
      return begin.call(this, { ...request, from }, signal);
    };
  },

  'event lost on reconnect': () => {
    dropAfterReconnect((revision) => ({ ...revision, events: [] }));
  },

  'notification before its event': () => {
    let notified = 0;
    delayEvents((revision) => {
      notified = revision;
    });
    const wait = method(ClusterCache.prototype, 'waitForRevision');
    ClusterCache.prototype.waitForRevision = async function (this: ClusterCache, revision, options) {
      return notified >= revision || wait.call(this, revision, options);
    };
  },

  'off-by-one start': () => {
    const positionAfter = method(Ring.prototype, 'positionAfter');
    Ring.prototype.positionAfter = function (this: Ring, revision) {
      return Math.min(this.end, positionAfter.call(this, revision) + 1);
    };
  },

  'delete dropped at a compaction': () => {
    dropAfterReconnect((revision) => ({
      ...revision,
      events: revision.events.filter(({ type }) => type !== 'delete'),
    }));
  },

  'retry applied twice': () => {
    let count = 0;
    const txn = method(EtcdClient.prototype, 'txn');
    EtcdClient.prototype.txn = async function (this: EtcdClient, request, signal, kind) {
      const answer = await txn.call(this, request, signal, kind);
      const isPut = request.success.some((each) => 'put' in each);
      if (!isPut || !answer.succeeded || ++count % EVERY_SO_MANY !== 0) return answer;
      await txn.call(this, { ...request, compare: [] }, signal, kind);
      return answer;
    };
  },

  'bookmark too new': () => {
    const begin = method(ResourceWatches.prototype, 'begin');
    ResourceWatches.prototype.begin = function (this: ResourceWatches, request, signal) {
      const { representation } = request;
      const bookmark = (revision: number, isEnd: boolean): Buffer =>
        representation.bookmark(isEnd ? revision : revision + TOO_NEW_BY, isEnd);
      const planted: typeof representation = Object.assign(
        Object.create(representation) as typeof representation,
        { bookmark },
      );
      return begin.call(this, { ...request, representation: planted }, signal);
    };
  },

  'page from another snapshot': () => {
    ResourceCache.prototype.snapshotAt = async function (this: ResourceCache) {
      return Promise.resolve(this.snapshot());
    };
  },

  'old leader still writes': () => {
    const abort = method(AbortController.prototype, 'abort');
    AbortController.prototype.abort = function (this: AbortController, reason?: unknown) {
      if (reason instanceof Error && reason.message === 'leader election lease lost') return;
      abort.call(this, reason);
    };
  },
};

plant(readFileSync(process.env['ORCH_PLANTED_BUG_FILE'] ?? '', 'utf8'));

function plant(name: string): void {
  if (name === '') return;
  if (!isPlantedBug(name)) throw new Error(`There is no planted bug ${name}.`);
  PLANT[name]();
}

/** Returns the original method; the caller provides `this`. */
function method<T extends object, K extends keyof T>(prototype: T, name: K): T[K] {
  return prototype[name];
}

/**
 * Delays all events by the same time and calls `notify` immediately with their last revision. It reads ahead, because a wait for each
 * batch would also delay the notifications of a busy store and hide bugs that need them early.
 */
function delayEvents(notify: (revision: number) => void): void {
  const prototype = backendPrototype();
  const watch = method(prototype, 'watch');
  prototype.watch = async function* (this: Backend, options, signal) {
    const arrivals = Readable.from(arrived(watch.call(this, options, signal), notify), {
      highWaterMark: READ_AHEAD_MAX,
    });
    for await (const { batch, dueAt } of arrivals as AsyncIterable<Arrival>) {
      await delay(Math.max(0, dueAt - performance.now()));
      yield batch;
    }
  };
}

interface Arrival {
  readonly batch: readonly Revision[];
  /** Milliseconds of `performance.now()`. */
  readonly dueAt: number;
}

async function* arrived(
  source: AsyncIterable<readonly Revision[]>,
  notify: (revision: number) => void,
): AsyncGenerator<Arrival> {
  for await (const batch of source) {
    notify(batch.at(-1)?.revision ?? 0);
    yield { batch, dueAt: performance.now() + LAG_MS };
  }
}

/** Transforms the first answers on a reconnected stream of a watch. */
function dropAfterReconnect(change: (revision: Revision) => Revision): void {
  const streams = new WeakMap<WatchState, { count: number; isNew: boolean }>();
  const startStream = method(WatchState.prototype, 'startStream');
  WatchState.prototype.startStream = function (this: WatchState) {
    const count = (streams.get(this)?.count ?? 0) + 1;
    streams.set(this, { count, isNew: count > 1 });
    return startStream.call(this);
  };
  const accept = method(WatchState.prototype, 'accept');
  WatchState.prototype.accept = function (this: WatchState, response, done) {
    const before = done.length;
    accept.call(this, response, done);
    const stream = streams.get(this);
    if (stream?.isNew !== true || done.length === before) return;
    stream.isNew = false;
    for (const [index, revision] of done.entries()) if (index >= before) done[index] = change(revision);
  };
}

/** The class is not exported; its instances connect on first use. */
function backendPrototype(): Backend {
  const backend = createEtcdBackend({ endpoints: ['http://127.0.0.1:1'], prefix: '/none', log: silentLog });
  return Object.getPrototypeOf(backend) as Backend;
}
