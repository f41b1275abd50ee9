import type { Client } from '../../shared/client/client';
import { ConnectionError } from '../../shared/client/connection-error';
import type {
  ApiList,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectRef,
  ObjectWriteOptions,
  Patch,
  Selection,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../shared/client/options';
import { hasCode } from '../../shared/client/status';
import { sleep } from '../../shared/concurrency/abort';
import { Backoff } from '../../shared/concurrency/backoff';
import { getRetryAfterMs } from '../../shared/errors/status-error';
import { createInformer } from '../../shared/informer/informer';
import { WatchPosition } from '../../shared/informer/position';
import type { ApiObject, GroupVersionResource, ResourceOf, Sent } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import type { InformerIteration, InformerSelection } from './changes';
import { iterateChanges } from './changes';
import { applyPatch } from './patches';

/** A resource, the kind of its objects and their type. */
export interface ResourceDefinition<T extends ApiObject = ApiObject> extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never set; it carries the type. */
  readonly object?: T;
}

/**
 * Describes a resource that the tables do not have.
 *
 * @param definition `group` is empty for the core group; `resource` is the plural name in paths.
 */
export function defineResource<T extends ApiObject>(
  definition: GroupVersionResource & { readonly kind: string; readonly namespaced?: boolean },
): ResourceDefinition<T> {
  return { namespaced: true, ...definition };
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Required by the server: the manager that owns the applied fields. */
  readonly fieldManager: string;
  /** Takes over fields that other managers own, instead of a 409. */
  readonly force?: boolean;
  readonly subresource?: string;
}

/** Which objects a watch follows, and from where. */
export interface ResumedWatchOptions extends Omit<Selection, 'namespace'> {
  /** Events after this version. Absent, or `0`: the current objects as ADDED events first, then all changes. */
  readonly resourceVersion?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The operations on one resource, in one namespace or in all. An error response becomes a StatusError, a missing one a ConnectionError, an
 * aborted call throws its signal's reason. Every call but watches has a time limit.
 */
export interface ResourceClient<T extends ApiObject> {
  readonly resource: ResourceDefinition<T>;
  /** Throws a StatusError with reason NotFound if there is none of the name. */
  get(name: string, options?: GetOptions): Promise<T>;
  /** Everything, read in pages of `limit` (500 if absent) of one version. */
  list(options?: Omit<ListOptions, 'namespace'>): Promise<ApiList<T>>;
  /** Creates the object in its namespace, or in that of the client. Returns it as stored. */
  create(object: Sent<NoInfer<T>>, options?: WriteOptions): Promise<T>;
  /** Replaces the object; a stale resourceVersion is a 409. */
  update(object: Sent<NoInfer<T>>, options?: ObjectWriteOptions): Promise<T>;
  /** Replaces the status alone, where the resource has the subresource. */
  updateStatus(object: Sent<NoInfer<T>>, options?: WriteOptions): Promise<T>;
  /** Server-side apply: creates the object, or changes the fields in it that this manager owns. */
  apply(object: Sent<NoInfer<T>>, options: ApplyOptions): Promise<T>;
  /** Changes the object by one of the patch types. Returns it as stored. */
  patch(name: string, patch: Patch, options?: ObjectWriteOptions): Promise<T>;
  /** Returns the object if it is still held by finalizers, else a Status. */
  delete(name: string, deleteOptions?: DeleteOptions, options?: WriteOptions): Promise<ApiObject>;
  /** Deletes all selected objects. */
  deleteCollection(
    selection?: Omit<Selection, 'namespace'>,
    deleteOptions?: DeleteOptions,
    options?: WriteOptions,
  ): Promise<void>;
  /**
   * Every change, in order and once, until the signal aborts or the iteration is left: broken connections are resumed after the last event,
   * with backoff. Throws a StatusError for a refused watch, with reason Expired when the history is gone; an informer lists again then.
   */
  watch(options?: ResumedWatchOptions): AsyncIterable<WatchEvent<T>>;
  /**
   * The objects and their changes, as differences between what was delivered before and what is now. It survives broken connections, expired
   * history and a restarted server. A slow reader gets one change for each object.
   */
  informer(options?: InformerSelection): InformerIteration<T>;
}

const RETRY = { initialMs: 200, maxMs: 10_000 };
/** Answers of a server, or of a balancer before it, that has no time. */
const BUSY_CODES = [429, 500, 502, 503, 504] as const;

/** Creates the client of one resource. Without a namespace, objects name their own, and reads are of all namespaces. */
export function createResourceClient<T extends ApiObject>(
  client: Client,
  resource: ResourceDefinition<T>,
  namespace?: string,
): ResourceClient<T> {
  const typed = resource as ResourceOf<T>;
  const ref = (name: string): ObjectRef => ({ namespace, name });
  const complete = (object: Sent<T>): Sent<T> => ({
    ...object,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: namespace === undefined ? object.metadata : { namespace, ...object.metadata },
  });
  return {
    resource,
    get: async (name, options) => client.get(typed, ref(name), options),
    list: async (options) => client.listAll(typed, { ...options, namespace }),
    create: async (object, options) => client.create(typed, complete(object), options),
    update: async (object, options) => client.update(typed, complete(object), options),
    updateStatus: async (object, options) => client.updateStatus(typed, complete(object), options),
    apply: async (object, { force, ...options }) => {
      const sent = complete(object);
      const { name = '', namespace: own } = sent.metadata;
      return client.patch(typed, { namespace: own, name }, applyPatch(sent, { force }), options);
    },
    patch: async (name, patch, options) => client.patch(typed, ref(name), patch, options),
    delete: async (name, deleteOptions, options) => client.delete(typed, ref(name), deleteOptions, options),
    deleteCollection: async (selection, deleteOptions, options) =>
      client.deleteCollection(typed, { ...selection, namespace }, deleteOptions, options),
    watch: (options = {}) => resumedWatch(client, typed, { ...options, namespace }),
    informer: (options = {}) =>
      iterateChanges(createInformer<T>({ ...options, client, resource: typed, namespace }), options.signal),
  };
}

async function* resumedWatch<T extends ApiObject>(
  client: Client,
  resource: ResourceOf<T>,
  { resourceVersion, ...selection }: ResumedWatchOptions & Pick<WatchOptions, 'namespace'>,
): AsyncGenerator<WatchEvent<T>> {
  const backoff = new Backoff({ ...RETRY, random: Math.random });
  const signal = selection.signal ?? new AbortController().signal;
  let position: WatchPosition | undefined;
  if (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0') {
    // A list has a version of which it is complete; the initial events of a watch have none.
    const list = await client.listAll(resource, selection);
    for (const object of list.items) yield { type: 'ADDED', object };
    position = new WatchPosition(list.metadata.resourceVersion ?? '');
  } else position = new WatchPosition(resourceVersion);
  while (!signal.aborted) {
    let failure: unknown;
    try {
      const events = client.watch(resource, {
        ...selection,
        resourceVersion: position.resumeVersion(),
        allowWatchBookmarks: true,
      });
      for await (const event of events) {
        const order = position.order(event);
        backoff.reset();
        if (order !== 'new' && event.type !== 'BOOKMARK') continue;
        // Before the event is delivered: a reader that throws does not get it again.
        if (order !== 'backwards') position.advance(event);
        if (event.type !== 'BOOKMARK') yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ConnectionError) && !hasCode(error, ...BUSY_CODES)) throw error;
      failure = error;
    }
    // Also after a watch that the server has ended: one that ends every watch at once is not stormed.
    await waitBefore(failure, backoff, signal);
  }
}

async function waitBefore(error: unknown, backoff: Backoff, signal: AbortSignal): Promise<void> {
  try {
    await sleep(Math.max(backoff.next(), getRetryAfterMs(error) ?? 0), signal);
  } catch (reason) {
    if (!signal.aborted) throw reason;
  }
}
