import type {
  MutatingWebhook,
  MutatingWebhookConfiguration,
  RuleWithOperations,
} from '../../../../shared/api/types/admissionregistration-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { goStrings } from '../../../../shared/errors/go-values';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { deepEqual } from '../../../../shared/object/clone';
import type { LoopBounds } from '../../../engine/request/loop-bounds';
import type { GroupVersion } from '../../../../shared/object/object';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { labelSelector } from '../rules/label-selectors';
import { choice, forEachItem, invalidForEach, repeatsIn } from '../rules/primitives';
import { webhookClient } from '../rules/webhook-clients';
import { ExpressionValidator } from './match-conditions';

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];

/** Validates a rule of a webhook. An asterisk must be the only item of its list. */
export function validateWebhookRule(rule: RuleWithOperations, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions: versions = [], resources = [], scope } = rule;
  return [
    ...asteriskAlone(operations, `${path}.operations`, 'operations', 'admissionregistration.OperationType'),
    ...forEachItem(operations, `${path}.operations`, (operation, at) => choice(operation, at, OPERATIONS)),
    ...asteriskAlone(apiGroups, `${path}.apiGroups`, 'API groups'),
    ...asteriskAlone(versions, `${path}.apiVersions`, 'API versions'),
    ...forEachItem(versions, `${path}.apiVersions`, (version, at) => (version === '' ? [required(at)] : [])),
    ...validateResources(resources, `${path}.resources`),
    ...(scope === undefined ? [] : choice(scope, `${path}.scope`, SCOPES)),
  ];
}

function asteriskAlone(values: readonly string[], path: string, what: string, type = 'string'): FieldError[] {
  if (values.length === 0) return [required(path)];
  return values.length > 1 && values.includes('*')
    ? [invalid(path, goStrings(values, type), `if '*' is present, must not specify other ${what}`)]
    : [];
}

function validateResources(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const firsts = new Map(resources.toReversed().map((each, back) => [each, resources.length - 1 - back]));
  const whole = resources.filter((each) => each !== '' && !each.includes('/'));
  return [
    ...forEachItem(resources, path, (resource, at, index) =>
      resource === ''
        ? [required(at)]
        : coveredBefore(resource, (other) => (firsts.get(other) ?? index) < index, at),
    ),
    ...(resources.length > 1 && resources.includes('*/*')
      ? [invalid(path, resources, "if '*/*' is present, must not specify other resources")]
      : []),
    // Upstream reports other items only after the asterisk.
    ...(whole.includes('*') && whole.at(-1) !== '*'
      ? [invalid(path, resources, "if '*' is present, must not specify other resources without subresources")]
      : []),
  ];
}

/** `pods/*` covers `pods/status`, and so does an asterisk before the slash; either says too much after the other. */
function coveredBefore(resource: string, isBefore: (other: string) => boolean, path: string): FieldError[] {
  const slash = resource.indexOf('/');
  if (slash < 0) return [];
  const covering = [`${resource.slice(0, slash)}/*`, `*/${resource.slice(slash + 1)}`];
  return covering
    .filter((each) => isBefore(each))
    .map((each) => invalid(path, resource, `if '${each}' is present, must not specify ${resource}`));
}

/** Rules that v1 adds to v1beta1. They ratchet: an object that already violated one may keep doing so. */
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
const webhookConfigurationRules: Pick<
  Strategy<MutatingWebhookConfiguration>,
  'validateNew' | 'validateUpdate'
> = {
  validateNew: (object, { via, bounds }) => validateWebhooks(object, { ...strictnessOf(via), bounds }),
  validateUpdate: (next, previous, { via, bounds }) =>
    validateWebhooks(next, { ...strictnessOf(via, previous), bounds }, previous),
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
  { bounds, ...strictness }: Strictness & { readonly bounds: LoopBounds | undefined },
  previous?: MutatingWebhookConfiguration,
): FieldError[] {
  const before = previous?.webhooks ?? [];
  const expressions = new ExpressionValidator({ hasParams: false, hasVariables: false, bounds });
  const storedConditions = before.flatMap(({ matchConditions = [] }) => matchConditions);
  const keepsConditions =
    hooks.length === before.length &&
    hooks.every((hook, at) => deepEqual(hook.matchConditions, before[at]?.matchConditions));
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
    ...(keepsConditions
      ? []
      : expressions.conditions(hook.matchConditions ?? [], `${path}.matchConditions`, storedConditions)),
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

/** Of mutating and of validating webhooks. */
const webhookConfigurationTable = tableOf<
  Pick<MutatingWebhookConfiguration, 'metadata'> & { readonly webhooks?: readonly unknown[] }
>([NAME, { name: 'Webhooks', type: 'integer', cell: ({ webhooks = [] }) => webhooks.length }, AGE]);

export const webhookConfigurations: Kind<MutatingWebhookConfiguration> = {
  strategy: {
    tracksGeneration: true,
    compat: { metadataChecks: 'no domains' },
    requiresResourceVersion: true,
    ...webhookConfigurationRules,
  },
  table: webhookConfigurationTable,
};
