import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

import type { Operation as JsonPatchOperation } from 'fast-json-patch';
import { applyPatch } from 'fast-json-patch';

import { StatusError, methodNotSupported } from '../../errors/status-error';
import type { ApiObject } from '../../object/object';
import { apiVersionOf } from '../../object/object';
import { MEDIA_TYPE } from '../../names';
import { applyMergePatch } from '../../patch/merge-patch';
import type { DeleteOptions } from '../options';
import type { FakeResource } from './fake-resources';
import { FAKE_RESOURCES } from './fake-resources';
import { matcher } from './fake-selector';
import type { Place } from './fake-store';
import { FakeStore, badVersion } from './fake-store';
import type { Watch } from './fake-watches';
import { deliver, openWatch, send } from './fake-watches';

export interface FakeApiServerOptions {
  readonly resources?: readonly FakeResource[];
  /** Makes it an https server; with `ca` it requires client certificates. */
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string };
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

/** The fault of a rule: `cut` breaks the connection before anything is done, `cutAfter` afterwards. */
export type Fault = 'cut' | 'cutAfter' | 'hang' | StatusError;

/** An API server in memory for tests of clients. Not for behaviour that only a real server has. */
export interface FakeApiServer {
  readonly url: string;
  readonly store: FakeStore;
  /** Every request so far, in order. */
  readonly seen: SeenRequest[];
  /** Called before every request; undefined means no fault. */
  fault: (request: SeenRequest) => Fault | undefined;
  /** The resources in discovery; replace to add some. */
  resources: readonly FakeResource[];
  /** Versions of groups whose discovery document fails with 503. */
  readonly brokenGroupVersions: Set<string>;
  /** How many watches are open now. */
  watchCount(): number;
  /** Sends a bookmark to every watch that asked for bookmarks. */
  sendBookmarks(): void;
  /** Ends every watch as at its timeout. */
  endWatches(): void;
  /** Ends every open watch after this many more events, possibly in the middle of one version. */
  endWatchesAfter(events: number): void;
  /** Breaks every open connection at once. */
  cutConnections(): void;
  /** Sends every watch an ERROR event with 410 and ends it. */
  expireWatches(): void;
  close(): Promise<void>;
}

export async function createFakeApiServer(options: FakeApiServerOptions = {}): Promise<FakeApiServer> {
  const store = new FakeStore();
  const sockets = new Set<Socket>();
  const watches = new Set<Watch>();
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    serve(fake, watches, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else answerError(response, error);
    });
  };
  const { tls } = options;
  const server: Server =
    tls === undefined
      ? createHttpServer(handle)
      : createHttpsServer({ ...tls, requestCert: tls.ca !== undefined }, handle);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const scheme = tls === undefined ? 'http' : 'https';
  const each = (act: (watch: Watch) => void) => (): void => {
    for (const watch of watches) act(watch);
  };
  const fake: FakeApiServer = {
    url: `${scheme}://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    store,
    seen: [],
    fault: () => undefined,
    resources: options.resources ?? FAKE_RESOURCES,
    brokenGroupVersions: new Set(),
    watchCount: () => watches.size,
    sendBookmarks: each((watch) => {
      if (!watch.bookmarks) return;
      const { kind } = watch.resource;
      const metadata = { resourceVersion: String(store.revision) };
      send(watch, 'BOOKMARK', { apiVersion: apiVersionOf(watch.resource), kind, metadata });
    }),
    endWatches: each((watch) => watch.response.end()),
    endWatchesAfter: (events) => {
      for (const watch of watches) watch.eventsLeft = events;
    },
    cutConnections: () => {
      for (const socket of sockets) socket.destroy();
    },
    expireWatches: each((watch) => {
      send(watch, 'ERROR', badVersion('forced').status);
      watch.response.end();
    }),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  store.changes.on('events', () => {
    for (const watch of watches) deliver(store, watch);
  });
  return fake;
}

async function serve(
  fake: FakeApiServer,
  watches: Set<Watch>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fake');
  const seen = {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
  };
  const body = await readBody(request);
  fake.seen.push(seen);
  const fault = fake.fault(seen);
  if (fault === 'hang') return;
  if (fault === 'cut') {
    request.socket.destroy();
    return;
  }
  if (fault instanceof StatusError) throw fault;
  const place = locate(fake.resources, url.pathname);
  if (place === undefined) {
    answer(response, 200, document(fake, url.pathname));
    return;
  }
  if (seen.method === 'GET' && place.name === '') {
    if (seen.query.get('watch') === 'true')
      openWatch(fake.store, watches, { response, place, query: seen.query });
    else answer(response, 200, listPage(fake.store, place, seen.query));
    return;
  }
  const result = write(fake.store, { place, method: seen.method, query: seen.query }, request, body);
  if (fault === 'cutAfter') request.socket.destroy();
  else answer(response, result.code, result.object);
}

interface Operation {
  readonly place: FoundPlace;
  readonly method: string;
  readonly query: URLSearchParams;
}

function write(
  store: FakeStore,
  { place, method, query }: Operation,
  request: IncomingMessage,
  body: string,
): { readonly code: number; readonly object: unknown } {
  const { verbs } = place.resource;
  const verb = place.name === '' && method === 'DELETE' ? 'deletecollection' : VERB_OF_METHOD[method];
  if (verb === undefined || !verbs.includes(verb)) throw methodNotSupported(place.resource, verb ?? method);
  const input = body === '' ? {} : (JSON.parse(body) as unknown);
  switch (verb) {
    case 'get':
      return { code: 200, object: store.get(place) };
    case 'create': {
      const object = input as ApiObject;
      return { code: 201, object: store.create({ ...place, name: object.metadata.name ?? '' }, object) };
    }
    case 'update':
      return { code: 200, object: store.update(place, input as ApiObject, place.subresource) };
    case 'patch': {
      const next = patched(store.get(place), input, request.headers['content-type'] ?? '');
      return { code: 200, object: store.update(place, next, place.subresource) };
    }
    case 'delete': {
      const { object, isGone } = store.delete(place, input as DeleteOptions);
      return { code: 200, object: isGone ? { kind: 'Status', apiVersion: 'v1', status: 'Success' } : object };
    }
    default: {
      const takes = matcher(query);
      for (const object of store.list(place.resource, place.namespace)) {
        const { name = '', namespace = '' } = object.metadata;
        if (takes(object)) store.delete({ ...place, namespace, name }, input as DeleteOptions);
      }
      return { code: 200, object: { kind: 'Status', apiVersion: 'v1', status: 'Success' } };
    }
  }
}

const VERB_OF_METHOD: Readonly<Record<string, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

type FoundPlace = Place & { readonly subresource: string };

function locate(resources: readonly FakeResource[], path: string): FoundPlace | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const [group, version, rest] =
    parts[0] === 'api'
      ? ['', parts[1], parts.slice(2)]
      : parts[0] === 'apis'
        ? [parts[1], parts[2], parts.slice(3)]
        : [undefined, undefined, []];
  if (rest.length === 0) return undefined;
  const isNamespaced = rest[0] === 'namespaces' && rest.length > 2 && !NAMESPACE_PARTS.has(rest[2] ?? '');
  const namespace = isNamespaced ? (rest[1] ?? '') : '';
  const [name, ...more] = isNamespaced ? rest.slice(2) : rest;
  const resource = resources.find(
    (row) => row.group === group && row.version === version && row.resource === name,
  );
  if (resource === undefined) {
    throw new StatusError('NotFound', 'the server could not find the requested resource');
  }
  return { resource, namespace, name: more[0] ?? '', subresource: more.slice(1).join('/') };
}

const NAMESPACE_PARTS: ReadonlySet<string> = new Set(['status', 'finalize']);

function document(fake: FakeApiServer, path: string): unknown {
  const groupVersions = [...new Set(fake.resources.map((row) => apiVersionOf(row)))];
  if (path === '/api')
    return { kind: 'APIVersions', versions: groupVersions.filter((gv) => !gv.includes('/')) };
  if (path === '/apis') {
    const groups = [...new Set(fake.resources.map((row) => row.group))].filter((group) => group !== '');
    return {
      kind: 'APIGroupList',
      groups: groups.map((name) => {
        const versions = groupVersions
          .filter((gv) => gv.startsWith(`${name}/`))
          .map((gv) => ({ groupVersion: gv, version: gv.slice(name.length + 1) }));
        return { name, versions, preferredVersion: versions[0] };
      }),
    };
  }
  const groupVersion = path.replace(/^\/apis?\//, '');
  if (fake.brokenGroupVersions.has(groupVersion)) {
    throw new StatusError('ServiceUnavailable', 'the server is currently unable to handle the request');
  }
  const rows = fake.resources.filter((row) => apiVersionOf(row) === groupVersion);
  if (rows.length === 0) {
    if (path === '/readyz' || path === '/version') return { major: '1', minor: '21' };
    throw new StatusError('NotFound', 'the server could not find the requested resource');
  }
  return {
    kind: 'APIResourceList',
    groupVersion,
    resources: rows.flatMap(({ resource: name, kind, namespaced, verbs, storageVersionHash }) => [
      { name, kind, namespaced, verbs, storageVersionHash },
      { name: `${name}/status`, kind, namespaced, verbs: ['get', 'patch', 'update'] },
    ]),
  };
}

function positionOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

function listPage(store: FakeStore, place: FoundPlace, query: URLSearchParams): unknown {
  const token = query.get('continue');
  const position = token === null ? undefined : (JSON.parse(token) as { after: string; revision: number });
  const revision = position?.revision ?? store.revision;
  const all = store.listAt(place.resource, revision);
  if (all === undefined) throw badVersion('continue');
  const takes = matcher(query);
  const selected = all.filter(
    (object) => takes(object) && (place.namespace === '' || object.metadata.namespace === place.namespace),
  );
  const rest =
    position === undefined ? selected : selected.filter((object) => positionOf(object) > position.after);
  const limit = Number(query.get('limit') ?? 0) || rest.length;
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rest.length > items.length && last !== undefined;
  return {
    apiVersion: apiVersionOf(place.resource),
    kind: `${place.resource.kind}List`,
    metadata: {
      resourceVersion: String(revision),
      ...(hasMore ? { continue: JSON.stringify({ after: positionOf(last), revision }) } : {}),
    },
    items: items.map(({ kind: _kind, apiVersion: _apiVersion, ...object }) => object),
  };
}

function patched(current: ApiObject, patch: unknown, contentType: string): ApiObject {
  const { resourceVersion: _version, ...metadata } = current.metadata;
  const open = structuredClone({ ...current, metadata });
  if (contentType === MEDIA_TYPE.mergePatch) return applyMergePatch(open, patch) as unknown as ApiObject;
  if (contentType === MEDIA_TYPE.jsonPatch) {
    return applyPatch(open as ApiObject, patch as JsonPatchOperation[]).newDocument;
  }
  throw new StatusError('UnsupportedMediaType', `the body of the request was in an unknown format`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function answer(response: ServerResponse, code: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(code, { 'content-type': MEDIA_TYPE.json }).end(text);
}

function answerError(response: ServerResponse, error: unknown): void {
  const status =
    error instanceof StatusError
      ? error.status
      : new StatusError('InternalError', `${String(error)} ${(error as Error).stack ?? ''}`).status;
  const retryAfter = status.details?.retryAfterSeconds;
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  answer(response, status.code, status);
}
