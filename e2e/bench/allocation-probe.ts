/**
 * Loaded into the server before its own code (`node --require`), only by the benchmark of allocations. At SIGUSR2 it collects garbage and
 * records the used memory; at every second signal it writes the growth to the file ORCH_BENCH_PROBE_FILE. Without a collection in
 * between, the growth is exactly the allocated memory.
 */
import { writeFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Allocated } from './patch-allocations';

/** Memory outside of the heap is released shortly after the collection. */
const SETTLE_MS = 200;

const file = process.env['ORCH_BENCH_PROBE_FILE'] ?? '';
let collections = 0;
let before: { readonly heap: number; readonly outside: number } | undefined;

new PerformanceObserver((list) => (collections += list.getEntries().length)).observe({ entryTypes: ['gc'] });

async function note(): Promise<void> {
  if (before !== undefined) {
    const { heap, outside } = inUse();
    const allocated = { heap: heap - before.heap, outside: outside - before.outside };
    before = undefined;
    // Observers are notified shortly after a collection.
    await delay(SETTLE_MS);
    writeFileSync(file, JSON.stringify({ ...allocated, collections } satisfies Allocated));
    return;
  }
  for (let times = 0; times < 2; times++) {
    globalThis.gc?.();
    await delay(SETTLE_MS);
  }
  collections = 0;
  before = inUse();
  writeFileSync(file, JSON.stringify('ready'));
}

function inUse(): { readonly heap: number; readonly outside: number } {
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, outside: external };
}

process.on('SIGUSR2', () => {
  void note();
});
