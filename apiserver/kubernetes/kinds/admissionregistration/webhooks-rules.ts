import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
} from '../../../../shared/api/types/admissionregistration-v1';
import type { GroupVersion } from '../../../../shared/object/object';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import type { Strategy } from '../../../engine/registry/strategy';
import { choice, forEachItem, invalidForEach, repeatsIn } from '../rules/primitives';
import { labelSelector } from '../rules/label-selectors';
import { webhookClient } from '../rules/webhook-clients';
import { validateWebhookRule } from './webhook-rules';

/** What v1 demands and the older version did not. An object that already broke it may go on breaking it. */
interface Strictness {
  readonly uniqueNames: boolean;
  readonly noSideEffects: boolean;
  readonly knownReviewVersion: boolean;
}

const TIMEOUT_SECONDS_MAX = 30;
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const HARMLESS = ['None', 'NoneOnDryRun'];
const SIDE_EFFECTS = [...HARMLESS, 'Some', 'Unknown'];

/** Of mutating and validating configurations alike: what is read of the former, the latter has as well or may lack. */
export const webhookConfigurationRules: Pick<
  Strategy<MutatingWebhookConfiguration>,
  'validateNew' | 'validateUpdate'
> = {
  validateNew: (object, { via }) => validateWebhooks(object, strictnessOf(via)),
  validateUpdate: (next, previous, { via }) => validateWebhooks(next, strictnessOf(via, previous)),
};

function strictnessOf({ version }: GroupVersion, previous?: MutatingWebhookConfiguration): Strictness {
  const isNew = version !== 'v1beta1';
  const { webhooks: hooks = [] } = previous ?? {};
  const names = hooks.map(({ name }) => name);
  return {
    uniqueNames: isNew && new Set(names).size === names.length,
    noSideEffects: isNew && hooks.every((hook) => HARMLESS.includes(hook.sideEffects ?? '')),
    knownReviewVersion: hooks.every((hook) => hasKnownVersion(hook.admissionReviewVersions ?? [])),
  };
}

function validateWebhooks(
  { webhooks: hooks = [] }: MutatingWebhookConfiguration,
  strictness: Strictness,
): FieldError[] {
  const isRepeated = repeatsIn(hooks.map(({ name }) => name));
  return forEachItem(hooks, 'webhooks', (hook, path, index) => [
    ...fullyQualifiedHookName(hook.name, `${path}.name`),
    ...forEachItem(hook.rules ?? [], `${path}.rules`, validateWebhookRule),
    ...optionalChoice(hook.failurePolicy, `${path}.failurePolicy`, ['Fail', 'Ignore']),
    ...optionalChoice(hook.matchPolicy, `${path}.matchPolicy`, ['Equivalent', 'Exact']),
    ...validateSideEffects(hook, `${path}.sideEffects`, strictness),
    ...timeout(hook, `${path}.timeoutSeconds`),
    ...labelSelector(hook.namespaceSelector, `${path}.namespaceSelector`),
    ...labelSelector(hook.objectSelector, `${path}.objectSelector`),
    ...optionalChoice(hook.reinvocationPolicy, `${path}.reinvocationPolicy`, ['IfNeeded', 'Never']),
    ...webhookClient(hook.clientConfig, `${path}.clientConfig`),
    ...reviewVersions(hook, `${path}.admissionReviewVersions`, strictness),
    ...(strictness.uniqueNames && hook.name !== '' && isRepeated(index)
      ? [duplicate(`${path}.name`, hook.name)]
      : []),
  ]);
}

function optionalChoice(given: string | undefined, path: string, supported: readonly string[]): FieldError[] {
  return given === undefined ? [] : choice(given, path, supported);
}

const HOOK_NAME_LABELS_MIN = 3;

function fullyQualifiedHookName(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const problems = dns1123SubdomainProblems(name);
  if (problems.length > 0) return [invalid(path, name, problems.join(','))];
  return name.split('.').length >= HOOK_NAME_LABELS_MIN
    ? []
    : [invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function reviewVersions(
  { admissionReviewVersions }: MutatingWebhook,
  path: string,
  { knownReviewVersion }: Strictness,
): FieldError[] {
  const versions = admissionReviewVersions ?? [];
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  const isRepeated = repeatsIn(versions);
  return [
    ...forEachItem(versions, path, (version, at, index) =>
      isRepeated(index)
        ? [invalid(at, version, 'duplicate version')]
        : invalidForEach(dns1035LabelProblems(version), version, at),
    ),
    ...(knownReviewVersion && !hasKnownVersion(versions)
      ? [invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`)]
      : []),
  ];
}

function hasKnownVersion(versions: readonly string[]): boolean {
  return versions.some((version) => REVIEW_VERSIONS.includes(version));
}

function validateSideEffects(
  { sideEffects }: MutatingWebhook,
  path: string,
  { noSideEffects }: Strictness,
): FieldError[] {
  const allowed = noSideEffects ? HARMLESS : SIDE_EFFECTS;
  return sideEffects === null
    ? [required(path, `must specify one of ${allowed.join(', ')}`)]
    : choice(sideEffects, path, allowed);
}

function timeout({ timeoutSeconds: seconds }: MutatingWebhook, path: string): FieldError[] {
  if (seconds === undefined || (seconds >= 1 && seconds <= TIMEOUT_SECONDS_MAX)) return [];
  return [
    invalid(path, seconds, `the timeout value must be between 1 and ${String(TIMEOUT_SECONDS_MAX)} seconds`),
  ];
}
