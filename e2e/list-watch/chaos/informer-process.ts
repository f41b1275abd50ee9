import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { guardProcess, releaseProcess } from '../../../deploy/local/guard';
import { repositoryRoot } from '../../../deploy/local/repository';
import type { FinishInformers, StartInformers } from './informer-program';
import type { JournalReport } from './journal';

/** Informers in a separate process, so that they and the writers do not delay each other. */
export interface InformerProcess {
  /** Waits until every informer has reached the version of its view, ends the process, and returns the reports. */
  finish(versions: FinishInformers): Promise<readonly JournalReport[]>;
  kill(): void;
}

/** Starts `program`, one of the two in this folder; resolves when every informer has its first list. */
export async function startInformerProcess(
  program: 'own-informers' | 'client-node-informers',
  start: StartInformers,
): Promise<InformerProcess> {
  const file = path.join(repositoryRoot, 'dist', 'e2e', 'list-watch', 'chaos', `${program}.js`);
  const child = fork(file, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const { pid } = child;
  if (pid !== undefined) guardProcess(pid);
  child.once('exit', () => {
    if (pid !== undefined) releaseProcess(pid);
  });
  child.send(start);
  await answerOf(child);
  return {
    async finish(finish) {
      child.send(finish);
      const reports = (await answerOf(child)) as readonly JournalReport[];
      child.disconnect();
      return reports;
    },
    kill: () => {
      child.kill('SIGKILL');
    },
  };
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('an informer process ended early; its output is above');
  });
  ended.catch(() => undefined);
  try {
    const [answer] = (await Promise.race([once(child, 'message', { signal: over.signal }), ended])) as [
      unknown,
    ];
    return answer;
  } finally {
    over.abort();
  }
}
