import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { StartedProcess } from '../../deploy/local/started-process';

const DEADLINE_MS = 10_000;
const POLL_MS = 20;

/** Signals a probe in a server (`node --require`) and resolves with the content of its output file. Rejects after `deadlineMs`. */
export async function askProbe(
  program: Pick<StartedProcess, 'signal'>,
  file: string,
  deadlineMs = DEADLINE_MS,
): Promise<unknown> {
  rmSync(file, { force: true });
  program.signal('SIGUSR2');
  const deadline = performance.now() + deadlineMs;
  while (performance.now() < deadline) {
    await delay(POLL_MS);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text !== '') return JSON.parse(text) as unknown;
  }
  throw new Error('The probe in the server does not answer.');
}
