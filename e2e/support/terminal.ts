import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { guardProcess } from '../../deploy/local/guard';
import { repositoryRoot } from '../../deploy/local/repository';
import { eventually } from '../../shared/testing/eventually';

const READY = /^orch: ready at (https:\/\/\S+)$/u;

/** Runs a command as a person does: in the foreground process group of a terminal, so that Ctrl-C reaches all of its processes. */
export class Terminal {
  readonly lines: string[] = [];
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(command: string, args: readonly string[]) {
    this.#child = spawn(command, args, {
      cwd: repositoryRoot,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ORCH_DIALECT: undefined },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => this.lines.push(line));
    }
    this.ended = once(this.#child, 'close').then(([code]: unknown[]) => code as number | null);
    if (this.#child.pid !== undefined) guardProcess(this.#child.pid);
  }

  async ready(): Promise<string> {
    await eventually(
      'the command prints its address',
      async () => this.#server() !== undefined || this.#hasEnded(),
    );
    const server = this.#server();
    if (server === undefined) throw new Error(`the command ended:\n${this.lines.join('\n')}`);
    return server;
  }

  async pressCtrlC(): Promise<void> {
    if (this.#child.pid !== undefined && !this.#hasEnded()) process.kill(-this.#child.pid, 'SIGINT');
    await this.ended;
  }

  /** Sends a signal to the command alone, not to its children, and resolves when it and all that write to its output have ended. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal);
    await this.ended;
  }

  #server(): string | undefined {
    return this.lines.map((line) => READY.exec(line)?.[1]).find((found) => found !== undefined);
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
