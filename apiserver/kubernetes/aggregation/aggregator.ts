import { causeText } from '../../engine/remote/call-text';
import type { ClusterReader } from '../admission/cluster-reader';
import { ConnectionError } from '../../../shared/client/connection-error';
import { hostPort } from '../../../shared/meta/ip-address';
import { MEDIA_TYPE } from '../../../shared/names';
import type { BackendAnswer, BackendTls } from '../../engine/proxy/backend-call';
import { callBackend } from '../../engine/proxy/backend-call';
import type { ConnectCounts } from '../../engine/proxy/connect-counts';
import { openConnections } from '../../engine/proxy/connect-counts';
import type { ForwardedHeaders } from '../../engine/proxy/forwarded-headers';
import { forwardedHeaders } from '../../engine/proxy/forwarded-headers';
import { CONNECTIONS_MAX, DIAL_MS_MAX } from '../../engine/proxy/limits';
import { proxiedAnswer, tunnelAnswer } from '../../engine/proxy/proxied-answer';
import type { Answer, Exchange, UserInfo } from '../../engine/request/exchange';
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

/** In the core group there is no other. */
const CORE_VERSION = 'v1';
/** What stands before the first slash, and `api` or `apis`. */
const SEGMENTS_BEFORE_GROUP = 2;
/** The group and the version, or the version alone. */
const DISCOVERY_SEGMENTS = 2;
const DISCOVERY_MS_MAX = 5_000;
const DOCUMENT_BYTES_MAX = 8 * 1024 * 1024;
const UNAVAILABLE = 503;
const SWITCHING_PROTOCOLS = 101;

/** What this server itself wants to read of one behind it. */
export interface DocumentRequest {
  readonly path: string;
  /** Of what is known already; empty where nothing is. */
  readonly etag: string;
  readonly user: UserInfo;
}

export interface ReadDocument {
  readonly code: number;
  /** Empty where there is none. */
  readonly etag: string;
  readonly body: Buffer;
}

/** Leads requests for group versions that other servers answer for to these, as the user who asks. */
export class Aggregator {
  readonly #options: AggregatorOptions;

  constructor(options: AggregatorOptions) {
    this.#options = options;
  }

  get services(): AggregatedServices {
    return this.#options.services;
  }

  /** Whose path it is; undefined for one that is this server's own. */
  serviceFor(path: string): AggregatedService | undefined {
    if (this.services.areNone) return undefined;
    // Segments count as for authorization, which finds another group behind an empty one.
    const [before, root = '', group = '', version = ''] = path.split('/');
    if (before !== '') return undefined;
    const { services } = this.#options;
    // The whole of the core group is one version, discovery included.
    if (root === 'api') return services.find('', CORE_VERSION);
    return root === 'apis' && group !== '' && version !== '' ? services.find(group, version) : undefined;
  }

  /** Leads a request to the service of its path. Whatever keeps that from answering is a 503 in plain text, as in v1.21. */
  async answer(exchange: Exchange, service: AggregatedService): Promise<Answer> {
    if (!service.isAvailable) return unavailable('service unavailable');
    const { counts } = this.#options;
    if (openConnections(counts) >= CONNECTIONS_MAX) {
      counts.refused += 1;
      return unavailable('too many connections lead through this server');
    }
    const behind = exchange.path.split('/').slice(SEGMENTS_BEFORE_GROUP + DISCOVERY_SEGMENTS);
    const answer = await this.#send(
      exchange,
      service,
      behind.every((each) => each === ''),
    );
    if (typeof answer === 'string') return unavailable(answer);
    exchange.whenOver(answer.end);
    return answer.is === 'upgraded' ? tunnelAnswer(answer) : proxiedAnswer(answer, undefined);
  }

  /** The code of the answer to a path of a server, asked by this one itself; for checks. Throws an Error with what went wrong. */
  async ask(service: AggregatedService, path: string, user: UserInfo, signal: AbortSignal): Promise<number> {
    const answer = await this.#ask(service, { path, user, headers: {} }, signal);
    answer.end();
    return answer.is === 'answer' ? answer.code : SWITCHING_PROTOCOLS;
  }

  /** A document of a server (JSON), asked by this one itself. Throws an Error with what went wrong, also if it is larger than 8 MiB. */
  async read(
    service: AggregatedService,
    { path, etag, user }: DocumentRequest,
    signal: AbortSignal,
  ): Promise<ReadDocument> {
    const known = etag === '' ? {} : { 'if-none-match': etag };
    const headers = { accept: MEDIA_TYPE.json, ...known };
    const answer = await this.#ask(service, { path, user, headers }, signal);
    try {
      if (answer.is === 'upgraded') throw new Error('a document was upgraded');
      const { code, rawHeaders, body } = answer;
      return { code, etag: headerIn(rawHeaders, 'etag'), body: await wholeBody(body) };
    } finally {
      answer.end();
    }
  }

  async #ask(
    service: AggregatedService,
    {
      path,
      user,
      headers,
    }: { readonly path: string; readonly user: UserInfo; readonly headers: ForwardedHeaders },
    signal: AbortSignal,
  ): Promise<BackendAnswer> {
    const place = placeOf(service, this.#options.newReading(), this.#options);
    return callBackend(
      {
        ...this.#callTo(service, place),
        method: 'GET',
        target: path,
        headers: { host: hostPort(place.serverName, place.port), ...headers, ...userHeaders(user) },
        upgrade: false,
        dialMsMax: DISCOVERY_MS_MAX,
        headMsMax: DISCOVERY_MS_MAX,
        purpose: 'apiservice check',
      },
      this.#options.counts,
      signal,
    );
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

function headerIn(rawHeaders: readonly string[], name: string): string {
  const at = rawHeaders.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
  return at < 0 ? '' : (rawHeaders[at + 1] ?? '');
}

async function wholeBody(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > DOCUMENT_BYTES_MAX) throw new Error('it is larger than 8 MiB');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
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
