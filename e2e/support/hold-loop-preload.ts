import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a server before its own code (`node --require`), by tests only: every SIGUSR2 blocks the event loop for longer than any request
 * may.
 */
const HOLD_MS = 700;

// Worker threads of the server load this file too.
if (isMainThread) process.on('SIGUSR2', hold);

function hold(): void {
  const over = process.cpuUsage().user + HOLD_MS * 1_000;
  while (process.cpuUsage().user < over);
}
