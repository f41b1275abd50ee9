import { setTimeout as delay } from 'node:timers/promises';
import { type BenchProcess, startLoad } from './children';
import type { BurstResult, ProbeResult, Target } from './messages';
import { forgetPeak, memoryMegabytes } from './process-cost';
import { ACCEPT, type Bench, PODS, SIZES } from './rig';
import { megabytes, milliseconds, type Table } from './table';

const AT_ONCE = 10;
const BURSTS = 5;
const PAUSE_MS = 2_000;
/** The monitor of the loop is a timer: so much of what it says is its own period. */
const RESOLUTION_MS = 10;
const SETTLE_INTERVAL_MS = 500;
const SETTLE_STEPS_MAX = 30;
const SETTLED_MB = 1;

/** A server under test, whichever of the two. */
interface Side {
  readonly name: string;
  readonly pid: number;
  readonly target: Target;
  /** How long its event loop was held at most since this was asked last, in milliseconds. */
  readonly heldMs: () => Promise<number>;
}

/** What ten lists of everything at once add to the server's memory, and how long they hold its event loop. */
export async function measureListMemory(bench: Bench): Promise<Table> {
  const sides: readonly Side[] = [
    {
      name: 'orch',
      pid: bench.replica.process().pid,
      target: bench.target,
      heldMs: async () => lagOf((await bench.replica.client.get('/metrics')).text),
    },
    {
      name: 'limit',
      pid: bench.limit.pid,
      target: bench.limitTarget,
      heldMs: async () => {
        bench.limit.send('delay');
        return Number(await bench.limit.answer()) - RESOLUTION_MS;
      },
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
      'Added memory is the highest resident memory during the lists less what was resident before them. The loop is measured by Node itself (`monitorEventLoopDelay`), less the period of its timer; a ping is the smallest request, from a process of its own. Neighbours on the machine only ever add to both, and to the limit as well: the best of five is the nearest to what the server does by itself.',
    ],
  };
}

async function measure(
  side: Side,
  { accept, pauseMs }: { readonly accept: string; readonly pauseMs: number },
): Promise<string[]> {
  const { target, pid } = side;
  const burst = await startLoad({ kind: 'burst', target, path: PODS, accept, connections: AT_ONCE, pauseMs });
  const probe = await startLoad({ kind: 'probe', target });
  await side.heldMs();
  await settled(pid);
  const idleMs = await side.heldMs();
  await ask<ProbeResult>(probe, 'tell');
  const bursts: { addedMb: number; heldMs: number; tookMs: number; bytes: number }[] = [];
  for (let turn = 0; turn < BURSTS; turn++) {
    forgetPeak(pid);
    const before = memoryMegabytes(pid).now;
    await side.heldMs();
    const { bytes, tookMs } = await ask<BurstResult>(burst, 'go');
    const heldMs = await side.heldMs();
    bursts.push({ addedMb: memoryMegabytes(pid).peak - before, heldMs, tookMs, bytes });
  }
  const pings = await ask<ProbeResult>(probe, 'tell');
  burst.send('stop');
  probe.send('stop');
  const worst = (value: (burst: (typeof bursts)[number]) => number): number => Math.max(...bursts.map(value));
  return [
    megabytes(bursts[0]?.addedMb ?? Number.NaN),
    megabytes(worst(({ addedMb }) => addedMb)),
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

/** Waits until the process neither takes nor gives back memory, or has had its time. */
export async function settled(pid: number): Promise<number> {
  let before = memoryMegabytes(pid).now;
  for (let step = 0, still = 0; step < SETTLE_STEPS_MAX && still < 4; step++) {
    await delay(SETTLE_INTERVAL_MS);
    const { now } = memoryMegabytes(pid);
    still = Math.abs(now - before) < SETTLED_MB ? still + 1 : 0;
    before = now;
  }
  return before;
}

/** Asking begins a new time of measurement. */
function lagOf(metrics: string): number {
  const line = metrics.split('\n').find((each) => each.startsWith('nodejs_eventloop_lag_max_seconds '));
  return Number((line ?? '').split(' ').at(-1)) * 1_000 - RESOLUTION_MS;
}
