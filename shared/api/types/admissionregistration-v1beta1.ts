// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Base64, Int64 } from '../../object/values';
import type { RuleWithOperations as ImportedRuleWithOperations } from './admissionregistration-v1';
import type { Condition, LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

export type ApplyConfiguration = {
  readonly expression?: string;
};

export type AuditAnnotation = {
  readonly key: string;
  readonly valueExpression: string;
};

export type ExpressionWarning = {
  readonly fieldRef: string;
  readonly warning: string;
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

export type MutatingWebhook = {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly ImportedRuleWithOperations[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly MatchCondition[];
};

/** Webhooks that may change objects before they are stored. */
export type MutatingWebhookConfiguration = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly webhooks?: readonly MutatingWebhook[];
};

/** A list of objects of the kind MutatingWebhookConfiguration. */
export type MutatingWebhookConfigurationList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly MutatingWebhookConfiguration[] | null;
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

export type ServiceReference = {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
};

export type TypeChecking = {
  readonly expressionWarnings?: readonly ExpressionWarning[];
};

export type ValidatingAdmissionPolicy = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ValidatingAdmissionPolicySpec;
  readonly status?: ValidatingAdmissionPolicyStatus;
};

export type ValidatingAdmissionPolicyBinding = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ValidatingAdmissionPolicyBindingSpec;
};

/** A list of objects of the kind ValidatingAdmissionPolicyBinding. */
export type ValidatingAdmissionPolicyBindingList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ValidatingAdmissionPolicyBinding[] | null;
};

export type ValidatingAdmissionPolicyBindingSpec = {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
};

/** A list of objects of the kind ValidatingAdmissionPolicy. */
export type ValidatingAdmissionPolicyList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ValidatingAdmissionPolicy[] | null;
};

export type ValidatingAdmissionPolicySpec = {
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly validations?: readonly Validation[];
  readonly failurePolicy?: string;
  readonly auditAnnotations?: readonly AuditAnnotation[];
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
};

export type ValidatingAdmissionPolicyStatus = {
  readonly observedGeneration?: Int64;
  readonly typeChecking?: TypeChecking;
  readonly conditions?: readonly Condition[];
};

export type ValidatingWebhook = {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly ImportedRuleWithOperations[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly matchConditions?: readonly MatchCondition[];
};

/** Webhooks that may refuse objects before they are stored. */
export type ValidatingWebhookConfiguration = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly webhooks?: readonly ValidatingWebhook[];
};

/** A list of objects of the kind ValidatingWebhookConfiguration. */
export type ValidatingWebhookConfigurationList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ValidatingWebhookConfiguration[] | null;
};

export type Validation = {
  readonly message?: string;
  readonly reason?: string;
  readonly messageExpression?: string;
  readonly expression: string;
};

export type Variable = {
  readonly name: string;
  readonly expression: string;
};

export type WebhookClientConfig = {
  readonly url?: string;
  readonly service?: ServiceReference;
  readonly caBundle?: Base64;
};

export type Rule = {
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
};

export type RuleWithOperations = {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
};
