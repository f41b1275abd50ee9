import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface AcknowledgedWrite {
  readonly revision: number;
  readonly key: string;
  readonly value: string | null;
}

/** A running writer process and what it has said so far. */
export class Writer {
  /** What its first line said: `open`, or the code of the error. */
  readonly opened: Promise<string>;
  readonly acknowledged: AcknowledgedWrite[] = [];
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #wake: () => void = () => undefined;

  constructor(program: string, directory: string, writers: number, mode: 'write' | 'compact' = 'write') {
    this.#child = spawn(process.execPath, [program, directory, String(writers), mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#exit = once(this.#child, 'close');
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('the writer has no standard output');
    const lines = createInterface({ input: stdout });
    const ended = this.#exit.then((): never => {
      throw new Error('the writer ended before it said anything');
    });
    this.opened = Promise.race([once(lines, 'line'), ended]).then(([line]) => {
      const report = JSON.parse(String(line)) as { readonly open: boolean; readonly code?: string };
      lines.on('line', (each) => {
        this.acknowledged.push(JSON.parse(each) as AcknowledgedWrite);
        this.#wake();
      });
      return report.open ? 'open' : String(report.code);
    });
  }

  async reach(count: number): Promise<void> {
    while (this.acknowledged.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** kill -9; resolves when everything it had said was read. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }
}
