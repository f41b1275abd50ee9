import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import type { StartedProcess } from './started-process';
import { describeExit } from './started-process';

export interface ReadinessOptions {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  readonly caFile: string;
  readonly token: string;
  readonly deadlineMs: number;
}

/** Resolves when `/readyz` returns 200. Throws with the last log lines when the program ends, or at the deadline. */
export async function waitUntilReady(program: StartedProcess, options: ReadinessOptions): Promise<void> {
  const deadline = Date.now() + options.deadlineMs;
  while (!(await isReady(options))) {
    if (program.hasExited()) {
      throw new Error(
        `${program.name} stopped with ${describeExit(await program.exited)}.${lastWords(program)}`,
      );
    }
    if (Date.now() > deadline) {
      throw new Error(
        `${program.name} was not ready after ${String(options.deadlineMs / 1000)} s.${lastWords(program)}`,
      );
    }
    await delay(POLL_INTERVAL_MS);
  }
}

const POLL_INTERVAL_MS = 20;
const PROBE_TIMEOUT_MS = 2_000;
const LAST_LINES = 10;

function isReady({ server, caFile, token }: ReadinessOptions): Promise<boolean> {
  if (!existsSync(caFile)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const probe = request(
      new URL('/readyz', server),
      {
        agent: false,
        ca: readFileSync(caFile),
        headers: { authorization: `Bearer ${token}` },
        timeout: PROBE_TIMEOUT_MS,
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => {
      resolve(false);
    });
    probe.end();
  });
}

function lastWords(program: StartedProcess): string {
  const lines = program.recentLines().slice(-LAST_LINES);
  return lines.length === 0 ? '' : ` Its last lines:\n  ${lines.join('\n  ')}`;
}
