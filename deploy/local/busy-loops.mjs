/** Background load for `npm run test:loaded`. */
import os from 'node:os';
import { Worker } from 'node:worker_threads';

const LOOPS_PER_CORE = 2;

/** Starts two busy threads per core, which run until `end` is called or this process exits. */
export function startBusyLoops() {
  const count = LOOPS_PER_CORE * os.availableParallelism();
  const loops = Array.from({ length: count }, () => new Worker('for (;;);', { eval: true }));
  for (const loop of loops) loop.unref();
  return { count, end: async () => Promise.all(loops.map(async (loop) => loop.terminate())) };
}
