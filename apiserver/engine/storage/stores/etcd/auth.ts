import { METHODS } from './codec';
import type { Transport } from '../../grpc/transport';
import { TransportError } from '../../grpc/transport';
import type { Log } from '../../../../../shared/log/log';

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * The token of etcd's user and password authentication, fetched once (single-flight) and shared until a call finds it stale. Where authentication
 * is not enabled on the server the token stays undefined, as with etcd's own clients.
 */
export class Tokens {
  readonly #credentials: Credentials;
  readonly #timeoutMs: number;
  readonly #log: Log;
  #pending: Promise<string | undefined> | undefined;

  constructor(options: { readonly credentials: Credentials; readonly timeoutMs: number; readonly log: Log }) {
    this.#credentials = options.credentials;
    this.#timeoutMs = options.timeoutMs;
    this.#log = options.log;
  }

  /** Throws a TransportError whose `mayHaveRun` is false when the server could not be asked: the call that wanted the token did nothing. */
  async get(transport: Transport, signal: AbortSignal): Promise<string | undefined> {
    this.#pending ??= this.#fetch(transport, signal);
    const mine = this.#pending;
    try {
      return await mine;
    } catch (error) {
      if (this.#pending === mine) this.#pending = undefined;
      throw error;
    }
  }

  /** The next `get` asks the server again. */
  forget(): void {
    this.#pending = undefined;
  }

  async #fetch(transport: Transport, signal: AbortSignal): Promise<string | undefined> {
    const request = { name: this.#credentials.username, password: this.#credentials.password };
    const options = { timeoutMs: this.#timeoutMs, signal };
    try {
      const answer = await transport.unary(METHODS.authenticate, request, options);
      return answer.token;
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      if (/authentication is not enabled/.test(error.details)) {
        this.#log.warn(
          { endpoint: error.endpoint },
          'etcd has authentication disabled; the user name is not used',
        );
        return undefined;
      }
      const { code, details, endpoint } = error;
      throw new TransportError({ code, details, endpoint, mayHaveRun: false });
    }
  }
}
