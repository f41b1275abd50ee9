import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { guardProcess, releaseProcess } from '../../deploy/local/guard';
import type { Load, ProbeResult } from './messages';
import { preferProcess } from './process-cost';

/** A child process of the benchmark. */
export interface BenchProcess {
  readonly pid: number;
  send(message: Exclude<Parameters<ChildProcess['send']>[0], undefined>): void;
  /** The next message. Rejects if the process ends without one. */
  answer(): Promise<unknown>;
  kill(): void;
}

/** Starts one of the programs beside this file, with its first message. */
export function startProgram(program: 'load' | 'limit-server', first: object): BenchProcess {
  // Structured clones transfer arrays of numbers unchanged.
  const child = fork(path.join(__dirname, `${program}.js`), { serialization: 'advanced' });
  const pid = child.pid ?? 0;
  guardProcess(pid);
  child.once('exit', () => {
    releaseProcess(pid);
  });
  child.send(first);
  return {
    pid,
    send: (message) => {
      child.send(message);
    },
    answer: async () => nextMessage(child),
    kill: () => {
      child.kill('SIGKILL');
    },
  };
}

/** The observations of the probe since the last call. */
export async function tell(probe: BenchProcess): Promise<ProbeResult> {
  probe.send('tell');
  return (await probe.answer()) as ProbeResult;
}

/** Starts a load and waits until its connections are open. */
export async function startLoad(load: Load): Promise<BenchProcess> {
  const loader = startProgram('load', load);
  if ((await loader.answer()) !== 'ready') {
    throw new Error('The load process began with something else than its connections.');
  }
  preferProcess(loader.pid);
  return loader;
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const over = new AbortController();
  const ended = once(child, 'exit', { signal: over.signal }).then(() => {
    throw new Error('A process of the benchmark ended early; its reason is above.');
  });
  ended.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal: over.signal }), ended])) as [
      unknown,
    ];
    return message;
  } finally {
    over.abort();
  }
}
