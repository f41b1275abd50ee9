// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Base64 } from '../../object/values';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

export type MutatingWebhook = {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly RuleWithOperations[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects: string | null;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions: readonly string[] | null;
  readonly reinvocationPolicy?: string;
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

export type ServiceReference = {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string;
  readonly port?: number;
};

export type ValidatingWebhook = {
  readonly name: string;
  readonly clientConfig: WebhookClientConfig;
  readonly rules?: readonly RuleWithOperations[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects: string | null;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions: readonly string[] | null;
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

export type WebhookClientConfig = {
  readonly url?: string;
  readonly service?: ServiceReference;
  readonly caBundle?: Base64;
};
