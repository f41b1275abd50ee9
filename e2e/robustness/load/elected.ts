import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import path from 'node:path';
import { guardProcess, releaseProcess } from '../../../deploy/local/guard';
import { repositoryRoot } from '../../../deploy/local/repository';
import type { LeaderNote } from '../record/operation';

/** One candidate of an election, in a process that can be frozen and killed. */
export interface Candidate {
  readonly name: string;
  start(): void;
  signal(name: NodeJS.Signals): void;
  stop(): void;
}

export interface CandidateOptions {
  readonly name: string;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly nodeFlags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly onNote: (note: LeaderNote) => void;
}

/** Starts the candidate immediately. */
export function startCandidate(options: CandidateOptions): Candidate {
  const { name, kubeconfig, namespace, nodeFlags, env, onNote } = options;
  const file = path.join(repositoryRoot, 'dist', 'e2e', 'robustness', 'load', 'elected-program.js');
  let child: ChildProcess | undefined;
  const start = (): void => {
    const started = fork(file, [name, kubeconfig, namespace], {
      execArgv: [...nodeFlags],
      env: { ...process.env, ORCH_DIALECT: 'kubernetes', ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    child = started;
    const { pid } = started;
    if (pid !== undefined) guardProcess(pid);
    started.once('exit', () => {
      if (pid !== undefined) releaseProcess(pid);
    });
    started.on('message', onNote);
  };
  start();
  return {
    name,
    start,
    signal: (signal) => {
      child?.kill(signal);
    },
    stop: () => {
      child?.kill('SIGKILL');
    },
  };
}
