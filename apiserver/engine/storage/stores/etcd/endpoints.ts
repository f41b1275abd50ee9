import { performance } from 'node:perf_hooks';
import { sleep } from '../../../../../shared/concurrency/abort';
import { StorageError } from '../../backend';
import type { Tokens } from './auth';
import type { CallKind } from './errors';
import { isOutage, isRefusedByMember, isStaleToken, toStorageError } from './errors';
import type { Method, Transport } from '../../grpc/transport';
import { STATUS, TransportError } from '../../grpc/transport';

export interface EndpointsOptions {
  readonly endpoints: readonly string[];
  readonly connect: (endpoint: string) => Transport;
  readonly dialTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly tokens: Tokens | undefined;
}

export interface CallOptions {
  readonly kind: CallKind;
  readonly signal: AbortSignal;
}

const ROUND_PAUSE_MS = 200;
/** An endpoint may hang if the caller aborted after this long. */
const SUSPECT_MS = 1_000;

/**
 * One connection per endpoint, and unary calls over the one that worked last. A call goes to the next endpoint when it is certain
 * that the last one did nothing (no connection, or a member without a leader), and a repeatable call also when it failed half-way.
 * After a round over all of them it pauses and tries again until `callTimeoutMs` have passed.
 */
export class Endpoints {
  readonly #options: EndpointsOptions;
  readonly #transports: (Transport | undefined)[];
  #current = 0;
  #closed = false;

  constructor(options: EndpointsOptions) {
    if (options.endpoints.length === 0) throw new RangeError('At least one etcd endpoint is needed.');
    this.#options = options;
    this.#transports = options.endpoints.map(() => undefined);
  }

  /** Throws a StorageError, or the signal's reason when it aborted before anything was sent or when the call is repeatable. */
  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    { kind, signal }: CallOptions,
  ): Promise<Response> {
    const deadlineMs = performance.now() + this.#options.callTimeoutMs;
    let renewals = 0;
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted();
      if (this.#closed) throw new StorageError('closed', 'The client of etcd is closed.');
      const index = this.#current;
      const startMs = performance.now();
      const timeoutMs = this.#attemptTimeoutMs(deadlineMs - startMs, kind);
      try {
        return await this.#once(method, request, { index, startMs, timeoutMs, signal });
      } catch (error) {
        const isBad = signal.aborted ? performance.now() - startMs > SUSPECT_MS : isOutage(error);
        if (isBad) this.#leave(index);
        if (this.#closed && kind !== 'write') {
          throw new StorageError('closed', 'The client of etcd was closed.', { cause: error });
        }
        if (signal.aborted && (kind !== 'write' || isRefusedByMember(error))) throw signal.reason as Error;
        if (isStaleToken(error) && renewals++ === 0) {
          this.#options.tokens?.forget();
          continue;
        }
        const again = kind === 'write' ? isRefusedByMember(error) : isOutage(error);
        if (!again || performance.now() + ROUND_PAUSE_MS >= deadlineMs) throw toStorageError(error, kind);
        if (attempt % this.#transports.length === 0) await sleep(ROUND_PAUSE_MS, signal);
      }
    }
  }

  async #once<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    options: {
      readonly index: number;
      readonly startMs: number;
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<Response> {
    const { signal } = options;
    const transport = this.#transport(options.index);
    const connecting = transport.ready(Math.min(this.#options.dialTimeoutMs, options.timeoutMs), signal);
    if (connecting !== undefined) await connecting;
    const token =
      this.#options.tokens === undefined ? undefined : await this.#options.tokens.get(transport, signal);
    const timeoutMs = options.startMs + options.timeoutMs - performance.now();
    if (timeoutMs <= 0) {
      const details = 'The time for the call was used up before it was sent.';
      throw new TransportError({
        code: STATUS.deadlineExceeded,
        details,
        endpoint: transport.endpoint,
        mayHaveRun: false,
      });
    }
    return transport.unary(method, request, { timeoutMs, signal, token });
  }

  /** A member may hang, so a repeatable call keeps half of its time for another endpoint. */
  #attemptTimeoutMs(leftMs: number, kind: CallKind): number {
    return kind === 'repeatable' && this.#transports.length > 1 ? leftMs / 2 : leftMs;
  }

  /** Switches later calls to the next endpoint, unless another call already did. */
  #leave(index: number): void {
    if (index === this.#current) this.#current = (index + 1) % this.#transports.length;
  }

  #transport(index: number): Transport {
    const kept = this.#transports[index];
    if (kept !== undefined) return kept;
    const made = this.#options.connect(this.#options.endpoints[index] ?? '');
    this.#transports[index] = made;
    return made;
  }

  close(): void {
    this.#closed = true;
    for (const transport of this.#transports) transport?.close();
  }
}
