import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { guardProcess, releaseProcess } from '../../deploy/local/guard';
import { repositoryRoot } from '../../deploy/local/repository';
import type { StormSize, Tenant } from './storm';

export interface StormOrder {
  readonly tenant: Tenant;
  readonly size: StormSize;
  /** Of its process, as nice values; the lowest if not given. */
  readonly priority?: number;
}

/** How often each code came back; 0 for a broken connection. */
export type StormReport = readonly (readonly [code: number, times: number])[];

export interface StormProcess {
  readonly pid: number;
  /** Ends the storm, and tells how often each code came back. */
  stop(): Promise<ReadonlyMap<number, number>>;
}

/** Begins a storm in a process of its own, which yields to all others of the machine. */
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
        throw new Error('The storm has ended by itself; its reason is above.');
      });
      ended.catch(() => undefined);
      const [report] = (await Promise.race([once(child, 'message'), ended])) as [StormReport];
      return new Map(report);
    },
  };
}
