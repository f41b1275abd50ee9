import { causeText } from '../admission/webhooks/call-text';
import type { ClusterReader } from '../admission/cluster-reader';
import { ConnectionError } from '../../shared/client/connection-error';
import { hostPort } from '../../shared/meta/host-port';
import type { BackendAnswer, BackendTls } from '../connect/backend-call';
import { callBackend } from '../connect/backend-call';
import type { ConnectCounts } from '../connect/connect-counts';
import { openConnections } from '../connect/connect-counts';
import type { ForwardedHeaders } from '../connect/forwarded-headers';
import { forwardedHeaders } from '../connect/forwarded-headers';
import { CONNECTIONS_MAX, DIAL_MS_MAX } from '../connect/limits';
import { proxiedAnswer, tunnelAnswer } from '../connect/proxied-answer';
import type { Answer, Exchange, UserInfo } from '../exchange/exchange';
import type { AggregatedService, AggregatedServices } from './aggregated-services';
import type { PlaceRules } from './service-place';
import { placeOf } from './service-place';

export interface AggregatorOptions extends PlaceRules {
  readonly services: AggregatedServices;
  /** Services and their endpoints, as the watch cache has them. */
  readonly newReading: () => Pick<ClusterReader, 'get'>;
  /** The certificate by which servers behind this one know that it is this one that says who asks. */
  readonly client: () => BackendTls;
  readonly counts: ConnectCounts;
}

const DISCOVERY_MS_MAX = 5_000;
const UNAVAILABLE = 503;

/** Leads requests for group versions that other servers answer for to these, as the user who asks. */
export class Aggregator {
  readonly #options: AggregatorOptions;

  constructor(options: AggregatorOptions) {
    this.#options = options;
  }

  get services(): AggregatedServices {
    return this.#options.services;
  }

  /** Undefined for a path that is this server's own. Whatever keeps the other server from answering is a 503 in plain text, as in v1.21. */
  async answer(exchange: Exchange): Promise<Answer | undefined> {
    // Segments count as for authorization, which finds another group behind an empty one.
    const [before, root, group = '', version = '', ...rest] = exchange.path.split('/');
    if (before !== '' || root !== 'apis' || group === '' || version === '') return undefined;
    const service = this.#options.services.find(group, version);
    if (service === undefined) return undefined;
    if (!service.isAvailable) return unavailable('service unavailable');
    const { counts } = this.#options;
    if (openConnections(counts) >= CONNECTIONS_MAX) {
      counts.refused += 1;
      return unavailable('too many connections lead through this server');
    }
    const answer = await this.#send(
      exchange,
      service,
      rest.every((each) => each === ''),
    );
    if (typeof answer === 'string') return unavailable(answer);
    exchange.whenOver(answer.end);
    return answer.is === 'upgraded' ? tunnelAnswer(answer) : proxiedAnswer(answer, undefined);
  }

  /** The answer of one path of a server, asked by this one itself; for checks. Throws an Error with what went wrong. */
  async ask(service: AggregatedService, path: string, user: UserInfo, signal: AbortSignal): Promise<number> {
    const place = placeOf(service, this.#options.newReading(), this.#options);
    const answer = await callBackend(
      {
        ...this.#callTo(service, place),
        method: 'GET',
        target: path,
        headers: { host: hostPort(place.serverName, place.port), ...userHeaders(user) },
        upgrade: false,
        dialMsMax: DISCOVERY_MS_MAX,
        headMsMax: DISCOVERY_MS_MAX,
        purpose: 'apiservice check',
      },
      this.#options.counts,
      signal,
    );
    answer.end();
    return answer.is === 'answer' ? answer.code : 101;
  }

  /** Text says why there is none. */
  async #send(
    exchange: Exchange,
    service: AggregatedService,
    isDiscovery: boolean,
  ): Promise<BackendAnswer | string> {
    let dialled = '';
    try {
      const place = placeOf(service, this.#options.newReading(), this.#options);
      dialled = hostPort(place.host, place.port);
      const { method, path, search = '', upgrade } = exchange;
      return await callBackend(
        {
          ...this.#callTo(service, place),
          method,
          target: search === '' ? path : `${path}?${search}`,
          headers: {
            ...withoutUser(forwardedHeaders(exchange)),
            ...userHeaders(exchange.user),
            host: hostPort(place.serverName, place.port),
          },
          body: exchange.bodyStream(),
          upgrade,
          dialMsMax: isDiscovery ? DISCOVERY_MS_MAX : DIAL_MS_MAX,
          headMsMax: isDiscovery ? DISCOVERY_MS_MAX : undefined,
          purpose: 'apiservice',
        },
        this.#options.counts,
        exchange.signal,
      );
    } catch (error) {
      if (exchange.signal.aborted) throw error;
      if (!(error instanceof ConnectionError)) return 'service unavailable';
      return `error trying to reach service: ${causeText(error, dialled)}`;
    }
  }

  #callTo(
    { authorities, isVerified }: AggregatedService,
    { host, port, serverName }: ReturnType<typeof placeOf>,
  ): {
    readonly scheme: 'https';
    readonly host: string;
    readonly port: number;
    readonly isChecked: false;
    readonly tls: BackendTls;
  } {
    const trust = authorities === '' ? {} : { ca: authorities };
    const verification = isVerified ? { ...trust, servername: serverName } : { rejectUnauthorized: false };
    return {
      scheme: 'https',
      host,
      port,
      isChecked: false,
      tls: { ...this.#options.client(), ...verification },
    };
  }
}

const USER = 'x-remote-user';
const GROUPS = 'x-remote-group';
const EXTRA = 'x-remote-extra-';

/** Nobody but this server says who asks. */
function withoutUser(headers: ForwardedHeaders): ForwardedHeaders {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name !== USER && name !== GROUPS && !name.startsWith(EXTRA)),
  );
}

function userHeaders({ name, groups, extra }: UserInfo): ForwardedHeaders {
  const extras = Object.entries(extra).map(([key, values]): [string, readonly string[]] => [
    `${EXTRA}${encodeURIComponent(key).toLowerCase()}`,
    values.map(latin1),
  ]);
  return { [USER]: latin1(name), [GROUPS]: groups.map(latin1), ...Object.fromEntries(extras) };
}

/** HTTP has one character for each byte of UTF-8. */
function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function unavailable(why: string): Answer {
  return {
    code: UNAVAILABLE,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
    body: Buffer.from(`${why}\n`),
  };
}
