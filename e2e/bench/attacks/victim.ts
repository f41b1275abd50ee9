import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { Target } from '../messages';

/** The namespace in which the attacker may do everything except escalate. */
export const NOISY = 'noisy';

export interface Request {
  readonly method?: string;
  readonly path: string;
  /** In addition to the credentials of the attacker, or instead of them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly isAnonymous?: true;
  /** An object is sent as JSON. */
  readonly body?: Buffer | object;
}

/** The TLS options of a client. */
interface ClientSide {
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** `h2` is HTTP/2. */
  readonly ALPNProtocols?: string[];
}

const SOCKETS_MAX = 256;

/** The attacker's client, with the answers so far. */
export class Victim {
  /** The number of answers by code; 0 is a broken connection. */
  readonly codes = new Map<number, number>();
  /** A folder for the files of attacks. */
  readonly dir: string;
  readonly #target: Target;
  readonly #ca: Buffer;
  readonly #agent: Agent;

  constructor(target: Target, dir: string) {
    this.dir = dir;
    this.#target = target;
    this.#ca = readFileSync(target.caFile);
    this.#agent = new Agent({ keepAlive: true, ca: this.#ca, maxSockets: SOCKETS_MAX });
  }

  get authorization(): string {
    return `Bearer ${this.#target.token}`;
  }

  count(code: number, times = 1): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + times);
  }

  /** Resolves with the code, which is counted, after the whole answer. */
  async ask(
    { method = 'GET', path, headers = {}, isAnonymous, body }: Request,
    signal: AbortSignal,
  ): Promise<number> {
    const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const who = isAnonymous === true ? {} : { authorization: this.authorization };
    const type = bytes === undefined ? {} : { 'content-type': 'application/json' };
    const code = await new Promise<number>((resolve) => {
      const sent = request(
        new URL(path, this.#target.server),
        {
          agent: this.#agent,
          method,
          signal,
          headers: { ...who, ...type, ...headers },
        },
        (answer: IncomingMessage) => {
          answer.resume();
          answer.once('end', () => resolve(answer.statusCode ?? 0));
          answer.once('error', () => resolve(0));
        },
      );
      sent.once('error', () => resolve(0));
      sent.end(bytes);
    });
    if (!signal.aborted) this.count(code);
    return code;
  }

  /** A separate connection for raw bytes; its errors are ignored. */
  connect(client: ClientSide = {}): TLSSocket {
    const { hostname, port } = new URL(this.#target.server);
    const socket = connect({ host: hostname, port: Number(port), ca: this.#ca, ...client });
    socket.on('error', () => undefined);
    return socket;
  }

  close(): void {
    this.#agent.destroy();
  }
}
