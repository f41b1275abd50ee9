import type { DefaultsTable, MessageDefaults } from './contract';

const ofBoth = { namespaceSelector: {}, objectSelector: {} } as const;
const v1 = { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10, ...ofBoth } as const;
const v1beta1 = {
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  sideEffects: 'Unknown',
  timeoutSeconds: 30,
  ...ofBoth,
} as const;
const mutating = { reinvocationPolicy: 'Never' } as const;

const reviewVersions: MessageDefaults<{ readonly admissionReviewVersions?: readonly string[] }> = {
  derive: ({ admissionReviewVersions: given = [] }) =>
    given.length > 0 ? undefined : { admissionReviewVersions: ['v1beta1'] },
};
const rule: MessageDefaults<{ readonly scope?: string }> = { values: { scope: '*' } };
const reference: MessageDefaults<{ readonly port?: number }> = { values: { port: 443 } };

const policySpec: MessageDefaults<{ readonly failurePolicy?: string }> = {
  values: { failurePolicy: 'Fail' },
};
const matchResources = { values: { matchPolicy: 'Equivalent', ...ofBoth } } as const;

/** The two versions differ in nearly every default of a webhook. */
export const ADMISSIONREGISTRATION: DefaultsTable = {
  'admissionregistration/v1.MutatingWebhook': { values: { ...v1, ...mutating } },
  'admissionregistration/v1.ValidatingWebhook': { values: v1 },
  'admissionregistration/v1beta1.MutatingWebhook': { values: { ...v1beta1, ...mutating }, ...reviewVersions },
  'admissionregistration/v1beta1.ValidatingWebhook': { values: v1beta1, ...reviewVersions },
  'admissionregistration/v1.RuleWithOperations': rule,
  'admissionregistration/v1beta1.RuleWithOperations': rule,
  'admissionregistration/v1.NamedRuleWithOperations': rule,
  'admissionregistration/v1alpha1.NamedRuleWithOperations': rule,
  'admissionregistration/v1beta1.NamedRuleWithOperations': rule,
  'admissionregistration/v1.MatchResources': matchResources,
  'admissionregistration/v1alpha1.MatchResources': matchResources,
  'admissionregistration/v1beta1.MatchResources': matchResources,
  'admissionregistration/v1.MutatingAdmissionPolicySpec': policySpec,
  'admissionregistration/v1alpha1.MutatingAdmissionPolicySpec': policySpec,
  'admissionregistration/v1beta1.MutatingAdmissionPolicySpec': policySpec,
  'admissionregistration/v1.ValidatingAdmissionPolicySpec': policySpec,
  'admissionregistration/v1beta1.ValidatingAdmissionPolicySpec': policySpec,
  'admissionregistration/v1.ServiceReference': reference,
  'admissionregistration/v1beta1.ServiceReference': reference,
};
