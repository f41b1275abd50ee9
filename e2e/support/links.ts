import { fork } from 'node:child_process';
import path from 'node:path';
import { guardProcess, releaseProcess } from '../../deploy/local/guard';
import { LOOPBACK } from '../../deploy/local/ports';
import { repositoryRoot } from '../../deploy/local/repository';

/**
 * `cut`: every connection is reset, and new ones are refused. `silent`: connections stay, and no data is forwarded. `slow`: data
 * is delayed by this time.
 */
export type LinkState =
  | { readonly kind: 'whole' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'slow'; readonly delayMs: number };

export type LinkCommand = { readonly id: number; readonly name: string } & (
  { readonly kind: 'open'; readonly targetPort: number } | { readonly kind: 'set'; readonly state: LinkState }
);

export interface LinkAnswer {
  readonly id: number;
  readonly port: number;
}

/** Connections between the programs of a set that a test can cut and slow down, by name: `from > to`. */
export interface Links {
  /** Creates a link to `url`; returns its address. */
  through(from: string, to: string, url: string): Promise<string>;
  /** Resolves when the state is in effect. */
  set(name: string, state: LinkState): Promise<void>;
  /** The names of all links in order of creation. */
  names(): readonly string[];
  stop(): void;
}

/** Links run in a separate process, so that they and the test do not delay each other. */
export function startLinks(): Links {
  const file = path.join(repositoryRoot, 'dist', 'e2e', 'support', 'links-program.js');
  const child = fork(file, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const { pid } = child;
  if (pid !== undefined) guardProcess(pid);
  const waiting = new Map<number, { resolve: (port: number) => void; reject: (error: Error) => void }>();
  child.once('exit', () => {
    if (pid !== undefined) releaseProcess(pid);
    for (const { reject } of waiting.values()) reject(new Error('the links process has ended'));
    waiting.clear();
  });
  child.on('message', ({ id, port }: LinkAnswer) => {
    waiting.get(id)?.resolve(port);
    waiting.delete(id);
  });
  const names: string[] = [];
  let count = 0;
  const ask = async (command: DistributiveOmit<LinkCommand, 'id'>): Promise<number> => {
    const id = count++;
    return new Promise((resolve, reject) => {
      if (child.exitCode !== null || !child.connected) {
        reject(new Error('the links process has ended'));
        return;
      }
      waiting.set(id, { resolve, reject });
      child.send({ ...command, id });
    });
  };
  return {
    async through(from, to, url) {
      const name = `${from} > ${to}`;
      const port = await ask({ kind: 'open', name, targetPort: Number(new URL(url).port) });
      names.push(name);
      return `${new URL(url).protocol}//${LOOPBACK}:${String(port)}`;
    },
    async set(name, state) {
      await ask({ kind: 'set', name, state });
    },
    names: () => names,
    stop: () => {
      if (child.connected) child.disconnect();
    },
  };
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
