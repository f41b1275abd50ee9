import type { ResourceRow, SubresourceRow } from '../../shared/api/resources';
import type { MessageType } from '../../shared/schema/types';
import { apiVersionOf, resourceNameOf } from '../../shared/meta/object';
import type { CachedResource } from '../watch/entry';
import type { Strategy } from './strategy';

/** One kind of object as it is stored: its hub version, its place in the store, its behaviour. */
export interface StoredResource extends CachedResource {
  readonly group: string;
  /** The hub version, the only one that is stored. */
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly type: MessageType;
  readonly strategy: Strategy;
}

/** One version of one resource as it is served. Several endpoints may share what is stored. */
export interface Endpoint {
  readonly row: ResourceRow;
  readonly apiVersion: string;
  readonly type: MessageType;
  readonly stored: StoredResource;
  /** Served subresources by name. */
  readonly subresources: ReadonlyMap<string, SubresourceRow>;
}

/** What the registry needs to serve one row of the tables. */
export interface ResourceDefinition {
  readonly row: ResourceRow;
  readonly type: MessageType;
  readonly strategy: Strategy;
  /** Names of the row's subresources that are served. */
  readonly servedSubresources: readonly string[];
}

/** The stored resource of a row that is its own hub. */
export function storedResourceOf({ row, type, strategy }: ResourceDefinition): StoredResource {
  return {
    name: resourceNameOf(row),
    keyPrefix: `${row.group === '' ? 'core' : row.group}/${row.resource}/`,
    namespaced: row.namespaced,
    fieldPaths: Object.keys(strategy.selectableFields ?? {}),
    indexedFields: strategy.indexedFields ?? [],
    group: row.group,
    version: row.version,
    resource: row.resource,
    kind: row.kind,
    apiVersion: apiVersionOf(row),
    type,
    strategy,
  };
}

/** The key of an object relative to its resource's prefix. */
export function relativeKey(resource: CachedResource, namespace: string, name: string): string {
  return resource.namespaced ? `${namespace}/${name}` : name;
}
