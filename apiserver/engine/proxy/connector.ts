import { causeText } from '../remote/call-text';
import type { AllowsAddress } from '../../../shared/meta/ip-address';
import { ADDRESS_NOT_ALLOWED, bothAllow } from '../../../shared/client/allowed-addresses';
import type { ClientTls } from '../../../shared/client/connect-tls';
import { ConnectionError } from '../../../shared/client/connection-error';
import { badRequest, notFound, StatusError } from '../../../shared/errors/status-error';
import type { RandomInt } from '../../../shared/meta/generate-name';
import { hostPort, isGlobalUnicast, isSameAddress } from '../../../shared/meta/ip-address';
import type { ApiObject } from '../../../shared/object/object';
import type { OpenWatches } from '../authz/open-watches';
import type { Answer, Exchange } from '../request/exchange';
import type { AgentRules, Connection, ConnectionReader, Destination } from '../registry/connection';
import { readObject } from '../registry/read';
import type { Registry } from '../registry/registry';
import type { Endpoint } from '../registry/resource';
import { refuseIncompletePlace } from '../request/store-place';
import { currentOfEntry } from '../registry/stored-form';
import type { WriteContext } from '../registry/write-context';
import type { WriteRequest } from '../registry/write-request';
import { WriteNotes } from '../registry/write-notes';
import type { BackendAnswer, BackendCall } from './backend-call';
import { callBackend } from './backend-call';
import type { ConnectCounts } from './connect-counts';
import { tooManyConnections } from './connection-places';
import { forwardedHeaders } from './forwarded-headers';
import { closeWhenAccessRevoked } from './close-when-access-revoked';
import { DIAL_MS_MAX } from './limits';
import { errorOfText, logAnswer } from './log-answer';
import { emptyPathAnswer, proxiedAnswer, tunnelAnswer } from './proxied-answer';
import type { RedirectRules } from './redirects';
import { DEFAULT_REDIRECTS, followRedirects } from './redirects';
import { encodedPath, forwardedUri, prefixOf } from './proxied-path';

export interface ConnectorOptions {
  readonly agents: AgentRules;
  /** The TLS options for kubelets. */
  readonly agentTls: () => ClientTls;
  /** The time limit to connect to a kubelet, in milliseconds. */
  readonly agentDialMsMax: number;
  /**
   * Whether this server itself listens at an address. Proxied requests must not reach it: the certificate for kubelets would authenticate
   * them there (CVE-2022-3294).
   */
  readonly isOwnAddress: (address: string, port: number) => boolean;
  /** Which addresses may be connected to besides; absent: all. */
  readonly allows?: AllowsAddress | undefined;
  /** By default those of v1.21. */
  readonly redirects?: RedirectRules;
  readonly counts: ConnectCounts;
  readonly randomInt: RandomInt;
}

/** What a connector needs from the server. */
export interface ConnectContext {
  readonly store: WriteContext;
  readonly registry: () => Registry;
  readonly openWatches: Pick<OpenWatches, 'hold'>;
}

/** A request for a subresource that is proxied to another server. */
export interface ConnectPlace {
  readonly endpoint: Endpoint;
  readonly connection: Connection;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  /** The decoded path after the subresource; empty, or with a leading slash. */
  readonly subPath: string;
}

/** Proxies requests to kubelets, pods and Services, and streams their answers. */
export class Connector {
  readonly #options: ConnectorOptions;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  /** Throws a StatusError when admission refuses, the options are invalid, or the other server cannot be reached. */
  async answer(context: ConnectContext, exchange: Exchange, place: ConnectPlace): Promise<Answer> {
    const { connection, namespace, name } = place;
    const options = await admitted(context, exchange, place);
    const reader = this.#reader(context, exchange);
    const destination = await connection.locate(reader, { namespace, name, options });
    const { counts } = this.#options;
    if (destination !== undefined && !counts.places.take(exchange, 'proxy')) {
      counts.refused += 1;
      throw tooManyConnections();
    }
    const answer = await this.#answerOf(exchange, place, destination);
    closeWhenAccessRevoked(context, exchange, answer);
    return answer;
  }

  async #answerOf(
    exchange: Exchange,
    place: ConnectPlace,
    destination: Destination | undefined,
  ): Promise<Answer> {
    const { carries } = place.connection;
    if (carries === 'text' && exchange.upgrade) {
      throw badRequest('logs cannot be upgraded: they are sent as plain text');
    }
    if (destination === undefined) return NO_LOG;
    if (carries === 'upgrades' && !exchange.upgrade) throw badRequest('Upgrade request required');
    if (carries === 'requests') return this.#proxied(exchange, destination);
    const call = this.#callOf(exchange, destination);
    if (carries === 'upgrades') {
      const { redirects = DEFAULT_REDIRECTS } = this.#options;
      const answer = await followRedirects(call, redirects, async (each) =>
        this.#send(exchange, each, (text) => new StatusError('', `error dialing backend: ${text}`)),
      );
      return answer.is === 'upgraded' ? tunnelAnswer(answer) : refusedUpgrade(answer);
    }
    const { host, port } = call;
    const url = `${call.scheme}://${hostPort(host, port)}${call.target}`;
    const answer = await this.#send(
      exchange,
      { ...call, method: 'GET', headers: { accept: '*/*', host: hostPort(host, port) }, body: undefined },
      (text) => new StatusError('', `Get ${JSON.stringify(url)}: ${text}`),
    );
    if (answer.is === 'upgraded') throw new Error('the log request was upgraded');
    const refusal = await errorOfText(answer, {
      name: place.name,
      kind: `${place.endpoint.row.resource}/${place.subresource}`,
    });
    if (refusal !== undefined) throw refusal;
    return logAnswer(answer.body);
  }

  async #proxied(exchange: Exchange, destination: Destination): Promise<Answer> {
    const requestPath = decodedPath(exchange.path);
    const isFolder = requestPath.endsWith('/') && !destination.path.endsWith('/');
    const path = isFolder && !exchange.upgrade ? `${destination.path}/` : destination.path;
    const redirect = exchange.upgrade ? undefined : emptyPathAnswer(exchange, path);
    if (redirect !== undefined) return redirect;
    const prefix = prefixOf(requestPath, destination.path);
    const call = this.#callOf(exchange, { ...destination, path });
    const headers = exchange.upgrade
      ? call.headers
      : { ...call.headers, 'x-forwarded-uri': forwardedUri(prefix, path) };
    const answer = await this.#send(exchange, { ...call, headers }, (text) =>
      exchange.upgrade
        ? new StatusError('', `error dialing backend: ${text}`)
        : new StatusError('ServiceUnavailable', `error trying to reach service: ${text}`),
    );
    if (answer.is === 'upgraded') return tunnelAnswer(answer);
    if (exchange.upgrade) return refusedUpgrade(answer);
    return proxiedAnswer(answer, { prefix, host: hostPort(call.host, call.port) });
  }

  #callOf(exchange: Exchange, destination: Destination): BackendCall {
    const {
      scheme,
      host,
      port,
      path,
      query = exchange.search ?? '',
      peer,
      isChecked = false,
      except = [],
    } = destination;
    const { agentTls, agentDialMsMax, isOwnAddress } = this.#options;
    const isAgent = peer !== 'any';
    const allows = (each: string): boolean =>
      isGlobalUnicast(each) &&
      !isOwnAddress(each, port) &&
      !except.some(({ address, port: its }) => its === port && isSameAddress(address, each));
    return {
      scheme,
      host,
      port,
      allows: bothAllow(isChecked ? allows : undefined, this.#options.allows),
      isChecked,
      tls: isAgent
        ? { ...agentTls(), ...(peer === 'agent' ? {} : { insecureSkipTlsVerify: true }) }
        : { insecureSkipTlsVerify: true },
      method: exchange.method,
      target: `${encodedPath(path)}${query === '' ? '' : `?${query}`}`,
      headers: forwardedHeaders(exchange),
      body: exchange.upgrade ? undefined : exchange.bodyStream(),
      upgrade: exchange.upgrade,
      dialMsMax: isAgent ? agentDialMsMax : DIAL_MS_MAX,
      purpose: exchange.info.subresource,
    };
  }

  async #send(
    exchange: Exchange,
    call: BackendCall,
    unreachable: (text: string) => StatusError,
  ): Promise<BackendAnswer> {
    const { counts } = this.#options;
    try {
      const answer = await callBackend(call, counts, exchange.signal);
      // Close the connection with the request, however the answer ends.
      exchange.whenOver(answer.end);
      return answer;
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      if (error.code === ADDRESS_NOT_ALLOWED) throw badRequest(error.message, error);
      const why = causeText(error, hostPort(call.host, call.port));
      // As upstream, which resolves such names before it connects.
      if (call.isChecked === true && LOOKUP_FAILURES.has(error.code))
        throw badRequest(why.replace(/^dial tcp: /, ''), error);
      throw unreachable(why);
    }
  }

  #reader({ store, registry }: ConnectContext, { info, signal }: Exchange): ConnectionReader {
    const { agents, randomInt } = this.#options;
    // As upstream, which reports a missing object by the resource of the request: a missing node as `pods`.
    const asked = { group: info.apiGroup, resource: info.resource };
    return {
      agents,
      randomInt,
      read: async <T extends ApiObject>(
        resource: { readonly group: string; readonly resource: string },
        name: string,
        namespace = '',
      ) => {
        const endpoint = registry().endpoint(resource.group, 'v1', resource.resource);
        if (endpoint === undefined) throw notFound(asked, name);
        const target = { endpoint, namespace, name };
        refuseIncompletePlace(endpoint, target);
        const entry = await readObject(store, target, { kind: 'most recent' }, signal);
        if (entry === undefined) throw notFound(asked, name);
        return currentOfEntry(endpoint.stored, entry).object as T;
      },
    };
  }
}

const LOOKUP_FAILURES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

/** The log of an unscheduled pod. */
const NO_LOG: Answer = { code: 204, headers: {}, body: Buffer.alloc(0) };

const CLIENT_ERROR = 400;

/** Handles a server that does not upgrade: an error is passed on, a success is invalid. */
function refusedUpgrade(answer: Extract<BackendAnswer, { is: 'answer' }>): Answer {
  if (answer.code >= CLIENT_ERROR) return proxiedAnswer(answer, undefined);
  void answer.body[Symbol.asyncIterator]().return?.();
  throw new StatusError('', `invalid upgrade response: status code ${String(answer.code)}`);
}

/** Malformed percent-encodings were refused before. */
function decodedPath(path: string): string {
  return decodeURIComponent(path);
}

/** Returns the options of the request after admission. */
async function admitted(
  { store: { admission } }: ConnectContext,
  exchange: Exchange,
  { endpoint, connection, namespace, name, subresource, subPath }: ConnectPlace,
): Promise<unknown> {
  const query = new URLSearchParams(exchange.query);
  if (connection.carries === 'requests') query.set('path', subPath);
  const options = connection.optionsIn(query);
  if (connection.carries === 'text') return options;
  const kind = endpoint.subresources.get(subresource)?.kind;
  const { apiVersion } = endpoint;
  const write: WriteRequest = {
    endpoint,
    namespace,
    name,
    nameInPath: name,
    subresource,
    user: exchange.user,
    dryRun: false,
    warn: (text) => {
      if (!exchange.warnings.includes(text)) exchange.warnings.push(text);
    },
    annotate: (key, value, from) => exchange.audit?.annotate(key, value, from),
  };
  // The options are not a stored object and have no metadata.
  const object = { kind, apiVersion, ...(options as object) } as unknown as ApiObject;
  const attributes = {
    write,
    notes: new WriteNotes(),
    operation: 'CONNECT' as const,
    object,
    oldObject: undefined,
  };
  const changed = (await admission.mutate(attributes, exchange.signal)) ?? object;
  await admission.validate({ ...attributes, object: changed }, exchange.signal);
  return changed;
}
