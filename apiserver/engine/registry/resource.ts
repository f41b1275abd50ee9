import type { Conversion } from '../../../shared/conversion/conversion';
import type { ApplyDefaults } from '../../../shared/defaults/defaults';
import type { ResourceRow, SubresourceRow } from '../../../shared/api/resources';
import type { KindType } from '../../../shared/schema/types';
import type { StructuralSchema } from '../../../shared/structural/structural-schema';
import type { ApiObject } from '../../../shared/object/object';
import { apiVersionOf, resourceNameOf } from '../../../shared/object/object';
import type { CachedResource } from '../watch-cache/state/entry';
import { movedToHub } from './hub';
import type { ObjectTable } from './object-table';
import type { Strategy } from './strategy';
import type { SpecialSubresource } from './special-subresource';
import type { VirtualResource } from './operation';

/** A kind as it is stored: its hub version, its place in the store, its behaviour. */
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
 * How objects of a custom resource are stored: each in the version that was the storage version when it was
 * written, with the fields that the definition had then.
 */
export interface CustomStorage {
  /** A webhook converts: every conversion may throw ConversionNeeded. */
  readonly converts?: true;
  /**
   * A stored object in this version: fields that the definition no longer has are pruned, and defaults of
   * the version it is stored in are filled in. Unchanged members are shared with the stored object.
   */
  read(object: ApiObject, apiVersion: string): ApiObject;
  /**
   * The same for many objects, without ConversionNeeded: objects are converted by the webhook. Throws
   * InternalError (500) if that fails.
   */
  readAll(
    objects: readonly ApiObject[],
    apiVersion: string,
    signal: AbortSignal,
  ): Promise<readonly ApiObject[]>;
  /** Converts an object to another version. */
  convert(object: ApiObject, apiVersion: string): ApiObject;
  /** Converts an object and keeps the fields that the other version does not know. */
  move(object: ApiObject, apiVersion: string): ApiObject;
  /**
   * The stored form of an object in the storage version. Fields are in alphabetical order, so that equal
   * objects have equal bytes.
   */
  keep(object: ApiObject): ApiObject;
}

/**
 * The version of a CustomResourceDefinition that an endpoint serves. Its parts are computed from the stored
 * definition on each access, so that hundreds of definitions use little memory: keep the endpoint, not its
 * parts.
 */
export interface CustomVersion {
  /** Unique among all definitions; it changes whenever the definition changes what it serves. */
  readonly id: string;
  /** The whole definition, in its hub version. */
  readonly definition: ApiObject;
  /** The member of its `spec.versions` that is served. */
  readonly version: Readonly<Record<string, unknown>>;
  /** Its schema, compiled; undefined for a version without one. */
  readonly schema: StructuralSchema | undefined;
  /** Nothing is pruned, as definitions of apiextensions/v1beta1 can request. */
  readonly preservesUnknownFields: boolean;
  /** The definition is being deleted: creations are refused. */
  readonly isTerminating: boolean;
  /** Reading may change objects: pruning, defaults or conversion apply. */
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

/** One served version of a resource. Several endpoints may share a stored resource. */
export interface Endpoint {
  readonly row: ResourceRow;
  readonly apiVersion: string;
  readonly type: KindType;
  readonly stored: StoredResource;
  /** To and from the hub version; absent if the fields are the same in both. */
  readonly conversion?: Conversion;
  /** Names of field selectors of this version, mapped to names in the hub version. */
  readonly selectorNames: ReadonlyMap<string, string>;
  /** Fills in defaults of this version; absent for a kind without defaults. */
  readonly applyDefaults?: ApplyDefaults;
  /** The Warning that every request to a deprecated version gets. */
  readonly deprecation?: string;
  /** Served subresources by name. */
  readonly subresources: ReadonlyMap<string, SubresourceRow>;
  /** Those of them that are operations, or show another kind. */
  readonly specialSubresources?: Readonly<Record<string, SpecialSubresource>>;
  /** Computes objects instead of storing them. */
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

export interface ResourceDefinition {
  readonly row: ResourceRow;
  readonly type: KindType;
  /** The version in which objects of the resource are stored; the row itself, or another one that need not be served. */
  readonly hub: { readonly row: ResourceRow; readonly type: KindType };
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
  /** The Warning of every request; the default comes from the row. */
  readonly deprecation?: string;
}

/** Describes how the objects of a definition are stored. */
export function storedResourceOf({ hub, strategy, storage }: ResourceDefinition): StoredResource {
  const { row, type } = hub;
  const { readsOtherVersion: other } = strategy;
  const form = { kind: row.kind, apiVersion: apiVersionOf(row), type };
  return {
    name: resourceNameOf(row),
    keyPrefix: `${row.group === '' ? 'core' : row.group}/${row.resource}/`,
    namespaced: row.namespaced,
    // No selector may use the stored version of a custom object, but readers need it.
    fieldPaths: [
      ...(storage === undefined ? [] : [STORED_VERSION]),
      ...Object.keys(strategy.selectableFields ?? {}),
    ],
    ...(strategy.fieldSources === undefined ? {} : { fieldSources: strategy.fieldSources }),
    indexedFields: strategy.indexedFields ?? [],
    group: row.group,
    version: row.version,
    resource: row.resource,
    ...form,
    strategy,
    ...(other === undefined ? {} : { toHubForm: (plain: Buffer) => movedToHub(form, plain, other) }),
    ...(storage === undefined ? {} : { custom: storage }),
  };
}

/** The field of cache entries that holds the version in which the object is stored. */
const STORED_VERSION = 'apiVersion';

/** The version in which a cached object is stored. */
export function storedVersionOf(
  { apiVersion }: Pick<StoredResource, 'apiVersion'>,
  fields: Readonly<Record<string, string>> | undefined,
): string {
  const found = fields?.[STORED_VERSION] ?? '';
  return found === '' ? apiVersion : found;
}

/** The group and kind for error messages. */
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
