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

export type WebhookType = 'mutating' | 'validating';

/** The versions of AdmissionReview that are spoken. */
export const REVIEW_VERSIONS = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

/** What a webhook wants to see. */
export interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** `pods`, `pods/status`, `pods/*`, `*`, `*` with a subresource. */
  readonly resources: readonly string[];
  readonly scope: string;
}

/** Where a webhook is. */
export type WebhookAddress =
  | { readonly url: string }
  | {
      readonly namespace: string;
      readonly name: string;
      readonly port: number;
      /** Empty, or with a leading slash. */
      readonly path: string;
    };

/** What has to be known of a webhook to call it. */
export interface CalledWebhook {
  readonly type: WebhookType | 'conversion';
  /** That it is part of; of a conversion webhook, the definition. */
  readonly configuration: string;
  readonly name: string;
  /** The same for as long as the webhook is asked in the same way: what is known of how it answers belongs to it. */
  readonly callKey: string;
  /** Requests go on when it cannot be asked. */
  readonly failsOpen: boolean;
  readonly timeoutMs: number;
  readonly address: WebhookAddress;
  /** PEM; empty where the authorities of the system are trusted. */
  readonly authorities: string;
}

/** One webhook of a configuration, ready for use. */
export interface Webhook extends CalledWebhook {
  readonly type: WebhookType;
  /** No other webhook of the type has it. */
  readonly uid: string;
  readonly rules: readonly Rule[];
  /** Requests by other versions of what a rule names are matched as well. */
  readonly matchesEquivalents: boolean;
  /** It may be asked about dry runs. */
  readonly bearsDryRuns: boolean;
  /** The first version it accepts that is spoken here; undefined for none. */
  readonly reviewVersion: ReviewVersion | undefined;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** It is asked again when others have changed the object after it. */
  readonly isReinvoked: boolean;
}

const TIMEOUT_SECONDS = 10;
const SECOND_MS = 1_000;
const HTTPS_PORT = 443;
const HARMLESS: ReadonlySet<string> = new Set(['None', 'NoneOnDryRun']);

export type WebhookConfiguration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** The webhooks of a configuration, in its hub version, in their order. */
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
    isReinvoked: 'reinvocationPolicy' in hook && hook.reinvocationPolicy === 'IfNeeded',
    ...clientOf(hook.clientConfig),
  };
}

function reviewVersionOf(accepted: readonly string[]): ReviewVersion | undefined {
  const spoken: readonly string[] = REVIEW_VERSIONS;
  return accepted.find((version) => spoken.includes(version)) as ReviewVersion | undefined;
}

function ruleOf({
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
