import { createHash } from 'node:crypto';
import type { LabelSelector } from '../../../../shared/meta/labels';
import { toLabelSelector } from '../../../../shared/meta/labels';
import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  RuleWithOperations,
  ValidatingWebhook,
  ValidatingWebhookConfiguration,
  WebhookClientConfig,
} from '../../../../shared/api/types/admissionregistration-v1';

import { MatchConditions } from '../expressions/match-conditions';

export type WebhookType = 'mutating' | 'validating';

/** The supported versions of AdmissionReview. */
export const REVIEW_VERSIONS = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** One rule of a webhook. */
export interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** `pods`, `pods/status`, `pods/*`, `*`, `*` with a subresource. */
  readonly resources: readonly string[];
  readonly scope: string;
}

/** The address of a webhook. */
export type WebhookAddress =
  | { readonly url: string }
  | {
      readonly namespace: string;
      readonly name: string;
      readonly port: number;
      /** Empty, or with a leading slash. */
      readonly path: string;
    };

/** What is needed to call a webhook. */
export interface CalledWebhook {
  readonly type: WebhookType | 'conversion';
  /** The configuration that contains it; the definition for a conversion webhook. */
  readonly configuration: string;
  readonly name: string;
  /** Constant while the call parameters are the same; circuit breaker and connections belong to it. */
  readonly callKey: string;
  /** failurePolicy Ignore. */
  readonly failsOpen: boolean;
  readonly timeoutMs: number;
  readonly address: WebhookAddress;
  /** PEM; empty to trust the system's authorities. */
  readonly authorities: string;
}

/** A compiled webhook of a configuration. */
export interface Webhook extends CalledWebhook {
  readonly type: WebhookType;
  /** Unique among webhooks of the type. */
  readonly uid: string;
  readonly rules: readonly Rule[];
  /** matchPolicy Equivalent. */
  readonly matchesEquivalents: boolean;
  /** May be called for dry runs. */
  readonly bearsDryRuns: boolean;
  /** The first accepted version that is supported; undefined if none. */
  readonly reviewVersion: ReviewVersion | undefined;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** Absent: it is called whenever its rules and selectors match. */
  readonly conditions: MatchConditions | undefined;
  /** Reinvoked when later webhooks have changed the object. */
  readonly isReinvoked: boolean;
}

const TIMEOUT_SECONDS = 10;
const SECOND_MS = 1_000;
const HTTPS_PORT = 443;
const HARMLESS: ReadonlySet<string> = new Set(['None', 'NoneOnDryRun']);

export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** Returns the webhooks of a configuration in its hub version, in order. */
export function webhooksOf(
  type: WebhookType,
  { metadata: { name = '' }, webhooks = [] }: WebhookConfiguration,
): readonly Webhook[] {
  return webhooks.map((hook, index) => {
    const read = webhookOf(hook);
    const uid = `${name}/${read.name}/${String(index)}`;
    const { address, authorities, timeoutMs } = read;
    const callKey = digest([type, uid, address, authorities, timeoutMs]);
    return { ...read, type, configuration: name, uid, callKey };
  });
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

function webhookOf(
  hook: MutatingWebhook | ValidatingWebhook,
): Omit<Webhook, 'type' | 'configuration' | 'uid' | 'callKey'> {
  return {
    name: hook.name,
    rules: (hook.rules ?? []).map(ruleOf),
    matchesEquivalents: hook.matchPolicy === 'Equivalent',
    failsOpen: hook.failurePolicy === 'Ignore',
    bearsDryRuns: HARMLESS.has(hook.sideEffects ?? ''),
    timeoutMs: (hook.timeoutSeconds ?? TIMEOUT_SECONDS) * SECOND_MS,
    reviewVersion: reviewVersionOf(hook.admissionReviewVersions ?? []),
    namespaceSelector: toLabelSelector(hook.namespaceSelector),
    objectSelector: toLabelSelector(hook.objectSelector),
    conditions: conditionsOf(hook),
    isReinvoked: 'reinvocationPolicy' in hook && hook.reinvocationPolicy === 'IfNeeded',
    ...clientOf(hook.clientConfig),
  };
}

function conditionsOf({
  matchConditions = [],
}: MutatingWebhook | ValidatingWebhook): MatchConditions | undefined {
  if (matchConditions.length === 0) return undefined;
  return new MatchConditions(matchConditions, { hasParams: false, hasAuthorizer: true });
}

function reviewVersionOf(accepted: readonly string[]): ReviewVersion | undefined {
  const spoken: readonly string[] = REVIEW_VERSIONS;
  return accepted.find((version) => spoken.includes(version)) as ReviewVersion | undefined;
}

/** Reads a rule of a webhook or of a policy. */
export function ruleOf({
  operations = [],
  apiGroups = [],
  apiVersions = [],
  resources = [],
  scope = '*',
}: RuleWithOperations): Rule {
  return { operations, apiGroups, apiVersions, resources, scope };
}

function clientOf({
  url = '',
  service,
  caBundle = '',
}: WebhookClientConfig): Pick<Webhook, 'address' | 'authorities'> {
  const authorities = Buffer.from(caBundle, 'base64').toString('utf8');
  if (service === undefined) return { address: { url }, authorities };
  const { namespace, name, port = HTTPS_PORT, path = '' } = service;
  return { address: { namespace, name, port, path }, authorities };
}
