import { linkedAbort } from '../../../../../../shared/concurrency/linked-abort';
import type { Guard, Revision, WatchOptions } from '../../../backend';
import { StorageError } from '../../../backend';
import type { FaultyMemoryBackend } from '../../../testing/faulty-memory-backend';
import type { ReplaceableStore } from '../replaceable-store';

/** A store in memory that can be replaced during use; the only sign is that its revisions go back. */
export class ReplaceableMemory implements ReplaceableStore {
  #memory: FaultyMemoryBackend;
  #connection = new AbortController();
  #presumed: Guard | undefined;
  #resets = 0;
  #newest = 0;

  constructor(memory: FaultyMemoryBackend) {
    this.#memory = memory;
  }

  get resets(): number {
    return this.#resets;
  }

  /** Breaks every watch, as a restart of the store does; they resume on the other store. */
  replace(memory: FaultyMemoryBackend): void {
    this.#memory = memory;
    this.#connection.abort(new Error('the store was replaced'));
    this.#connection = new AbortController();
  }

  presume(record: Guard | undefined): void {
    this.#presumed = record;
  }

  async get(...call: Parameters<FaultyMemoryBackend['get']>): ReturnType<FaultyMemoryBackend['get']> {
    return this.#checked(async () => this.#memory.get(...call));
  }

  async list(...call: Parameters<FaultyMemoryBackend['list']>): ReturnType<FaultyMemoryBackend['list']> {
    if (call[1].revision !== undefined) return this.#memory.list(...call);
    return this.#checked(async () => this.#memory.list(...call));
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    const read = async (): Promise<{ revision: number }> => ({
      revision: await this.#memory.currentRevision(signal),
    });
    return (await this.#checked(read)).revision;
  }

  async create(
    ...call: Parameters<FaultyMemoryBackend['create']>
  ): ReturnType<FaultyMemoryBackend['create']> {
    await this.#checkPresumed(call[3]);
    return this.#noted(await this.#memory.create(...call));
  }

  async update(
    ...call: Parameters<FaultyMemoryBackend['update']>
  ): ReturnType<FaultyMemoryBackend['update']> {
    await this.#checkPresumed(call[3]);
    return this.#noted(await this.#memory.update(...call));
  }

  async delete(
    ...call: Parameters<FaultyMemoryBackend['delete']>
  ): ReturnType<FaultyMemoryBackend['delete']> {
    await this.#checkPresumed(call[2]);
    return this.#noted(await this.#memory.delete(...call));
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    let { from } = options;
    while (!signal.aborted) {
      const { signal: whileConnected, unlink } = linkedAbort(signal, this.#connection.signal);
      const memory = this.#memory;
      try {
        await this.#checkPresumed(signal);
        for await (const batch of memory.watch({ ...options, from }, whileConnected)) {
          if (memory !== this.#memory) break;
          from = (batch.at(-1)?.revision ?? from) + 1;
          this.#newest = Math.max(this.#newest, from - 1);
          yield batch;
        }
      } finally {
        unlink();
      }
      if (memory === this.#memory) return;
    }
  }

  async compact(...call: Parameters<FaultyMemoryBackend['compact']>): Promise<void> {
    await this.#memory.compact(...call);
  }

  async close(): Promise<void> {
    await this.#memory.close();
  }

  #noted<T extends { readonly revision: number }>(answer: T): T {
    this.#newest = Math.max(this.#newest, answer.revision);
    return answer;
  }

  async #checked<T extends { readonly revision: number }>(read: () => Promise<T>): Promise<T> {
    const before = this.#newest;
    const answer = await read();
    if (answer.revision >= before) return this.#noted(answer);
    this.#newest = answer.revision;
    throw this.#reset('the store went back');
  }

  async #checkPresumed(signal: AbortSignal): Promise<void> {
    const presumed = this.#presumed;
    if (presumed === undefined) return;
    const { record } = await this.#memory.get(presumed.key, signal);
    if (record?.revision !== presumed.revision) throw this.#reset('the store is another one');
  }

  #reset(message: string): StorageError {
    this.#resets += 1;
    return new StorageError('reset', message);
  }
}
