import type { Log } from '../../../../../shared/log/log';
import { StorageError } from '../../backend';
import { Tokens } from './auth';
import { METHODS } from './codec';
import { Endpoints } from './endpoints';
import type { CallKind } from './errors';
import { http2TransportFactory } from '../../grpc/http2-transport';
import type {
  CompactionRequest,
  RangeRequest,
  RangeResponse,
  ResponseHeader,
  StatusResponse,
  TxnRequest,
  TxnResponse,
} from './proto';
import { clientTlsOf } from '../../../../../shared/client/tls-files';
import type { Transport } from '../../grpc/transport';

export interface EtcdOptions {
  /** URLs, e.g. `https://10.0.0.5:2379`; all of one scheme. */
  readonly endpoints: readonly string[];
  /** The prefix of all keys of orch, e.g. `/registry`; events of other keys are dropped before their values are decoded. */
  readonly prefix: string;
  /** PEM files, read again for each connection; `certFile` and `keyFile` go together. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly username?: string;
  readonly password?: string;
  /** How long one attempt to connect may take; 5 s by default. */
  readonly dialTimeoutMs?: number;
  /** How long one call may take, with all its attempts; 10 s by default. */
  readonly callTimeoutMs?: number;
  readonly log: Log;
}

const DIAL_TIMEOUT_MS = 5_000;
const CALL_TIMEOUT_MS = 10_000;

/**
 * The calls of etcd's API that orch uses, over several endpoints. Every method throws a StorageError for an outage or a refusal, and
 * the signal's reason when the caller aborted and the call changed nothing.
 */
export class EtcdClient {
  readonly prefix: string;
  readonly endpointUrls: readonly string[];
  readonly log: Log;
  readonly dialTimeoutMs: number;
  readonly tokens: Tokens | undefined;
  readonly identity = new ClusterIdentity();
  readonly endpoints: Endpoints;
  /** Makes a connection that the caller closes. */
  readonly connect: (endpoint: string) => Transport;

  /** Reads the PEM files; throws when one cannot be read. */
  constructor(options: EtcdOptions) {
    this.prefix = options.prefix;
    this.endpointUrls = options.endpoints.map(withScheme);
    this.log = options.log;
    this.dialTimeoutMs = options.dialTimeoutMs ?? DIAL_TIMEOUT_MS;
    this.connect = http2TransportFactory({
      clientTls: clientTlsOf(options, options.log),
      dialTimeoutMs: this.dialTimeoutMs,
    });
    const callTimeoutMs = options.callTimeoutMs ?? CALL_TIMEOUT_MS;
    this.tokens = makeTokens(options, callTimeoutMs);
    this.endpoints = new Endpoints({
      endpoints: this.endpointUrls,
      connect: this.connect,
      dialTimeoutMs: this.dialTimeoutMs,
      callTimeoutMs,
      tokens: this.tokens,
    });
  }

  /** A linearizable read. Throws `reset` when the store is another or an older one than before. */
  async range(request: RangeRequest, signal: AbortSignal): Promise<RangeResponse> {
    const seenBefore = this.identity.revision;
    const answer = await this.endpoints.call(METHODS.range, request, { kind: 'repeatable', signal });
    this.identity.check(answer.header, seenBefore);
    return answer;
  }

  /**
   * A transaction is a write, and never sent twice, unless the caller says that its repetition changes nothing. Throws
   * `unknown-outcome` when it met another or an older store than was known: the result is not valid for the store that the caller knew.
   */
  async txn(request: TxnRequest, signal: AbortSignal, kind: CallKind = 'write'): Promise<TxnResponse> {
    const seenBefore = this.identity.revision;
    const answer = await this.endpoints.call(METHODS.txn, request, { kind, signal });
    if (this.identity.contradicts(answer.header, seenBefore)) {
      throw new StorageError('unknown-outcome', 'etcd was replaced by another or an older store.');
    }
    this.identity.note(answer.header);
    return answer;
  }

  /** Compacts the history below `revision`. A repeated compaction is no error. */
  async compact(request: CompactionRequest, signal: AbortSignal): Promise<void> {
    try {
      await this.endpoints.call(METHODS.compact, request, { kind: 'repeatable', signal });
    } catch (error) {
      if (!(error instanceof StorageError) || error.code !== 'compacted') throw error;
    }
  }

  async status(signal: AbortSignal): Promise<StatusResponse> {
    return this.endpoints.call(METHODS.status, {}, { kind: 'repeatable', signal });
  }

  close(): void {
    this.endpoints.close();
  }
}

function withScheme(endpoint: string): string {
  return endpoint.includes('://') ? endpoint : `http://${endpoint}`;
}

function makeTokens(options: EtcdOptions, timeoutMs: number): Tokens | undefined {
  const { username, password, log } = options;
  if (username === undefined) return undefined;
  return new Tokens({ credentials: { username, password: password ?? '' }, timeoutMs, log });
}

/**
 * Tracks the cluster id and the newest revision of all answers. A linearizable answer is never older than an answer received before its
 * request, so an older one, or one of another cluster, means that the store was replaced or restored.
 */
class ClusterIdentity {
  #clusterId: string | undefined;
  #newest = 0;
  #resets = 0;

  /** Number of detected replacements of the store. */
  get resets(): number {
    return this.#resets;
  }

  /** The newest revision seen; read it before a request. */
  get revision(): number {
    return this.#newest;
  }

  /** Counts a replacement that was detected by other means than response headers. Returns the error to throw. */
  lost(message: string): StorageError {
    this.#resets += 1;
    return new StorageError('reset', message);
  }

  /** Whether a linearizable answer is from another or an older store than was known before the request. */
  contradicts(header: ResponseHeader, seenBefore: number): boolean {
    return this.#isOther(header) || header.revision < seenBefore;
  }

  /** Records a header that may be from a lagging member. */
  note(header: ResponseHeader): void {
    if (this.#isOther(header)) return;
    this.#clusterId = header.clusterId;
    if (header.revision > this.#newest) this.#newest = header.revision;
  }

  /**
   * Checks a linearizable answer against the state known before the request. Throws a StorageError `reset` once per change: the new
   * store is what later answers are compared with.
   */
  check(header: ResponseHeader, seenBefore: number): void {
    if (!this.contradicts(header, seenBefore)) {
      this.note(header);
      return;
    }
    const isOther = this.#isOther(header);
    const before = this.#newest;
    this.#clusterId = header.clusterId;
    this.#newest = header.revision;
    throw this.lost(
      isOther
        ? 'The endpoints now belong to another etcd cluster.'
        : `etcd went back from revision ${String(before)} to ${String(header.revision)}: it was restored from a backup.`,
    );
  }

  #isOther({ clusterId }: ResponseHeader): boolean {
    return this.#clusterId !== undefined && clusterId !== this.#clusterId;
  }
}
