import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { guardProcess, releaseProcess } from '../../deploy/local/guard';
import { repositoryRoot } from '../../deploy/local/repository';
import type { StormSize, Tenant } from './storm';

export interface StormOrder {
  readonly tenant: Tenant;
  readonly size: StormSize;
  /** The nice value of the process; by default the lowest priority. */
  readonly priority?: number;
}

/** The number of responses by status code; 0 for a broken connection. */
export type StormReport = readonly (readonly [code: number, times: number])[];

export interface StormProcess {
  readonly pid: number;
  /** Stops the load; returns the number of responses by status code. */
  stop(): Promise<ReadonlyMap<number, number>>;
}

/** Starts the load in a separate process of low priority. */
export function startStorm(order: StormOrder): StormProcess {
  const file = path.join(repositoryRoot, 'dist', 'e2e', 'support', 'storm-program.js');
  const child = fork(file, { detached: true, execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const pid = child.pid ?? 0;
  guardProcess(pid);
  child.once('exit', () => releaseProcess(pid));
  child.send(order);
  return {
    pid,
    async stop() {
      child.send('stop');
      const ended = once(child, 'exit').then(() => {
        throw new Error('the load process ended early; its output is above');
      });
      ended.catch(() => undefined);
      const [report] = (await Promise.race([once(child, 'message'), ended])) as [StormReport];
      return new Map(report);
    },
  };
}
