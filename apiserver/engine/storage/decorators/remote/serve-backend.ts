import type { MessagePort } from 'node:worker_threads';
import { LightSignal } from '../../../../../shared/concurrency/light-signal';
import type { Backend, Revision } from '../../backend';
import { StorageError } from '../../backend';
import type { FromStore, RemoteError, ToStore } from './messages';
import { portable, withBuffers } from './portable';

/** Serves the backend to the other end of the port. When the port is closed, its calls and watches are aborted. */
export function serveBackend(backend: Backend, port: MessagePort): void {
  const served = new Served(backend, port);
  port.on('message', (message: ToStore) => served.take(message));
  port.on('close', () => served.close());
}

interface Watch {
  readonly signal: LightSignal;
  readonly batches: AsyncIterator<readonly Revision[]>;
}

class Served {
  readonly #backend: Backend;
  readonly #port: MessagePort;
  readonly #calls = new Map<number, LightSignal>();
  readonly #watches = new Map<number, Watch>();

  constructor(backend: Backend, port: MessagePort) {
    this.#backend = backend;
    this.#port = port;
  }

  take(message: ToStore): void {
    const { id } = message;
    if (message.kind === 'call') void this.#call(message);
    else if (message.kind === 'watch') this.#watch(message);
    else if (message.kind === 'next') void this.#next(id);
    else this.#abort(id);
  }

  close(): void {
    for (const id of [...this.#calls.keys(), ...this.#watches.keys()]) this.#abort(id);
  }

  async #call({ id, method, args }: ToStore & { readonly kind: 'call' }): Promise<void> {
    const signal = new LightSignal();
    this.#calls.set(id, signal);
    const given = [...(withBuffers(args) as readonly unknown[]), signal];
    try {
      const run = this.#backend[method] as (...args: readonly unknown[]) => Promise<unknown>;
      const value = await run.apply(this.#backend, given);
      this.#send({ kind: 'answer', id, value });
    } catch (error) {
      this.#send({ kind: 'error', id, error: remoteErrorOf(error) });
    } finally {
      this.#calls.delete(id);
    }
  }

  #watch({ id, options }: ToStore & { readonly kind: 'watch' }): void {
    const signal = new LightSignal();
    const batches = this.#backend.watch(options, signal)[Symbol.asyncIterator]();
    this.#watches.set(id, { signal, batches });
  }

  async #next(id: number): Promise<void> {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    try {
      const step = await watch.batches.next();
      if (step.done !== true) {
        this.#send({ kind: 'batch', id, batch: step.value });
        return;
      }
      this.#send({ kind: 'end', id });
    } catch (error) {
      this.#send({ kind: 'error', id, error: remoteErrorOf(error) });
    }
    this.#watches.delete(id);
  }

  #abort(id: number): void {
    const reason = new Error('the other end of the store aborted the call');
    this.#calls.get(id)?.abort(reason);
    const watch = this.#watches.get(id);
    watch?.signal.abort(reason);
    // A watch between two batches does not observe the signal.
    watch?.batches.return?.().catch(() => undefined);
    this.#watches.delete(id);
  }

  #send(message: FromStore): void {
    const transfers: ArrayBuffer[] = [];
    this.#port.postMessage(portable(message, transfers), transfers);
  }
}

function remoteErrorOf(error: unknown): RemoteError {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof StorageError)) return { code: undefined, message, compactRevision: undefined };
  return { code: error.code, message, compactRevision: error.compactRevision };
}
