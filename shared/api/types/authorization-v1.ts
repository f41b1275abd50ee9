// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta } from './meta-v1';

export type FieldSelectorAttributes = {
  readonly rawSelector?: string;
  readonly requirements?: readonly FieldSelectorRequirement[];
};

export type LabelSelectorAttributes = {
  readonly rawSelector?: string;
  readonly requirements?: readonly LabelSelectorRequirement[];
};

/** Asks whether somebody may do something in one namespace. */
export type LocalSubjectAccessReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
};

export type NonResourceAttributes = {
  readonly path?: string;
  readonly verb?: string;
};

export type NonResourceRule = {
  readonly verbs: readonly string[] | null;
  readonly nonResourceURLs?: readonly string[];
};

export type ResourceAttributes = {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly fieldSelector?: FieldSelectorAttributes;
  readonly labelSelector?: LabelSelectorAttributes;
};

export type ResourceRule = {
  readonly verbs: readonly string[] | null;
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
};

/** Asks whether the requester may do something. */
export type SelfSubjectAccessReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
};

export type SelfSubjectAccessReviewSpec = {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
};

/** Asks what the requester may do in a namespace. */
export type SelfSubjectRulesReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status?: SubjectRulesReviewStatus;
};

export type SelfSubjectRulesReviewSpec = {
  readonly namespace?: string;
};

/** Asks whether somebody may do something. */
export type SubjectAccessReview = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus;
};

export type SubjectAccessReviewSpec = {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[] | null>>;
  readonly uid?: string;
};

export type SubjectAccessReviewStatus = {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
};

export type SubjectRulesReviewStatus = {
  readonly resourceRules: readonly ResourceRule[] | null;
  readonly nonResourceRules: readonly NonResourceRule[] | null;
  readonly incomplete: boolean;
  readonly evaluationError?: string;
};
