import type { Conversion } from '../../shared/api/conversion/conversion';
import type { ApplyDefaults } from '../../shared/api/defaults/defaults';
import type { ResourceRow, SubresourceRow } from '../../shared/api/resources';
import type { MessageType } from '../../shared/schema/types';
import { apiVersionOf, resourceNameOf } from '../../shared/meta/object';
import type { CachedResource } from '../watch/entry';
import type { Strategy } from './strategy';
import type { SpecialSubresource } from './subresources/subresource-rows';
import type { VirtualResource } from './virtual/operation';

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
  /** To and from the hub version; absent when only the apiVersion differs, or nothing. */
  readonly conversion?: Conversion;
  /** Names that field selectors of this version have for fields of the hub, by the former. */
  readonly selectorNames: Readonly<Record<string, string>>;
  /** Fills in what a client left out of an object of this version; absent for a kind without defaults. */
  readonly applyDefaults?: ApplyDefaults;
  /** The Warning that every request to a deprecated version gets. */
  readonly deprecation?: string;
  /** Served subresources by name. */
  readonly subresources: ReadonlyMap<string, SubresourceRow>;
  /** Those of them that are operations, or show another kind. */
  readonly specialSubresources?: Readonly<Record<string, SpecialSubresource>>;
  /** Answers instead of the store: nothing is kept under `stored`. */
  readonly virtual?: VirtualResource;
  /** All served versions of what is stored, this one included, by their apiVersion. */
  readonly versions: ReadonlyMap<string, Endpoint>;
}

/** What the registry needs to serve one row of the tables. */
export interface ResourceDefinition {
  readonly row: ResourceRow;
  readonly type: MessageType;
  /** The version in which objects of the resource are stored; the row itself, or another one that need not be served. */
  readonly hub: { readonly row: ResourceRow; readonly type: MessageType };
  /** Of the stored kind. */
  readonly strategy: Strategy;
  readonly conversion?: Conversion;
  readonly applyDefaults?: ApplyDefaults;
  /** Names of the row's subresources that are served. */
  readonly servedSubresources: readonly string[];
  readonly specialSubresources?: Readonly<Record<string, SpecialSubresource>>;
  readonly virtual?: VirtualResource;
}

/** Where and as what the objects of a row are stored. */
export function storedResourceOf({ hub, strategy }: ResourceDefinition): StoredResource {
  const { row, type } = hub;
  return {
    name: resourceNameOf(row),
    keyPrefix: `${row.group === '' ? 'core' : row.group}/${row.resource}/`,
    namespaced: row.namespaced,
    fieldPaths: Object.keys(strategy.selectableFields ?? {}),
    ...(strategy.fieldSources === undefined ? {} : { fieldSources: strategy.fieldSources }),
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
