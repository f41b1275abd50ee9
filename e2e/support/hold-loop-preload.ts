import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into a server before its own code (`node --require`), by tests alone: at every SIGUSR2 it works on its event loop for longer than
 * any request may.
 */
const HOLD_MS = 700;

// Threads of the server load it as well.
if (isMainThread) process.on('SIGUSR2', hold);

function hold(): void {
  const over = process.cpuUsage().user + HOLD_MS * 1_000;
  while (process.cpuUsage().user < over);
}
