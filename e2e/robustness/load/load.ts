import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../list-watch/chaos/seeded-random';
import { VIEWS } from '../../list-watch/chaos/views';
import type { ApiClient } from '../../support/client';
import type { Outcome, RunRecord } from '../record/operation';
import type { RunSize } from '../size';
import type { AllocationCounts } from './allocations';
import { runAllocationClient } from './allocations';
import { createDraws } from './draw';
import { drawList, runList } from './list-client';
import { ObjectClient } from './object-client';
import { runWatchClient } from './watch-client';

/** All clients of one epoch. */
export interface Load {
  readonly outcomes: Record<Outcome, number>;
  readonly lists: { done: number; unknown: number };
  readonly allocations: AllocationCounts;
  /** Returns the newest version that any client received. */
  newest(): number;
  /** Resolves when all clients have ended and the record is complete; rejects with the first error of a client. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly clients: readonly ApiClient[];
  /** The same over HTTP/2, for every other client. */
  readonly http2Clients: readonly ApiClient[];
  readonly record: RunRecord;
  readonly seed: number;
  readonly size: RunSize;
  /** Watches start after this revision. */
  readonly base: number;
  /** The number of the first client. Two loads on one store need different turns. */
  readonly firstClient: number;
}

/** A client waits after a failed request before it retries. */
const FAILURE_PAUSE_MS = 50;
const LIST_PAUSE_MS = 100;
/** Random streams, one for each client, so that none depends on the speed of others. */
const STREAM = { writers: 1_000, listers: 2_000, watchers: 3_000, allocators: 4_000 } as const;

export function startLoad(options: LoadOptions): Load {
  const { clients, http2Clients, record, seed, size, base, firstClient } = options;
  const end = new AbortController();
  const { signal } = end;
  setMaxListeners(0, signal);
  const outcomes: Record<Outcome, number> = {
    done: 0,
    absent: 0,
    present: 0,
    conflict: 0,
    refused: 0,
    unknown: 0,
  };
  const lists = { done: 0, unknown: 0 };
  const allocations: AllocationCounts = { given: 0, refused: 0 };
  const clientsOf = (index: number): readonly ApiClient[] => (index % 2 === 0 ? http2Clients : clients);
  const writers = Array.from(
    { length: size.writers },
    (_, index) => new ObjectClient(clientsOf(index), record),
  );
  const newest = (): number => Math.max(base, ...writers.map((each) => each.newest));
  const randomOf = (stream: number, index: number): ReturnType<typeof createRandom> =>
    createRandom(seed + stream + index);

  const write = async (writer: ObjectClient, index: number): Promise<void> => {
    const draw = createDraws(randomOf(STREAM.writers, index), firstClient + index, clients.length);
    while (!signal.aborted) {
      const outcome = await writer.send(draw());
      outcomes[outcome]++;
      if (outcome === 'unknown') await pause(FAILURE_PAUSE_MS, signal);
    }
  };
  const list = async (index: number): Promise<void> => {
    const random = randomOf(STREAM.listers, index);
    while (!signal.aborted) {
      const outcome = await runList(drawList(random, clients.length), {
        replicas: clientsOf(index),
        record,
        newest: newest(),
      });
      lists[outcome]++;
      await pause(LIST_PAUSE_MS, signal);
    }
  };
  const running = [
    ...writers.map(write),
    ...Array.from({ length: size.listers }, async (_, index) => list(index)),
    ...VIEWS.flatMap((view, at) =>
      Array.from({ length: size.watchersPerView }, async (_, index) => {
        const random = randomOf(STREAM.watchers, at * size.watchersPerView + index);
        const name = `watcher ${String(index)}`;
        const asked = clientsOf(at + index);
        await runWatchClient(
          { name, view, replicas: asked, record, random, from: base, eventsMax: WATCH_EVENTS_MAX },
          signal,
        );
      }),
    ),
    ...Array.from({ length: size.allocators }, async (_, index) =>
      runAllocationClient(
        { replicas: clientsOf(index), random: randomOf(STREAM.allocators, index), counts: allocations },
        signal,
      ),
    ),
  ];
  const all = Promise.all(running);
  all.catch(() => undefined);
  return {
    outcomes,
    lists,
    allocations,
    newest,
    async stop() {
      end.abort();
      await all;
    },
  };
}

const WATCH_EVENTS_MAX = 300;

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
