import { createHash } from 'node:crypto';
import type { LabelSelector } from '../../../shared/meta/labels';
import { labelSelectorOf } from '../../../shared/meta/labels';
import type { ApiObject } from '../../../shared/object/object';
import type { Json } from '../../../shared/object/accessors';
import {
  integer,
  optionalRecord,
  optionalText,
  record,
  records,
  strings,
  text,
} from '../../../shared/object/accessors';

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

/** One webhook of a configuration, ready for use. */
export interface Webhook {
  readonly type: WebhookType;
  readonly configuration: string;
  readonly name: string;
  /** No other webhook of the type has it. */
  readonly uid: string;
  /** The same for as long as the webhook is asked in the same way: what is known of how it answers belongs to it. */
  readonly line: string;
  readonly rules: readonly Rule[];
  /** Requests by other versions of what a rule names are matched as well. */
  readonly matchesEquivalents: boolean;
  /** Requests go on when it cannot be asked. */
  readonly failsOpen: boolean;
  /** It may be asked about dry runs. */
  readonly bearsDryRuns: boolean;
  readonly timeoutMs: number;
  /** The first version it accepts that is spoken here; undefined for none. */
  readonly reviewVersion: ReviewVersion | undefined;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** It is asked again when others have changed the object after it. */
  readonly isReinvoked: boolean;
  readonly address: WebhookAddress;
  /** PEM; empty where the authorities of the system are trusted. */
  readonly authorities: string;
}

const TIMEOUT_SECONDS = 10;
const SECOND_MS = 1_000;
const HTTPS_PORT = 443;
const HARMLESS: ReadonlySet<string> = new Set(['None', 'NoneOnDryRun']);

/** The webhooks of a configuration, in its hub version, in their order. */
export function webhooksOf(type: WebhookType, configuration: ApiObject): readonly Webhook[] {
  const { name = '' } = configuration.metadata;
  return records(configuration['webhooks']).map((hook, index) => {
    const read = webhookOf(hook);
    const uid = `${name}/${read.name}/${String(index)}`;
    const { address, authorities, timeoutMs } = read;
    const line = digest([type, uid, address, authorities, timeoutMs]);
    return { ...read, type, configuration: name, uid, line };
  });
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

function webhookOf(hook: Json): Omit<Webhook, 'type' | 'configuration' | 'uid' | 'line'> {
  return {
    name: text(hook['name']),
    rules: records(hook['rules']).map(ruleOf),
    matchesEquivalents: hook['matchPolicy'] === 'Equivalent',
    failsOpen: hook['failurePolicy'] === 'Ignore',
    bearsDryRuns: HARMLESS.has(text(hook['sideEffects'])),
    timeoutMs: (integer(hook['timeoutSeconds']) ?? TIMEOUT_SECONDS) * SECOND_MS,
    reviewVersion: reviewVersionOf(strings(hook['admissionReviewVersions'])),
    namespaceSelector: labelSelectorOf(optionalRecord(hook['namespaceSelector'])),
    objectSelector: labelSelectorOf(optionalRecord(hook['objectSelector'])),
    isReinvoked: hook['reinvocationPolicy'] === 'IfNeeded',
    ...clientOf(record(hook['clientConfig'])),
  };
}

function reviewVersionOf(accepted: readonly string[]): ReviewVersion | undefined {
  const spoken: readonly string[] = REVIEW_VERSIONS;
  return accepted.find((version) => spoken.includes(version)) as ReviewVersion | undefined;
}

function ruleOf(rule: Json): Rule {
  return {
    operations: strings(rule['operations']),
    apiGroups: strings(rule['apiGroups']),
    apiVersions: strings(rule['apiVersions']),
    resources: strings(rule['resources']),
    scope: optionalText(rule['scope']) ?? '*',
  };
}

function clientOf(client: Json): Pick<Webhook, 'address' | 'authorities'> {
  const authorities = Buffer.from(text(client['caBundle']), 'base64').toString('utf8');
  const service = optionalRecord(client['service']);
  if (service === undefined) return { address: { url: text(client['url']) }, authorities };
  const address = {
    namespace: text(service['namespace']),
    name: text(service['name']),
    port: integer(service['port']) ?? HTTPS_PORT,
    path: text(service['path']),
  };
  return { address, authorities };
}
