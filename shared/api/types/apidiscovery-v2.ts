// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { GroupVersionKind, ListMeta, ObjectMeta } from './meta-v1';

export type APIGroupDiscovery = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly versions?: readonly APIVersionDiscovery[];
};

/** A list of objects of the kind APIGroupDiscovery. */
export type APIGroupDiscoveryList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly APIGroupDiscovery[] | null;
};

export type APIResourceDiscovery = {
  readonly resource: string;
  readonly responseKind?: GroupVersionKind;
  readonly scope: string;
  readonly singularResource: string;
  readonly verbs: readonly string[] | null;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly APISubresourceDiscovery[];
};

export type APISubresourceDiscovery = {
  readonly subresource: string;
  readonly responseKind?: GroupVersionKind;
  readonly acceptedTypes?: readonly GroupVersionKind[];
  readonly verbs: readonly string[] | null;
};

export type APIVersionDiscovery = {
  readonly version: string;
  readonly resources?: readonly APIResourceDiscovery[];
  readonly freshness?: string;
};
