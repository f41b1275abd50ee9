import type { Conversion } from '../../../shared/conversion/conversion';
import type { ApplyDefaults } from '../../../shared/defaults/defaults';
import type { ResourceRow, SubresourceRow } from '../../../shared/api/resources';
import type { KindType } from '../../../shared/schema/types';
import type { StructuralSchema } from '../../../shared/structural/structural-schema';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf, resourceNameOf } from '../../../shared/object/object';
import type { CachedResource } from '../watch-cache/state/entry';
import type { ObjectTable } from './object-table';
import type { Strategy } from './strategy';
import type { SpecialSubresource } from './special-subresource';
import type { VirtualResource } from './operation';

/** One kind of object as it is stored: its hub version, its place in the store, its behaviour. */
export interface StoredResource extends CachedResource {
  readonly group: string;
  /** The hub version, the only one that is stored. */
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly type: KindType;
  readonly strategy: Strategy;
  /** Only of custom resources. */
  readonly custom?: CustomStorage;
}

/**
 * How the objects of a custom resource stand in the store: each in the version in which objects were stored when it was written, and
 * with the fields that the definition knew then.
 */
export interface CustomStorage {
  /** Set where a webhook converts: all that turns one version into another may then throw ConversionNeeded. */
  readonly converts?: true;
  /**
   * A stored object as a version shows it: what the definition does not know any more is gone, and what the version that it stands in has
   * defaults for is filled in. Members that do not change are shared with the stored object.
   */
  read(object: ApiObject, apiVersion: string): ApiObject;
  /** The same of many objects, without ConversionNeeded: what has to be converted is. Throws InternalError (500) if that fails. */
  readAll(
    objects: readonly ApiObject[],
    apiVersion: string,
    signal: AbortSignal,
  ): Promise<readonly ApiObject[]>;
  /** An object of one version in another one. */
  convert(object: ApiObject, apiVersion: string): ApiObject;
  /** The same, with what the other version does not know. */
  move(object: ApiObject, apiVersion: string): ApiObject;
  /** What is kept of an object in the stored version; its fields stand in alphabetical order, so that equal objects have equal bytes. */
  keep(object: ApiObject): ApiObject;
}

/**
 * The version of a CustomResourceDefinition that an endpoint serves. Its parts are read from the stored definition when they are asked
 * for, so that hundreds of definitions cost little: keep the endpoint rather than what it gives.
 */
export interface CustomVersion {
  /** No two definitions have the same one, nor a definition before and after a change of what it serves. */
  readonly id: string;
  /** The whole definition, in its hub version. */
  readonly definition: ApiObject;
  /** The member of its `spec.versions` that is served. */
  readonly version: Readonly<Record<string, unknown>>;
  /** Its schema, compiled; undefined for a version without one. */
  readonly schema: StructuralSchema | undefined;
  /** Whether nothing is pruned, as definitions of apiextensions/v1beta1 can ask. */
  readonly preservesUnknownFields: boolean;
  /** The definition is being deleted: nothing is created any more. */
  readonly isTerminating: boolean;
  /** Whether objects may be shown otherwise than they are stored. */
  readonly changesOnRead: boolean;
  /** How objects are shown in a Table. Equal ids mean equal columns; computed at each call. */
  readTable(): { readonly table: ObjectTable; readonly id: string };
}

/** A kind that a client names. */
export interface GivenKind {
  readonly kind: string;
  /** With the group: `apps/v1`. */
  readonly version: string;
  readonly group: string;
}

/** Why an object of the given kind is none of the row's kind; undefined if it is one in another version. */
export type ExplainMisfit = (given: GivenKind, row: ResourceRow) => string | undefined;

/** One version of one resource as it is served. Several endpoints may share what is stored. */
export interface Endpoint {
  readonly row: ResourceRow;
  readonly apiVersion: string;
  readonly type: KindType;
  readonly stored: StoredResource;
  /** To and from the hub version; absent when only the apiVersion differs, or nothing. */
  readonly conversion?: Conversion;
  /** Names that field selectors of this version have for fields of the hub, by the former. */
  readonly selectorNames: ReadonlyMap<string, string>;
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
  /** How objects are shown in a Table; absent for a kind without columns of its own, and for custom resources. */
  readonly table?: ObjectTable;
  /** Annotations that hold fields of the kind. They are not part of the metadata where it is shown alone. */
  readonly hiddenAnnotations?: readonly string[];
  readonly explainMisfit?: ExplainMisfit;
  /** Only of custom resources: the definition that the endpoint was made from. */
  readonly custom?: CustomVersion;
  /** All served versions of what is stored, this one included, by their apiVersion. */
  readonly versions: ReadonlyMap<string, Endpoint>;
}

/** What the registry needs to serve one row of the tables. */
export interface ResourceDefinition {
  readonly row: ResourceRow;
  readonly type: KindType;
  /** The version in which objects of the resource are stored; the row itself, or another one that need not be served. */
  readonly hub: { readonly row: ResourceRow; readonly type: KindType };
  /** Of the stored kind. */
  readonly strategy: Strategy;
  readonly conversion?: Conversion;
  readonly applyDefaults?: ApplyDefaults;
  /** Names of the row's subresources that are served. */
  readonly servedSubresources: readonly string[];
  readonly specialSubresources?: Readonly<Record<string, SpecialSubresource>>;
  readonly virtual?: VirtualResource;
  readonly table?: ObjectTable;
  readonly hiddenAnnotations?: readonly string[];
  readonly explainMisfit?: ExplainMisfit;
  readonly custom?: CustomVersion;
  readonly storage?: CustomStorage;
  /** The Warning that every request gets, where that is not made from the row. */
  readonly deprecation?: string;
}

/** Where and as what the objects of a row are stored. */
export function storedResourceOf({ hub, strategy, storage }: ResourceDefinition): StoredResource {
  const { row, type } = hub;
  return {
    name: resourceNameOf(row),
    keyPrefix: `${row.group === '' ? 'core' : row.group}/${row.resource}/`,
    namespaced: row.namespaced,
    // Nobody can select by the version that a custom object stands in, but readers have to know it.
    fieldPaths: storage === undefined ? Object.keys(strategy.selectableFields ?? {}) : [STORED_VERSION],
    ...(strategy.fieldSources === undefined ? {} : { fieldSources: strategy.fieldSources }),
    indexedFields: strategy.indexedFields ?? [],
    group: row.group,
    version: row.version,
    resource: row.resource,
    kind: row.kind,
    apiVersion: apiVersionOf(row),
    type,
    strategy,
    ...(storage === undefined ? {} : { custom: storage }),
  };
}

/** Of the fields of entries, the one with the version that the object stands in. */
const STORED_VERSION = 'apiVersion';

/** The version that a cached object stands in. */
export function storedVersionOf(
  { apiVersion }: Pick<StoredResource, 'apiVersion'>,
  fields: Readonly<Record<string, string>> | undefined,
): string {
  const found = fields?.[STORED_VERSION] ?? '';
  return found === '' ? apiVersion : found;
}

/** The kind as a refusal names it. */
export function kindInErrors({ kind, group, strategy }: StoredResource): {
  readonly group: string;
  readonly kind: string;
} {
  return { group: strategy.compat?.groupInErrors ?? group, kind };
}

/** The key of an object relative to its resource's prefix. */
export function relativeKey(resource: CachedResource, namespace: string, name: string): string {
  return resource.namespaced ? `${namespace}/${name}` : name;
}
