import type { MessagePort } from 'node:worker_threads';
import type {
  Backend,
  CreateOptions,
  DeleteOutcome,
  ListOptions,
  ListResult,
  Revision,
  StoredRecord,
  UpdateOptions,
  WatchOptions,
  WriteOutcome,
} from '../../backend';
import { StorageError } from '../../backend';
import type { CallName, FromStore, RemoteError, ToStore } from './messages';
import { portable, withBuffers } from './portable';

/** A caller that waits for a message. */
interface Waiting {
  readonly resolve: (message: FromStore) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The store at the other end of a message port (`serveBackend`): that of another thread. An abort ends the wait at once; as with any store, a
 * write may happen all the same, and then throws StorageError `unknown-outcome`. Closing it closes the port, and nothing else.
 */
export class RemoteBackend implements Backend {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, Waiting>();
  #isClosed = false;
  #calls = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: FromStore) => {
      this.#take(message);
    });
    port.on('close', () => {
      this.#end();
    });
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ record: StoredRecord | undefined; revision: number }> {
    return this.#call('get', [key], signal);
  }

  async list(prefix: string, options: ListOptions, signal: AbortSignal): Promise<ListResult> {
    return this.#call('list', [prefix, options], signal);
  }

  async create(
    key: string,
    value: Buffer,
    options: CreateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.#call('create', [key, value, options], signal);
  }

  async update(
    key: string,
    value: Buffer,
    options: UpdateOptions,
    signal: AbortSignal,
  ): Promise<WriteOutcome> {
    return this.#call('update', [key, value, options], signal);
  }

  async delete(key: string, expected: number, signal: AbortSignal): Promise<DeleteOutcome> {
    return this.#call('delete', [key, expected], signal);
  }

  async currentRevision(signal: AbortSignal): Promise<number> {
    return this.#call('currentRevision', [], signal);
  }

  async compact(revision: number, signal: AbortSignal): Promise<void> {
    return this.#call('compact', [revision], signal);
  }

  async *watch(options: WatchOptions, signal: AbortSignal): AsyncGenerator<readonly Revision[]> {
    if (signal.aborted) return;
    const id = this.#nextId();
    this.#send({ kind: 'watch', id, options });
    try {
      for (;;) {
        const message = await this.#ask({ kind: 'next', id }, signal);
        if (message.kind !== 'batch') return;
        yield message.batch;
      }
    } catch (error) {
      if (!signal.aborted && !this.#isClosed) throw error;
    } finally {
      if (!this.#isClosed) this.#send({ kind: 'abort', id });
    }
  }

  async close(): Promise<void> {
    this.#port.close();
    this.#end();
    return Promise.resolve();
  }

  async #call<T>(method: CallName, args: readonly unknown[], signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const id = this.#nextId();
    try {
      const message = await this.#ask({ kind: 'call', id, method, args }, signal);
      return (message as FromStore & { readonly kind: 'answer' }).value as T;
    } catch (error) {
      if (!signal.aborted) throw error;
      if (!this.#isClosed) this.#send({ kind: 'abort', id });
      if (!WRITES.has(method)) throw error;
      throw new StorageError('unknown-outcome', 'the caller left before the write was acknowledged', {
        cause: error,
      });
    }
  }

  #nextId(): number {
    if (this.#isClosed) throw closed();
    this.#calls += 1;
    return this.#calls;
  }

  /** Settles with the next message of this id. */
  async #ask(message: ToStore, signal: AbortSignal): Promise<FromStore> {
    signal.throwIfAborted();
    if (this.#isClosed) throw closed();
    const { id } = message;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise<FromStore>((resolve, reject) => {
        onAbort = (): void => reject(signal.reason);
        signal.addEventListener('abort', onAbort, { once: true });
        this.#waiting.set(id, { resolve, reject });
        this.#send(message);
      });
    } finally {
      this.#waiting.delete(id);
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    }
  }

  #send(message: ToStore): void {
    const transfers: ArrayBuffer[] = [];
    this.#port.postMessage(portable(message, transfers), transfers);
  }

  #take(message: FromStore): void {
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined) return;
    if (message.kind === 'error') waiting.reject(errorOf(message.error));
    else waiting.resolve(withBuffers(message) as FromStore);
  }

  #end(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(closed());
    this.#waiting.clear();
  }
}

const WRITES: ReadonlySet<CallName> = new Set(['create', 'update', 'delete']);

function closed(): StorageError {
  return new StorageError('closed', 'the store is closed');
}

function errorOf({ code, message, compactRevision }: RemoteError): Error {
  if (code === undefined) return new Error(message);
  return new StorageError(code, message, compactRevision === undefined ? {} : { compactRevision });
}
