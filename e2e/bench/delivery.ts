import { setTimeout as delay } from 'node:timers/promises';
import { startLoad } from './children';
import type { Target, WatchResult } from './messages';
import { monotonicMs, percentile } from './messages';
import { cpuMicroseconds } from './process-cost';
import type { Bench } from './rig';
import { benchConfigMap, FAN_OUT, SIZES } from './rig';
import type { Table } from './table';
import { microseconds, milliseconds, ratio } from './table';

const RATES: readonly Rate[] = [
  { perSecond: 10, seconds: 5, watchers: SIZES.watchers },
  { perSecond: 50, seconds: 10, watchers: SIZES.watchers },
  { perSecond: 100, seconds: 10, watchers: SIZES.watchers / 2 },
  { perSecond: 200, seconds: 10, watchers: SIZES.watchers },
];
const PROCESSES = 2;
/** The pause before the first write, so that garbage of a thousand handshakes is not in the figures. */
const SETTLE_MS = 2_000;
/** The time after the last write for pending deliveries. */
const REST_DEADLINE_MS = 60_000;

/** One acknowledged write; times are monotonic milliseconds. */
interface Written {
  readonly version: number;
  readonly at: number;
}

interface Delivery {
  readonly work: string;
  readonly cpuPerDelivery: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly ended: number;
  readonly lost: number;
  readonly sentPerSecond: number;
  /** The average time of events in the queues of watchers. */
  readonly queuedMs: number | undefined;
  /** Retried writes. */
  readonly refused: number;
}

/** Measures the time from an acknowledged write to its arrival at each of many watchers, at several rates. */
export async function measureDelivery(bench: Bench): Promise<Table> {
  const rows: string[][] = [];
  for (const rate of RATES) {
    const ours = await ourDelivery(bench, rate);
    const limit = await limitDelivery(bench, rate);
    for (const [name, each] of [
      ['orch', ours],
      ['limit', limit],
    ] as const) {
      rows.push([
        String(rate.watchers),
        each.work,
        name,
        milliseconds(each.p50Ms),
        milliseconds(each.p99Ms),
        milliseconds(each.maxMs),
        each.queuedMs === undefined ? '' : milliseconds(each.queuedMs),
        microseconds(each.cpuPerDelivery),
        ratio(each.cpuPerDelivery, limit.cpuPerDelivery),
        each.sentPerSecond.toFixed(0),
        String(each.refused),
        String(each.lost),
        String(each.ended),
      ]);
    }
  }
  return {
    title: 'Delivery to watchers of one collection',
    header: [
      'watchers',
      'writes asked for',
      'server',
      'p50',
      'p99',
      'at most',
      'of which queued, mean',
      'CPU per delivery',
      'ratio',
      'writes per second',
      'writes repeated',
      'lost or doubled',
      'watches ended',
    ],
    rows,
    notes: [
      `Clients are ${String(PROCESSES)} processes that read raw bytes; one watcher of each decodes what it gets and is compared with what was written. Writes go out at their times, whether or not earlier ones were answered. The limit sends the same frame to as many watchers and knows neither writes nor etcd. CPU includes that of the writes.`,
    ],
  };
}

interface Rate {
  readonly perSecond: number;
  readonly seconds: number;
  /** In all processes. */
  readonly watchers: number;
}

async function ourDelivery(bench: Bench, rate: Rate): Promise<Delivery> {
  const { client } = bench.replica;
  const { body } = await client.get(FAN_OUT);
  const path = `${FAN_OUT}?watch=true&resourceVersion=${body.metadata?.resourceVersion ?? ''}`;
  const prefix = `at-${String(rate.perSecond)}`;
  const before = queueTime((await client.get('/metrics')).text);
  let refused = 0;
  const delivery = await deliver(rate, {
    pid: bench.replica.process().pid,
    target: bench.target,
    path,
    write: async (index) => {
      for (;;) {
        const written = await client.create(FAN_OUT, benchConfigMap(`${prefix}-${String(index)}`));
        if (written.status === 201) return Number(written.body.metadata?.resourceVersion);
        // An overloaded server may request a retry; any other error ends the measurement.
        if (written.body.details?.retryAfterSeconds === undefined) throw new Error(written.text);
        refused++;
      }
    },
  });
  const after = queueTime((await client.get('/metrics')).text);
  const queuedMs = ((after.seconds - before.seconds) / (after.count - before.count)) * 1_000;
  return { ...delivery, queuedMs, refused };
}

async function limitDelivery({ limit, limitTarget }: Bench, rate: Rate): Promise<Delivery> {
  let last = Promise.resolve<unknown>(undefined);
  return deliver(rate, {
    pid: limit.pid,
    target: limitTarget,
    path: `${FAN_OUT}?watch=true`,
    write: async () => {
      last = last.then(async () => {
        limit.send('tick');
        return limit.answer();
      });
      await last;
      return undefined;
    },
  });
}

interface Course {
  readonly pid: number;
  readonly target: Target;
  readonly path: string;
  /** Resolves to the version of the acknowledged write, if it has one. */
  readonly write: (index: number) => Promise<number | undefined>;
}

async function deliver(rate: Rate, { pid, target, path, write }: Course): Promise<Delivery> {
  const { perSecond, seconds } = rate;
  const events = perSecond * seconds;
  const watchers = Math.floor(rate.watchers / PROCESSES);
  const loaders = await Promise.all(
    Array.from({ length: PROCESSES }, async () =>
      startLoad({ kind: 'watches', target, path, watchers, events }),
    ),
  );
  await delay(SETTLE_MS);
  const answers = Promise.all(loaders.map(async (loader) => loader.answer()));
  const cpuBefore = cpuMicroseconds(pid);
  const started = monotonicMs();
  const writes: Promise<Written>[] = [];
  for (let index = 0; index < events; index++) {
    await delay(Math.max(0, started + (index * 1_000) / perSecond - monotonicMs()));
    writes.push(write(index).then((version) => ({ version: version ?? index, at: monotonicMs() })));
  }
  const written = (await Promise.all(writes)).sort((a, b) => a.version - b.version);
  const writingSeconds = (monotonicMs() - started) / 1_000;
  const patience = setTimeout(() => {
    for (const loader of loaders) loader.send('end');
  }, REST_DEADLINE_MS);
  const results = (await answers) as WatchResult[];
  clearTimeout(patience);
  const cpu = cpuMicroseconds(pid) - cpuBefore;
  const { delaysMs, lost } = compare(results, written, watchers);
  return {
    work: `${String(perSecond)} per second`,
    cpuPerDelivery: cpu / (watchers * PROCESSES * events),
    p50Ms: percentile(delaysMs, 0.5),
    p99Ms: percentile(delaysMs, 0.99),
    maxMs: percentile(delaysMs, 1),
    ended: results.reduce((sum, { ended }) => sum + ended, 0),
    lost,
    sentPerSecond: events / writingSeconds,
    queuedMs: undefined,
    refused: 0,
  };
}

function compare(
  results: readonly WatchResult[],
  written: readonly Written[],
  watchers: number,
): { readonly delaysMs: readonly number[]; readonly lost: number } {
  const delaysMs: number[] = [];
  let lost = 0;
  for (const { arrivals, versions, beyond } of results) {
    lost += beyond;
    for (const [event, { at, version }] of written.entries()) {
      for (let watcher = 0; watcher < watchers; watcher++) {
        const arrival = arrivals[event * watchers + watcher] ?? 0;
        if (arrival === 0) lost++;
        else delaysMs.push(Math.max(0, arrival - at));
      }
      // The limit server sends the same frame each time.
      if (version !== event && versions[event] !== String(version)) lost++;
    }
  }
  return { delaysMs, lost };
}

/** The server's metric of the stage `to_door`: the time of frames in the queues of watchers. */
function queueTime(metrics: string): { readonly seconds: number; readonly count: number } {
  const value = (suffix: string): number => {
    const start = `apiserver_watch_delay_seconds_${suffix}{`;
    const line = metrics
      .split('\n')
      .find((each) => each.startsWith(start) && each.includes('stage="to_door"'));
    return Number((line ?? '').split(' ').at(-1));
  };
  return { seconds: value('sum'), count: value('count') };
}
