import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
  SuccessPolicyRule,
} from '../../../../shared/api/types/batch-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { forEachItem, invalidForEach, nonNegative, repeatsIn, requiredChoice } from '../rules/primitives';

/** Rules for when a Job fails, succeeds, and replaces pods. Source: validateJobSpec and the functions that it calls, v1.36. */

const RULES_MAX = 20;
const EXIT_CODES_MAX = 255;
const CONDITIONS_MAX = 20;
const FAILED_INDEXES_MAX = 100_000;
/** Jobs with more indexes than this have narrower limits. */
const COMPLETIONS_SOFT_MAX = 100_000;
const MANY_COMPLETIONS_LIMIT = 10_000;
const MANAGER_BYTES_MAX = 63;
const INDEXES_BYTES_MAX = 64 * 1024;

/** The policies of a Job, or of a template of Jobs; `path` is that of the spec. */
export function validateJobPolicies(spec: JobSpec, path: string): readonly FieldError[] {
  const { podFailurePolicy: failure, podReplacementPolicy: replacement, managedBy, successPolicy } = spec;
  const isIndexed = spec.completionMode === 'Indexed';
  const replacements = failure === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  return [
    ...indexLimits(spec, path, isIndexed),
    ...(managedBy === undefined ? [] : manager(managedBy, `${path}.managedBy`)),
    ...failureRules(spec, `${path}.podFailurePolicy.rules`),
    ...(successPolicy === undefined
      ? []
      : isIndexed
        ? successRules(successPolicy.rules ?? [], `${path}.successPolicy.rules`, spec.completions ?? 0)
        : [invalid(`${path}.successPolicy`, successPolicy, 'requires indexed completion mode')]),
    ...(replacement === undefined || replacements.includes(replacement)
      ? []
      : [notSupported(`${path}.podReplacementPolicy`, replacement, replacements)]),
  ];
}

function failureRules(spec: JobSpec, path: string): readonly FieldError[] {
  const rules = spec.podFailurePolicy?.rules ?? [];
  const { containers, initContainers = [] } = spec.template.spec;
  const names = new Set([...(containers ?? []), ...initContainers].map(({ name }) => name));
  return [
    ...(rules.length > RULES_MAX ? [tooMany(path, rules.length, RULES_MAX)] : []),
    ...forEachItem(rules, path, (rule, at) => failureRule(rule, at, { spec, names })),
  ];
}

function indexLimits(spec: JobSpec, path: string, isIndexed: boolean): readonly FieldError[] {
  const { backoffLimitPerIndex: backoff, maxFailedIndexes: failed, completions, parallelism = 0 } = spec;
  const at = `${path}.maxFailedIndexes`;
  const indexed = 'requires indexed completion mode';
  const lacksBackoff =
    failed !== undefined && backoff === undefined
      ? [required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')]
      : [];
  if (!isIndexed) {
    return [
      ...lacksBackoff,
      ...(backoff === undefined ? [] : [invalid(`${path}.backoffLimitPerIndex`, backoff, indexed)]),
      ...(failed === undefined ? [] : [invalid(at, failed, indexed)]),
    ];
  }
  const hasMany = backoff !== undefined && (completions ?? 0) > COMPLETIONS_SOFT_MAX;
  return [
    ...lacksBackoff,
    ...(failed === undefined ? [] : failedIndexes(failed, at, completions ?? INT32_MAX)),
    ...(hasMany ? manyIndexes({ failed, parallelism }, path) : []),
  ];
}

const INT32_MAX = 2_147_483_647;

function failedIndexes(failed: number, path: string, completions: number): readonly FieldError[] {
  return [
    ...(failed > completions ? [invalid(path, failed, 'must be less than or equal to completions')] : []),
    ...(failed > FAILED_INDEXES_MAX
      ? [invalid(path, failed, `must be less than or equal to ${String(FAILED_INDEXES_MAX)}`)]
      : []),
  ];
}

function manyIndexes(
  { failed, parallelism }: { readonly failed: number | undefined; readonly parallelism: number },
  path: string,
): readonly FieldError[] {
  const many = `when completions are above ${String(COMPLETIONS_SOFT_MAX)} and used with backoff limit per index`;
  const limit = `must be less than or equal to ${String(MANY_COMPLETIONS_LIMIT)} ${many}`;
  const at = `${path}.maxFailedIndexes`;
  const missing = `must be specified when completions is above ${String(COMPLETIONS_SOFT_MAX)}`;
  return [
    ...(failed === undefined ? [required(at, missing)] : []),
    ...(parallelism > MANY_COMPLETIONS_LIMIT ? [invalid(`${path}.parallelism`, parallelism, limit)] : []),
    ...((failed ?? 0) > MANY_COMPLETIONS_LIMIT ? [invalid(at, failed, limit)] : []),
  ];
}

const HTTP_PATH = /^(?:[A-Za-z0-9/\-._~!$&'()*+,;=:]|%[0-9a-fA-F]{2})+$/;

/** `example.com/controller`: a controller other than that of Jobs. */
function manager(name: string, path: string): readonly FieldError[] {
  if (name === '') return [required(path)];
  const slash = name.indexOf('/');
  const [domain, rest] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
  const form = 'must be a domain-prefixed path (such as "acme.io/foo")';
  return [
    ...(slash <= 0 || rest === ''
      ? [invalid(path, name, form)]
      : [
          ...invalidForEach(dns1123SubdomainProblems(domain), domain, path),
          ...(HTTP_PATH.test(rest) ? [] : [invalid(path, rest, 'Invalid path')]),
        ]),
    ...(Buffer.byteLength(name) > MANAGER_BYTES_MAX ? [tooLong(path, '', MANAGER_BYTES_MAX)] : []),
  ];
}

function failureRule(
  { action, onExitCodes, onPodConditions: conditions = [] }: PodFailurePolicyRule,
  path: string,
  { spec, names }: { readonly spec: JobSpec; readonly names: ReadonlySet<string> },
): readonly FieldError[] {
  const at = `${path}.action`;
  const lacksBackoff = action === 'FailIndex' && spec.backoffLimitPerIndex === undefined;
  return [
    ...requiredChoice(action, at, ['Count', 'FailIndex', 'FailJob', 'Ignore']),
    ...(lacksBackoff ? [invalid(at, action, 'requires the backoffLimitPerIndex to be set')] : []),
    ...(onExitCodes === undefined ? [] : exitCodes(onExitCodes, `${path}.onExitCodes`, names)),
    ...(conditions.length > CONDITIONS_MAX
      ? [tooMany(`${path}.onPodConditions`, conditions.length, CONDITIONS_MAX)]
      : []),
    ...forEachItem(conditions, `${path}.onPodConditions`, podCondition),
    ...(onExitCodes !== undefined && conditions.length > 0
      ? [invalid(path, null, 'specifying both OnExitCodes and OnPodConditions is not supported')]
      : []),
    ...(onExitCodes === undefined && conditions.length === 0
      ? [invalid(path, null, 'specifying one of OnExitCodes and OnPodConditions is required')]
      : []),
  ];
}

function podCondition(
  { type, status }: PodFailurePolicyOnPodConditionsPattern,
  path: string,
): readonly FieldError[] {
  return [
    ...invalidForEach(qualifiedNameProblems(type), type, `${path}.type`),
    ...requiredChoice(status, `${path}.status`, ['False', 'True', 'Unknown']),
  ];
}

function exitCodes(
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
  path: string,
  names: ReadonlySet<string>,
): readonly FieldError[] {
  const codes = values ?? [];
  const at = `${path}.values`;
  const isRepeated = repeatsIn(codes.map(String));
  return [
    ...requiredChoice(operator, `${path}.operator`, ['In', 'NotIn']),
    ...(containerName === undefined || names.has(containerName)
      ? []
      : [
          invalid(
            `${path}.containerName`,
            containerName,
            'must be one of the container or initContainer names in the pod template',
          ),
        ]),
    ...(codes.length === 0 ? [invalid(at, codes, 'at least one value is required')] : []),
    ...(codes.length > EXIT_CODES_MAX ? [tooMany(at, codes.length, EXIT_CODES_MAX)] : []),
    ...forEachItem(codes, at, (code, place, index) => [
      ...(operator === 'In' && code === 0 ? [invalid(place, code, 'must not be 0 for the In operator')] : []),
      ...(isRepeated(index) ? [duplicate(place, code)] : []),
    ]),
    ...(codes.some((code, index) => (codes[index - 1] ?? code) > code)
      ? [invalid(at, codes, 'must be ordered')]
      : []),
  ];
}

function successRules(
  rules: readonly SuccessPolicyRule[],
  path: string,
  completions: number,
): readonly FieldError[] {
  const none = 'at least one rules must be specified when the successPolicy is specified';
  return [
    ...(rules.length === 0 ? [required(path, none)] : []),
    ...(rules.length > RULES_MAX ? [tooMany(path, rules.length, RULES_MAX)] : []),
    ...forEachItem(rules, path, (rule, at) => successRule(rule, at, completions)),
  ];
}

function successRule(
  { succeededCount: count, succeededIndexes: indexes }: SuccessPolicyRule,
  path: string,
  completions: number,
): readonly FieldError[] {
  const at = `${path}.succeededCount`;
  const parsed = parseIndexes(indexes ?? '', completions);
  const total = typeof parsed === 'string' ? 0 : parsed.reduce((sum, [low, high]) => sum + high - low + 1, 0);
  const most = (limit: number, what: string): FieldError =>
    invalid(at, count, `must be less than or equal to ${String(limit)} (the number of ${what})`);
  return [
    ...(count === undefined && indexes === undefined
      ? [required(path, 'at least one of succeededCount or succeededIndexes must be specified')]
      : []),
    ...(indexes !== undefined && Buffer.byteLength(indexes) > INDEXES_BYTES_MAX
      ? [tooLong(`${path}.succeededIndexes`, '', INDEXES_BYTES_MAX)]
      : []),
    ...(typeof parsed === 'string'
      ? [invalid(`${path}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${parsed}`)]
      : []),
    ...nonNegative(count, at),
    ...(count !== undefined && count > completions ? [most(completions, 'specified completions')] : []),
    ...(count !== undefined && indexes !== undefined && count > total
      ? [most(total, 'indexes in the specified succeededIndexes field')]
      : []),
  ];
}

/** The first and last index of each part of `1,3-5`. */
export type Intervals = readonly (readonly [low: number, high: number])[];

/** Parses `1,3-5`: indexes below `completions`, in increasing order. Returns why it is malformed, if it is. */
export function parseIndexes(text: string, completions: number): Intervals | string {
  const intervals: (readonly [number, number])[] = [];
  if (text === '') return intervals;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return interval;
    const last = intervals.at(-1)?.[1];
    if (last !== undefined && last >= interval[0]) return notIncreasing(last, interval[0]);
    intervals.push(interval);
  }
  return intervals;
}

function parseInterval(part: string, completions: number): readonly [number, number] | string {
  const ends = part.split('-');
  if (ends.length > 2) {
    return `the fragment ${goQuote(part)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const numbers: number[] = [];
  for (const end of ends) {
    if (!/^\+?\d{1,15}$/.test(end)) return `cannot convert string to integer for index: ${goQuote(end)}`;
    if (Number(end) >= completions) return `too large index: ${goQuote(end)}`;
    numbers.push(Number(end));
  }
  const [low = 0, high = low] = numbers;
  return numbers.length > 1 && low >= high ? notIncreasing(low, high) : [low, high];
}

function notIncreasing(previous: number, current: number): string {
  return `non-increasing order, previous: ${String(previous)}, current: ${String(current)}`;
}
