// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../object/object';
import type { Int64, Time } from '../../object/values';

export type { ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference };

export type APIGroup = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name: string;
  readonly versions: readonly GroupVersionForDiscovery[] | null;
  readonly preferredVersion: GroupVersionForDiscovery;
  readonly serverAddressByClientCIDRs?: readonly ServerAddressByClientCIDR[];
};

/** A list of objects of the kind APIGroup. */
export type APIGroupList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly groups: readonly APIGroup[] | null;
};

export type APIResource = {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[] | null;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
};

/** A list of objects of the kind APIResource. */
export type APIResourceList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly groupVersion: string;
  readonly resources: readonly APIResource[] | null;
};

export type APIVersions = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly versions: readonly string[] | null;
  readonly serverAddressByClientCIDRs: readonly ServerAddressByClientCIDR[] | null;
};

export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: Int64;
  readonly lastTransitionTime: Time | null;
  readonly reason: string;
  readonly message: string;
};

/** How an object is deleted. */
export type DeleteOptions = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly gracePeriodSeconds?: Int64;
  readonly preconditions?: Preconditions;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
};

export type FieldSelectorRequirement = {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
};

export type GroupResource = {
  readonly group: string;
  readonly resource: string;
};

export type GroupVersionForDiscovery = {
  readonly groupVersion: string;
  readonly version: string;
};

export type GroupVersionKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
};

export type GroupVersionResource = {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
};

/** Selects objects by their labels. All of its conditions must hold; an empty one selects everything. */
export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
};

export type LabelSelectorRequirement = {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
};

export type PartialObjectMetadata = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
};

/** A list of objects of the kind PartialObjectMetadata. */
export type PartialObjectMetadataList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PartialObjectMetadata[] | null;
};

export type Preconditions = {
  readonly uid?: string;
  readonly resourceVersion?: string;
};

export type ServerAddressByClientCIDR = {
  readonly clientCIDR: string;
  readonly serverAddress: string;
};

export type ShardInfo = {
  readonly selector: string;
};

/** The outcome of a request that does not answer with an object. */
export type Status = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
};

export type StatusCause = {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
};

export type StatusDetails = {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
};

export type WatchEvent = {
  readonly type: string;
  readonly object: unknown;
};
