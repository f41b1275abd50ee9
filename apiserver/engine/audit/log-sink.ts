import type { AuditEvent } from './event';
import type { Sink } from './sink';

/** An append-only file of lines. Calls must not overlap. */
export interface LineFile {
  /** Rejects if not all bytes were written. */
  append(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** The maximum of one write, which takes all waiting lines. */
const WRITE_CHARS_MAX = 1024 * 1024;
/** The maximum of lines that wait for a stuck disk. */
const QUEUE_CHARS_MAX = 64 * 1024 * 1024;
/** The time limit of a write; after it, its events count as lost, so that requests do not wait forever. */
const WRITE_MS_MAX = 30_000;

interface Entry {
  readonly lines: string;
  readonly settle: (error?: unknown) => void;
}

/** Writes events as lines. Events that arrive during a write are combined into the next one. */
export class LogSink implements Sink {
  readonly #file: LineFile;
  readonly #lineOf: (event: AuditEvent) => string;
  readonly #writeMsMax: number;
  readonly #queue: Entry[] = [];
  #queueChars = 0;
  #writing: Promise<void> | undefined;
  /** A late write; no other is started while it is pending. */
  #stuck: Promise<void> | undefined;

  constructor(file: LineFile, lineOf: (event: AuditEvent) => string, { writeMsMax = WRITE_MS_MAX } = {}) {
    this.#file = file;
    this.#lineOf = lineOf;
    this.#writeMsMax = writeMsMax;
  }

  async write(events: readonly AuditEvent[]): Promise<void> {
    const lines = events.map(this.#lineOf).join('');
    if (this.#queueChars + lines.length > QUEUE_CHARS_MAX) {
      throw new Error('the audit log is too slow: its buffer is full');
    }
    return new Promise((resolve, reject) => {
      const settle = (error?: unknown): void => {
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#queue.push({ lines, settle });
      this.#queueChars += lines.length;
      this.#writing ??= this.#drain();
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    if (this.#stuck === undefined) await this.#file.close();
  }

  async #drain(): Promise<void> {
    // Combine the events of this turn of the event loop.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#append(Buffer.from(group.map(({ lines }) => lines).join('')));
        for (const { settle } of group) settle();
      } catch (error) {
        for (const { settle } of group) settle(error);
      }
    }
    this.#writing = undefined;
  }

  async #append(bytes: Buffer): Promise<void> {
    if (this.#stuck !== undefined) throw new Error('an earlier write to the audit log is still pending');
    const written = this.#file.append(bytes);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const unstick = (): void => {
          this.#stuck = undefined;
        };
        this.#stuck = written.then(unstick, unstick);
        reject(new Error(`the audit log was not written within ${String(this.#writeMsMax)} ms`));
      }, this.#writeMsMax).unref();
    });
    try {
      await Promise.race([written, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #takeGroup(): readonly Entry[] {
    let chars = 0;
    let count = 0;
    for (const { lines } of this.#queue) {
      if (count > 0 && chars + lines.length > WRITE_CHARS_MAX) break;
      chars += lines.length;
      count += 1;
    }
    this.#queueChars -= chars;
    return this.#queue.splice(0, count);
  }
}
