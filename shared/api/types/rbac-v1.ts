// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

/** Which ClusterRoles a ClusterRole gathers its rules from. */
export type AggregationRule = {
  readonly clusterRoleSelectors?: readonly LabelSelector[];
};

/** Rules of access that can be granted everywhere, or in any namespace. */
export type ClusterRole = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly rules: readonly PolicyRule[] | null;
  readonly aggregationRule?: AggregationRule;
};

/** Grants a ClusterRole to users, groups and service accounts, in the whole cluster. */
export type ClusterRoleBinding = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
};

/** A list of objects of the kind ClusterRoleBinding. */
export type ClusterRoleBindingList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ClusterRoleBinding[] | null;
};

/** A list of objects of the kind ClusterRole. */
export type ClusterRoleList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ClusterRole[] | null;
};

export type PolicyRule = {
  readonly verbs: readonly string[] | null;
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
};

/** Rules of access within a namespace. */
export type Role = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly rules: readonly PolicyRule[] | null;
};

/** Grants a Role or ClusterRole to users, groups and service accounts, within a namespace. */
export type RoleBinding = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly subjects?: readonly Subject[];
  readonly roleRef: RoleRef;
};

/** A list of objects of the kind RoleBinding. */
export type RoleBindingList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly RoleBinding[] | null;
};

/** A list of objects of the kind Role. */
export type RoleList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly Role[] | null;
};

export type RoleRef = {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
};

export type Subject = {
  readonly kind: string;
  readonly apiGroup?: string;
  readonly name: string;
  readonly namespace?: string;
};
