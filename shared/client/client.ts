import type { ApiObject, GroupVersionResource, ResourceOf, Sent } from '../object/object';
import { defined } from '../defined';
import { GROUP, MEDIA_TYPE } from '../names';
import { createConnection } from './connection';
import type {
  ApiList,
  CallOptions,
  ClientOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectRef,
  ObjectWriteOptions,
  Outage,
  Patch,
  RawAnswer,
  RawRequest,
  Selection,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './options';
import { queryString, resourcePath } from './resource-path';
import { isExpired } from './status';
import type { StreamedAnswer } from './transport';
import { decodeWatch } from './watch';

/**
 * Typed operations of the API. An error response becomes a StatusError, a missing response a ConnectionError; an aborted call throws its
 * signal's reason. Every call has a time limit. List items get the kind and apiVersion that typed lists omit.
 */
export interface Client {
  readonly outage?: Outage;
  get<T extends ApiObject>(resource: ResourceOf<T>, ref: ObjectRef, options?: GetOptions): Promise<T>;
  /** One page, or everything if `limit` is not given. */
  list<T extends ApiObject>(resource: ResourceOf<T>, options?: ListOptions): Promise<ApiList<T>>;
  /**
   * Lists everything in pages of `limit` (500 if absent) of one version. If the continue token has expired, everything is listed at once.
   */
  listAll<T extends ApiObject>(resource: ResourceOf<T>, options?: ListOptions): Promise<ApiList<T>>;
  /** Creates in the namespace of the object. */
  create<T extends ApiObject>(
    resource: ResourceOf<T>,
    object: Sent<NoInfer<T>>,
    options?: WriteOptions,
  ): Promise<T>;
  /** Creates a subresource of an object: a binding, an eviction, a token. */
  createSubresource<T extends ApiObject>(
    resource: GroupVersionResource,
    ref: ObjectRef & { readonly subresource: string },
    object: Sent<NoInfer<T>>,
    options?: WriteOptions,
  ): Promise<T>;
  update<T extends ApiObject>(
    resource: ResourceOf<T>,
    object: Sent<NoInfer<T>>,
    options?: ObjectWriteOptions,
  ): Promise<T>;
  updateStatus<T extends ApiObject>(
    resource: ResourceOf<T>,
    object: Sent<NoInfer<T>>,
    options?: WriteOptions,
  ): Promise<T>;
  patch<T extends ApiObject>(
    resource: ResourceOf<T>,
    ref: ObjectRef,
    patch: Patch,
    options?: ObjectWriteOptions,
  ): Promise<T>;
  /** Returns the server's response: the object if it is still held, else a Status. */
  delete(
    resource: GroupVersionResource,
    ref: ObjectRef,
    deleteOptions?: DeleteOptions,
    options?: WriteOptions,
  ): Promise<ApiObject>;
  deleteCollection(
    resource: GroupVersionResource,
    selection: Selection,
    deleteOptions?: DeleteOptions,
    options?: WriteOptions,
  ): Promise<void>;
  /** The first step of the iteration opens the watch; leaving the iteration closes it. */
  watch<T extends ApiObject>(resource: ResourceOf<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Sends any request and returns the response, whatever its code. */
  request(request: RawRequest): Promise<RawAnswer>;
  /** The decoded JSON of any path; errors as with the typed operations. */
  /** Returns a 200 response as a stream, else throws a StatusError. `timeoutMs` covers the time until its headers. */
  download(path: string, options?: CallOptions): Promise<StreamedAnswer>;
  getJson(path: string, options?: CallOptions): Promise<unknown>;
  /** Closes idle connections. */
  close(): void;
}

const PAGE_OBJECTS = 500;
const WATCH_TIMEOUT_SECONDS = 300;
/** How long after its own timeout a hanging watch is closed, in milliseconds: the connection is dead. */
const WATCH_SLACK_MS = 30_000;

export function createClient(clientOptions: ClientOptions): Client {
  const connection = createConnection(clientOptions);
  const json = async <T>(request: RawRequest): Promise<T> => (await connection.json(request)) as T;
  const write = async <T>(
    method: string,
    path: string,
    content: Pick<RawRequest, 'body' | 'contentType'>,
    options: WriteOptions & { readonly force?: boolean | undefined } = {},
  ): Promise<T> => {
    const { fieldManager, dryRun, force, ...call } = options;
    const query = queryString({ fieldManager, dryRun: dryRun === true ? 'All' : undefined, force });
    return json<T>({ ...callOf(call), method, path: path + query, ...content });
  };

  const list: Client['list'] = async <T extends ApiObject>(
    resource: ResourceOf<T>,
    options: ListOptions = {},
  ): Promise<ApiList<T>> => {
    const { namespace, signal, timeoutMs, accept, ...query } = options;
    const path = resourcePath(resource, { namespace }) + queryString(query);
    return withKinds(
      await json<ApiList<T>>({ method: 'GET', path, signal, timeoutMs, ...(accept ? { accept } : {}) }),
    );
  };

  return {
    outage: clientOptions.outage ?? { isReported: false },
    get: async <T>(
      resource: GroupVersionResource,
      ref: ObjectRef,
      { subresource, resourceVersion, accept, ...call }: GetOptions = {},
    ): Promise<T> =>
      json<T>({
        ...call,
        method: 'GET',
        path: resourcePath(resource, { ...ref, subresource }) + queryString({ resourceVersion }),
        ...defined({ accept }),
      }),
    list,
    listAll: async (resource, options) => listInPages(list, resource, options ?? {}),
    create: async (resource, object, options) =>
      write(
        'POST',
        resourcePath(resource, { namespace: object.metadata.namespace }),
        jsonBody(object),
        options,
      ),
    createSubresource: async (resource, ref, object, options) =>
      write('POST', resourcePath(resource, ref), jsonBody(object), options),
    update: async (resource, object, { subresource, ...options } = {}) =>
      write('PUT', pathOfObject(resource, object, subresource), jsonBody(object), options),
    updateStatus: async (resource, object, options) =>
      write('PUT', pathOfObject(resource, object, 'status'), jsonBody(object), options),
    patch: async (resource, ref, patch, { subresource, ...options } = {}) =>
      write('PATCH', resourcePath(resource, { ...ref, subresource }), patchBody(patch), {
        ...options,
        force: patch.force,
      }),
    delete: async (resource, ref, deleteOptions, options) =>
      write('DELETE', resourcePath(resource, ref), deleteBody(deleteOptions), options),
    deleteCollection: async (resource, { namespace, ...selectors }, deleteOptions, options) => {
      const path = resourcePath(resource, { namespace }) + queryString({ ...selectors });
      await json({ ...callOf(options), method: 'DELETE', path, ...deleteBody(deleteOptions) });
    },
    watch: (resource, options = {}) => watch(connection, resource, options),
    request: async (request) => connection.send(request),
    download: async (path, options) => connection.stream({ ...callOf(options), method: 'GET', path }),
    getJson: async (path, options) => json({ ...callOf(options), method: 'GET', path }),
    close: () => connection.close(),
  };
}

async function* watch<T extends ApiObject>(
  connection: ReturnType<typeof createConnection>,
  resource: GroupVersionResource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, signal, timeoutMs, accept, onOpen, ...rest } = options;
  const timeoutSeconds = rest.timeoutSeconds ?? WATCH_TIMEOUT_SECONDS;
  const path = resourcePath(resource, { namespace }) + queryString({ watch: true, ...rest, timeoutSeconds });
  const answer = await connection.stream({
    method: 'GET',
    path,
    signal,
    timeoutMs,
    ...defined({ accept }),
  });
  onOpen?.();
  // A half-open connection reports nothing; the server's own end of the watch is the last sign of life.
  const timer = setTimeout(answer.end, timeoutSeconds * 1000 + WATCH_SLACK_MS);
  try {
    yield* decodeWatch<T>(answer);
  } finally {
    clearTimeout(timer);
  }
}

async function listInPages<T extends ApiObject>(
  list: Client['list'],
  resource: ResourceOf<T>,
  options: ListOptions,
): Promise<ApiList<T>> {
  const limit = options.limit ?? PAGE_OBJECTS;
  let page = await list(resource, { ...options, limit });
  const items = [...page.items];
  while ((page.metadata.continue ?? '') !== '') {
    try {
      // The continue token holds the version; repeating it in the query is an error.
      page = await list(resource, {
        ...options,
        limit,
        continue: page.metadata.continue,
        resourceVersion: undefined,
        resourceVersionMatch: undefined,
      });
    } catch (error) {
      if (!isExpired(error)) throw error;
      return list(resource, { ...options, limit: undefined });
    }
    for (const item of page.items) items.push(item);
  }
  const { resourceVersion } = page.metadata;
  return { ...page, metadata: resourceVersion === undefined ? {} : { resourceVersion }, items };
}

/** Returns a list with kind and apiVersion in each item. */
export function withKinds<T extends ApiObject>(list: ApiList<T>): ApiList<T> {
  // Go writes an empty list of some types as null.
  const items = (list.items as readonly T[] | null | undefined) ?? [];
  if (items.length === 0 || items[0]?.kind !== undefined) return { ...list, items };
  const { apiVersion } = list;
  const kind = list.kind.replace(/List$/, '');
  return { ...list, items: items.map((item) => ({ apiVersion, kind, ...item })) };
}

function callOf(options: CallOptions = {}): CallOptions {
  return { signal: options.signal, timeoutMs: options.timeoutMs };
}

function pathOfObject(
  resource: GroupVersionResource,
  { metadata }: Pick<ApiObject, 'metadata'>,
  subresource?: string,
): string {
  const { namespace, name } = metadata;
  if (name === undefined || name === '') throw new RangeError('an object without a name cannot be updated');
  return resourcePath(resource, { namespace, name, subresource });
}

function jsonBody(object: unknown): Pick<RawRequest, 'body'> {
  return { body: JSON.stringify(object) };
}

function patchBody({ contentType, body }: Patch): Pick<RawRequest, 'body' | 'contentType'> {
  return { contentType, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

function deleteBody(options: DeleteOptions = {}): Pick<RawRequest, 'body' | 'contentType'> {
  return {
    contentType: MEDIA_TYPE.json,
    body: JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...options }),
  };
}

/** Accept header for metadata only; a server that cannot reduce objects may send them whole. */
export const METADATA_ONLY = {
  object: `${MEDIA_TYPE.json};as=PartialObjectMetadata;g=${GROUP.meta};v=v1,${MEDIA_TYPE.json}`,
  list: `${MEDIA_TYPE.json};as=PartialObjectMetadataList;g=${GROUP.meta};v=v1,${MEDIA_TYPE.json}`,
} as const;
