import { setTimeout as delay } from 'node:timers/promises';
import { askProbe } from './ask-probe';
import type { BenchProcess } from './children';
import { startLoad } from './children';
import type { LoopFigures } from './loop-probe';
import type { BurstResult, ProbeResult, Target } from './messages';
import { forgetPeak, memoryAtRest, memoryMegabytes } from './process-cost';
import type { Bench } from './rig';
import { ACCEPT, PODS, SIZES } from './rig';
import type { Table } from './table';
import { megabytes, milliseconds } from './table';

const AT_ONCE = 10;
const BURSTS = 5;
const PAUSE_MS = 2_000;
/** The time before the lists in which the server receives pings only. */
const IDLE_MS = 15_000;

/** One of the two servers under test. */
interface Side {
  readonly name: string;
  readonly pid: number;
  readonly target: Target;
  /** Begins to observe the event loop, or returns the observations since then. */
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<LoopFigures>;
}

/** Measures the memory that ten concurrent lists of everything add, and how long they block the event loop. */
export async function measureListMemory(bench: Bench): Promise<Table> {
  const sides: readonly Side[] = [
    {
      name: 'orch',
      pid: bench.replica.process().pid,
      target: bench.target,
      begin: async () => {
        await askProbe(bench.replica.process(), bench.loopFile);
      },
      end: async () => (await askProbe(bench.replica.process(), bench.loopFile)) as LoopFigures,
    },
    {
      name: 'limit',
      pid: bench.limit.pid,
      target: bench.limitTarget,
      begin: async () => {
        await ask<unknown>(bench.limit, 'begin');
      },
      end: async () => ask<LoopFigures>(bench.limit, 'end'),
    },
  ];
  const works = [
    { work: 'readers as fast as they can', accept: ACCEPT.json, pauseMs: 0 },
    { work: `readers that stop for ${String(PAUSE_MS / 1_000)} s`, accept: ACCEPT.json, pauseMs: PAUSE_MS },
    { work: 'the same as Table', accept: ACCEPT.table, pauseMs: 0 },
    { work: 'the same as Protobuf', accept: ACCEPT.protobuf, pauseMs: 0 },
  ];
  const rows: string[][] = [];
  for (const work of works)
    for (const side of sides) rows.push([work.work, side.name, ...(await measure(side, work))]);
  return {
    title: `Ten lists of ${String(SIZES.objects)} pods at once`,
    header: [
      'work',
      'server',
      'added memory, first time',
      'worst of five',
      'worked in one go at most, worst of five',
      'loop held at most, best of five',
      'worst of five',
      'loop held while idle',
      'ping p99',
      'ping at most',
      'answered after',
      'bytes',
    ],
    rows,
    notes: [
      'Added memory is the highest resident memory during the lists less what was resident before them. The loop is watched by a timer in the server: it is held while the server works without a pause, and also while it waits for a core that somebody else has; only the former is its own doing. A ping is the smallest request, from a process of its own.',
    ],
  };
}

async function measure(
  side: Side,
  { accept, pauseMs }: { readonly accept: string; readonly pauseMs: number },
): Promise<string[]> {
  const { target, pid } = side;
  const burst = await startLoad({ kind: 'burst', target, path: PODS, accept, connections: AT_ONCE, pauseMs });
  await memoryAtRest(pid);
  const probe = await startLoad({ kind: 'probe', target });
  await side.begin();
  await delay(IDLE_MS);
  const idleMs = (await side.end()).heldMs;
  await ask<ProbeResult>(probe, 'tell');
  const bursts: (LoopFigures & { addedMb: number; tookMs: number; bytes: number })[] = [];
  for (let turn = 0; turn < BURSTS; turn++) {
    forgetPeak(pid);
    const before = memoryMegabytes(pid).now;
    await side.begin();
    const { bytes, tookMs } = await ask<BurstResult>(burst, 'go');
    const loop = await side.end();
    bursts.push({ ...loop, addedMb: memoryMegabytes(pid).peak - before, tookMs, bytes });
  }
  const pings = await ask<ProbeResult>(probe, 'tell');
  burst.send('stop');
  probe.send('stop');
  const worst = (value: (burst: (typeof bursts)[number]) => number): number => Math.max(...bursts.map(value));
  return [
    megabytes(bursts[0]?.addedMb ?? Number.NaN),
    megabytes(worst(({ addedMb }) => addedMb)),
    milliseconds(worst(({ workedMs }) => workedMs)),
    milliseconds(Math.min(...bursts.map(({ heldMs }) => heldMs))),
    milliseconds(worst(({ heldMs }) => heldMs)),
    milliseconds(idleMs),
    milliseconds(pings.p99Ms),
    milliseconds(pings.maxMs),
    milliseconds(worst(({ tookMs }) => tookMs)),
    megabytes((bursts[0]?.bytes ?? 0) / 1024 / 1024),
  ];
}

async function ask<T>(child: BenchProcess, word: string): Promise<T> {
  child.send(word);
  return (await child.answer()) as T;
}
