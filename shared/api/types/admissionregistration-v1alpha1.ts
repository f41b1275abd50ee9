// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

export type ApplyConfiguration = {
  readonly expression?: string;
};

export type JSONPatch = {
  readonly expression?: string;
};

export type MatchCondition = {
  readonly name: string;
  readonly expression: string;
};

export type MatchResources = {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly resourceRules?: readonly NamedRuleWithOperations[];
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[];
  readonly matchPolicy?: string;
};

export type MutatingAdmissionPolicy = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: MutatingAdmissionPolicySpec;
};

export type MutatingAdmissionPolicyBinding = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: MutatingAdmissionPolicyBindingSpec;
};

/** A list of objects of the kind MutatingAdmissionPolicyBinding. */
export type MutatingAdmissionPolicyBindingList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly MutatingAdmissionPolicyBinding[] | null;
};

export type MutatingAdmissionPolicyBindingSpec = {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
};

/** A list of objects of the kind MutatingAdmissionPolicy. */
export type MutatingAdmissionPolicyList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly MutatingAdmissionPolicy[] | null;
};

export type MutatingAdmissionPolicySpec = {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly variables?: readonly Variable[];
  readonly mutations?: readonly Mutation[];
  readonly failurePolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
  readonly reinvocationPolicy?: string;
};

export type Mutation = {
  readonly patchType: string;
  readonly applyConfiguration?: ApplyConfiguration;
  readonly jsonPatch?: JSONPatch;
};

export type NamedRuleWithOperations = {
  readonly resourceNames?: readonly string[];
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
};

export type ParamKind = {
  readonly apiVersion?: string;
  readonly kind?: string;
};

export type ParamRef = {
  readonly name?: string;
  readonly namespace?: string;
  readonly selector?: LabelSelector;
  readonly parameterNotFoundAction?: string;
};

export type Variable = {
  readonly name: string;
  readonly expression: string;
};
