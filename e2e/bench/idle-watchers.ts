import { startLoad } from './children';
import type { Target, WatchResult } from './messages';
import { memoryAtRest } from './process-cost';
import type { Bench } from './rig';
import { FAN_OUT, SIZES } from './rig';
import type { Table } from './table';

const PROCESSES = 2;

/** Measures the memory of an idle watch over TLS. */
export async function measureIdleWatchers(bench: Bench): Promise<Table> {
  const { body } = await bench.replica.client.get(`${FAN_OUT}?limit=1`);
  // From the current version; otherwise existing objects would be sent to each first.
  const path = `${FAN_OUT}?watch=true&resourceVersion=${body.metadata?.resourceVersion ?? ''}`;
  const ours = await perWatcherKb(bench.replica.process().pid, bench.target, path);
  const limit = await perWatcherKb(bench.limit.pid, bench.limitTarget, path);
  return {
    title: `${String(SIZES.idleWatchers)} idle watchers`,
    header: ['work', 'memory per watcher', 'limit', 'beyond the limit'],
    rows: [['an idle watch over TLS', kb(ours), kb(limit), kb(ours - limit)]],
  };
}

async function perWatcherKb(pid: number, target: Target, path: string): Promise<number> {
  const before = await memoryAtRest(pid);
  const watchers = Math.floor(SIZES.idleWatchers / PROCESSES);
  const loaders = [];
  for (let index = 0; index < PROCESSES; index++) {
    loaders.push(await startLoad({ kind: 'watches', target, path, watchers, events: 0 }));
  }
  const after = await memoryAtRest(pid);
  for (const loader of loaders) loader.send('end');
  const results = (await Promise.all(loaders.map(async (loader) => loader.answer()))) as WatchResult[];
  const ended = results.reduce((sum, result) => sum + result.ended, 0);
  if (ended > 0) throw new Error(`${String(ended)} idle watches were ended.`);
  return ((after - before) * 1024) / (watchers * PROCESSES);
}

function kb(value: number): string {
  return `${value.toFixed(1)} KB`;
}
