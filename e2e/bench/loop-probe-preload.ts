/**
 * Loaded into the server before its own code (`node --require`), by the benchmarks only. At SIGUSR2 it begins to observe the event loop
 * and confirms that in the file ORCH_BENCH_LOOP_FILE; at the next signal it writes the observations there and stops.
 */
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { LoopProbe } from './loop-probe';

const probe = new LoopProbe();
let isWatching = false;

// Worker threads load it as well.
if (isMainThread) process.on('SIGUSR2', toggle);

function toggle(): void {
  isWatching = !isWatching;
  if (isWatching) probe.begin();
  const answer = isWatching ? 'ready' : probe.end();
  writeFileSync(process.env['ORCH_BENCH_LOOP_FILE'] ?? '', JSON.stringify(answer));
}
