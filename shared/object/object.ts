/** Types that all API objects share. Field names and meanings are those of meta/v1 of Kubernetes v1.21. */

import type { Int64 } from './values';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: unknown;
  readonly subresource?: string;
}

/** What every object has beside its kind. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly selfLink?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: Int64;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string | null;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly clusterName?: string;
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** An API object as decoded JSON. The schema describes everything but the envelope. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface ListMeta {
  readonly selfLink?: string;
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}

/** Key of the type-only part of `ResourceOf`; no value has it. */
declare const OBJECT: unique symbol;

/** A resource with the type of its objects, so that reads are typed. */
export interface ResourceOf<out T extends ApiObject> extends GroupVersionResource {
  readonly [OBJECT]?: T;
}

/** An object as a client sends it: fields that the server fills in may be absent. */
export type Sent<T extends ApiObject> = { readonly metadata: ObjectMeta } & {
  readonly [Field in Exclude<keyof T, 'metadata'>]?: Part<T[Field]> | undefined;
};

/** A value of which every part is optional. */
export type Part<V> = V extends readonly (infer Item)[]
  ? readonly Part<Item>[]
  : V extends object
    ? { readonly [Field in keyof V]?: Part<V[Field]> | undefined }
    : V;

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** Formats an apiVersion: `v1` for core, else `group/version`. */
export function apiVersionOf({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** Formats a resource for messages and metrics: `pods`, or `deployments.apps` outside core. */
export function resourceNameOf({
  group,
  resource,
}: {
  readonly group: string;
  readonly resource: string;
}): string {
  return group === '' ? resource : `${resource}.${group}`;
}
