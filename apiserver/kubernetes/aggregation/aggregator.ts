import { causeText } from '../../engine/remote/call-text';
import type { ClusterReader } from '../cluster/cluster-reader';
import type { AllowsAddress } from '../../../shared/meta/ip-address';
import type { ClientTls } from '../../../shared/client/connect-tls';
import { ConnectionError } from '../../../shared/client/connection-error';
import { hostPort } from '../../../shared/meta/ip-address';
import { MEDIA_TYPE } from '../../../shared/names';
import type { BackendAnswer } from '../../engine/proxy/backend-call';
import { callBackend } from '../../engine/proxy/backend-call';
import type { ConnectCounts } from '../../engine/proxy/connect-counts';
import type { ForwardedHeaders } from '../../engine/proxy/forwarded-headers';
import { forwardedHeaders } from '../../engine/proxy/forwarded-headers';
import { DIAL_MS_MAX } from '../../engine/proxy/limits';
import { proxiedAnswer, tunnelAnswer } from '../../engine/proxy/proxied-answer';
import type { Answer, Exchange, UserInfo } from '../../engine/request/exchange';
import type { AggregatedService, AggregatedServices } from './aggregated-services';
import type { RandomInt } from '../../../shared/meta/generate-name';
import type { ServiceAddress } from '../cluster/service-resolver';
import { getServiceHost, resolveCluster, resolveEndpoint } from '../cluster/service-resolver';

export interface AggregatorOptions {
  readonly services: AggregatedServices;
  /** Whether requests go to a ready endpoint of the Service instead of its cluster IP. */
  readonly byEndpoints: boolean;
  readonly randomInt: RandomInt;
  /** Returns a reader of Services and Endpoints. */
  readonly newReading: () => Pick<ClusterReader, 'get'>;
  /** The client certificate by which extension API servers recognise this server as their front proxy. */
  readonly client: () => ClientTls;
  /** Which addresses may be connected to; absent: all. */
  readonly allows?: AllowsAddress | undefined;
  readonly counts: ConnectCounts;
}

/** The only version of the core group. */
const CORE_VERSION = 'v1';
/** The empty segment before the first slash, and `api` or `apis`. */
const SEGMENTS_BEFORE_GROUP = 2;
/** Group and version. */
const DISCOVERY_SEGMENTS = 2;
const DISCOVERY_MS_MAX = 5_000;
const DOCUMENT_BYTES_MAX = 8 * 1024 * 1024;
const UNAVAILABLE = 503;
const SWITCHING_PROTOCOLS = 101;

/** A document of an extension API server, such as its OpenAPI. */
export interface DocumentRequest {
  readonly path: string;
  /** Default: JSON. */
  readonly accept?: string;
  /** The ETag of the known version; empty: none. */
  readonly etag: string;
  readonly user: UserInfo;
}

export interface ReadDocument {
  readonly code: number;
  /** Empty if the answer has none. */
  readonly etag: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Forwards requests to the extension API servers that serve their group versions, with the user in headers (front proxy). */
export class Aggregator {
  readonly #options: AggregatorOptions;

  constructor(options: AggregatorOptions) {
    this.#options = options;
  }

  get services(): AggregatedServices {
    return this.#options.services;
  }

  /** Returns the service that serves the path; undefined for paths of this server. */
  serviceFor(path: string): AggregatedService | undefined {
    if (this.services.isEmpty) return undefined;
    // Count segments as authorization does, which would find another group after an empty segment.
    const [before, root = '', group = '', version = ''] = path.split('/');
    if (before !== '') return undefined;
    const { services } = this.#options;
    // The core group has one version, discovery included.
    if (root === 'api') return services.find('', CORE_VERSION);
    return root === 'apis' && group !== '' && version !== '' ? services.find(group, version) : undefined;
  }

  /** Forwards a request to the service of its path. Every failure is a 503 in plain text, as in v1.21. */
  async answer(exchange: Exchange, service: AggregatedService): Promise<Answer> {
    if (!service.isAvailable) return unavailable('service unavailable');
    const { counts } = this.#options;
    if (!counts.places.take(exchange, 'aggregation')) {
      counts.refused += 1;
      return unavailable('too many proxied connections');
    }
    const rest = exchange.path.split('/').slice(SEGMENTS_BEFORE_GROUP + DISCOVERY_SEGMENTS);
    const answer = await this.#send(
      exchange,
      service,
      rest.every((each) => each === ''),
    );
    if (typeof answer === 'string') return unavailable(answer);
    exchange.whenOver(answer.end);
    return answer.is === 'upgraded' ? tunnelAnswer(answer) : proxiedAnswer(answer, undefined);
  }

  /** Sends a GET of this server itself and returns the status code of the answer. Throws an Error if there is no answer. */
  async check(
    service: AggregatedService,
    path: string,
    user: UserInfo,
    signal: AbortSignal,
  ): Promise<number> {
    const answer = await this.#get(service, { path, user, headers: {} }, signal);
    answer.end();
    return answer.is === 'answer' ? answer.code : SWITCHING_PROTOCOLS;
  }

  /** Reads a JSON document of an extension API server. Throws an Error if it cannot be read or is larger than 8 MiB. */
  async read(
    service: AggregatedService,
    { path, accept = MEDIA_TYPE.json, etag, user }: DocumentRequest,
    signal: AbortSignal,
  ): Promise<ReadDocument> {
    const known = etag === '' ? {} : { 'if-none-match': etag };
    const headers = { accept, ...known };
    const answer = await this.#get(service, { path, user, headers }, signal);
    try {
      if (answer.is === 'upgraded') throw new Error('the server switched protocols');
      const { code, rawHeaders, body } = answer;
      return {
        code,
        etag: headerIn(rawHeaders, 'etag'),
        contentType: headerIn(rawHeaders, 'content-type'),
        body: await wholeBody(body),
      };
    } finally {
      answer.end();
    }
  }

  async #get(
    service: AggregatedService,
    {
      path,
      user,
      headers,
    }: { readonly path: string; readonly user: UserInfo; readonly headers: ForwardedHeaders },
    signal: AbortSignal,
  ): Promise<BackendAnswer> {
    const { address, serverName } = this.#resolve(service);
    return callBackend(
      {
        ...this.#callTo(service, address),
        method: 'GET',
        target: path,
        headers: { host: hostPort(serverName, address.port), ...headers, ...userHeaders(user) },
        upgrade: false,
        dialMsMax: DISCOVERY_MS_MAX,
        headMsMax: DISCOVERY_MS_MAX,
        purpose: 'apiservice check',
      },
      this.#options.counts,
      signal,
    );
  }

  /** Returns the reason as text if there is no answer. */
  async #send(
    exchange: Exchange,
    service: AggregatedService,
    isDiscovery: boolean,
  ): Promise<BackendAnswer | string> {
    let dialled = '';
    try {
      const { address, serverName } = this.#resolve(service);
      dialled = hostPort(address.host, address.port);
      const { method, path, search = '', upgrade } = exchange;
      return await callBackend(
        {
          ...this.#callTo(service, address),
          method,
          target: search === '' ? path : `${path}?${search}`,
          headers: {
            ...withoutUser(forwardedHeaders(exchange)),
            ...userHeaders(exchange.user),
            host: hostPort(serverName, address.port),
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

  #resolve({ service }: AggregatedService): {
    readonly address: ServiceAddress;
    readonly serverName: string;
  } {
    const { byEndpoints, newReading, randomInt } = this.#options;
    const cluster = newReading();
    const address = byEndpoints
      ? resolveEndpoint(service, cluster, randomInt)
      : resolveCluster(service, cluster);
    return { address, serverName: getServiceHost(service) };
  }

  #callTo(
    { authorities, isVerified, service }: AggregatedService,
    { host, port }: ServiceAddress,
  ): {
    readonly scheme: 'https';
    readonly host: string;
    readonly port: number;
    readonly allows: AllowsAddress | undefined;
    readonly tls: ClientTls;
  } {
    const trust = authorities === '' ? {} : { ca: authorities };
    const verification = isVerified
      ? { ...trust, tlsServerName: getServiceHost(service) }
      : { insecureSkipTlsVerify: true };
    return {
      scheme: 'https',
      host,
      port,
      allows: this.#options.allows,
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
    if (bytes > DOCUMENT_BYTES_MAX) throw new Error('the document is larger than 8 MiB');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const USER = 'x-remote-user';
const GROUPS = 'x-remote-group';
const EXTRA = 'x-remote-extra-';

/** Removes user headers of the client, `X-Remote-Uid` of later releases included: it could otherwise impersonate any user. */
function withoutUser(headers: ForwardedHeaders): ForwardedHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('x-remote-')));
}

function userHeaders({ name, groups, extra }: UserInfo): ForwardedHeaders {
  const extras = Object.entries(extra).map(([key, values]): [string, readonly string[]] => [
    `${EXTRA}${encodeURIComponent(key).toLowerCase()}`,
    values.map(latin1),
  ]);
  return { [USER]: latin1(name), [GROUPS]: groups.map(latin1), ...Object.fromEntries(extras) };
}

/** Encodes text for a header: one character for each byte of its UTF-8 form. */
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
