import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { guardProcess, releaseProcess } from '../../deploy/local/guard';
import type { Load, ProbeResult } from './messages';
import { preferProcess } from './process-cost';

/** A process of the benchmark's own. */
export interface BenchProcess {
  readonly pid: number;
  send(message: Exclude<Parameters<ChildProcess['send']>[0], undefined>): void;
  /** The next message. Rejects when the process ends without a word. */
  answer(): Promise<unknown>;
  kill(): void;
}

/** Starts one of the programs beside this file, with its first message. */
export function startProgram(program: 'load' | 'limit-server', first: object): BenchProcess {
  // Structured clones, so that arrays of numbers travel as they are.
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

/** What the probe has found since it was asked last. */
export async function tell(probe: BenchProcess): Promise<ProbeResult> {
  probe.send('tell');
  return (await probe.answer()) as ProbeResult;
}

/** Starts a load and waits until its connections stand. */
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
