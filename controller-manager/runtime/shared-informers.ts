import type { Client } from '../../shared/client/client';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { Indexers } from '../../shared/informer/store';
import type { Log } from '../../shared/log/log';
import type { ApiObject, ResourceOf } from '../../shared/object/object';
import { resourceNameOf } from '../../shared/object/object';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import { ownerOf } from './owner';

/** The indexes of every shared informer, by name. */
export const INDEX = {
  /** The namespace of an object. */
  namespace: 'namespace',
  /** The uid of its controller, the owner that manages it. */
  controller: 'controller',
  /** The namespace of an object without a controller. */
  orphan: 'orphan',
  /** The key of the Service that a label names: that of an EndpointSlice. */
  service: 'service',
} as const;

/** One informer for each resource, shared by all controllers that read it, so that each collection is kept and watched once. */
export interface SharedInformers {
  /**
   * Returns the informer of a resource; the first call starts it. Its `run` resolves once the informer has ended, and its objects lack
   * `managedFields`.
   */
  of<T extends ApiObject>(resource: ResourceOf<T>): Informer<T>;
}

const INDEXERS: Indexers<ApiObject> = {
  [INDEX.namespace]: ({ metadata }) => [metadata.namespace ?? ''],
  [INDEX.controller]: (object) => {
    const owner = ownerOf(object);
    return owner === undefined ? [] : [owner.uid];
  },
  [INDEX.service]: ({ metadata: { namespace = '', labels } }) => {
    const name = labels?.[WORKLOAD_LABEL.serviceName];
    return name === undefined ? [] : [`${namespace}/${name}`];
  },
  [INDEX.orphan]: (object) => (ownerOf(object) === undefined ? [object.metadata.namespace ?? ''] : []),
};

/** Creates the informers of one term of leadership; they end with the signal. */
export function createSharedInformers(
  { client, log }: { readonly client: Client; readonly log: Log },
  signal: AbortSignal,
): SharedInformers {
  const informers = new Map<string, Informer<ApiObject>>();
  const start = (resource: ResourceOf<ApiObject>): Informer<ApiObject> => {
    const informer = createInformer({
      client,
      resource,
      log,
      indexers: INDEXERS,
      transform: withoutManagedFields,
    });
    const ended = informer.run(signal);
    return { ...informer, run: async () => ended };
  };
  return {
    of: <T extends ApiObject>(resource: ResourceOf<T>) => {
      const name = resourceNameOf(resource);
      const informer = informers.get(name) ?? start(resource);
      informers.set(name, informer);
      // The map is keyed by the resource that gives the type.
      return informer as unknown as Informer<T>;
    },
  };
}

/** Managed fields are often the larger half of an object, and an update without them leaves those of the server as they are. */
function withoutManagedFields(object: ApiObject): ApiObject {
  if (object.metadata.managedFields === undefined) return object;
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return { ...object, metadata };
}
