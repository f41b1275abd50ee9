import { isInForce } from '../../../../shared/api/changes';
import type {
  HostAlias,
  PodAffinityTerm,
  PodSpec,
  TopologySpreadConstraint,
} from '../../../../shared/api/types/core-v1';
import type { LabelSelector } from '../../../../shared/api/types/meta-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { validateLabelSelector } from '../../../../shared/meta/validate-labels';
import type { KindSettings } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { choice, forEachItem, invalidForEach, isIpAddress } from '../rules/primitives';
import { strictIp } from '../rules/strict-addresses';
import { byLaterRule } from './later-rules';

/** `topologySpreadConstraints`: sound each, and one for each pair of key and action. */
export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: string,
  settings: KindSettings,
): FieldError[] {
  if (constraints === undefined) return [];
  const keys = constraints.map(
    ({ topologyKey, whenUnsatisfiable }) => `${topologyKey}, ${whenUnsatisfiable}`,
  );
  const lastOf = new Map(keys.map((key, index) => [key, index]));
  return forEachItem(constraints, path, (constraint, at, index) => {
    const { maxSkew: skew, topologyKey, whenUnsatisfiable } = constraint;
    const key = keys[index] ?? '';
    const again = (lastOf.get(key) ?? index) > index;
    return [
      ...(skew > 0 ? [] : [invalid(`${at}.maxSkew`, skew, 'must be greater than zero')]),
      ...(topologyKey === '' ? [required(`${at}.topologyKey`, 'can not be empty')] : []),
      ...choice(whenUnsatisfiable, `${at}.whenUnsatisfiable`, ['DoNotSchedule', 'ScheduleAnyway']),
      ...(again ? [duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${key}}`)] : []),
      ...minDomains(constraint, `${at}.minDomains`),
      ...inclusion(constraint.nodeAffinityPolicy, `${at}.nodeAffinityPolicy`),
      ...inclusion(constraint.nodeTaintsPolicy, `${at}.nodeTaintsPolicy`),
      ...byLaterRule('spread keys', spreadKeys(constraint, at, settings)),
      ...(isInForce('topologySpreadSelectors')
        ? byLaterRule(
            'spread selectors',
            validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`),
          )
        : []),
    ];
  });
}

function minDomains(
  { minDomains: count, whenUnsatisfiable: action }: TopologySpreadConstraint,
  path: string,
): readonly FieldError[] {
  if (count === undefined) return [];
  const why = `can only use minDomains if whenUnsatisfiable=${DO_NOT_SCHEDULE}, not ${action}`;
  return [
    ...(count > 0 ? [] : [invalid(path, count, 'must be greater than zero')]),
    ...(action === DO_NOT_SCHEDULE ? [] : [invalid(path, count, why)]),
  ];
}

const DO_NOT_SCHEDULE = 'DoNotSchedule';

/** Whether nodes that do not fit the pod count. */
function inclusion(policy: string | undefined, path: string): readonly FieldError[] {
  return policy === undefined ? [] : choice(policy, path, ['Honor', 'Ignore']);
}

/** The keys become expressions of the selector when a pod is made; before that, the selector must not have them. */
function spreadKeys(
  constraint: TopologySpreadConstraint,
  path: string,
  settings: KindSettings,
): readonly FieldError[] {
  const { matchLabelKeys: keys = [], labelSelector: selector } = constraint;
  if (isOn(settings, 'MatchLabelKeysInPodTopologySpreadSelectorMerge')) {
    return validateLabelKeys(constraint, path);
  }
  const at = `${path}.matchLabelKeys`;
  if (keys.length === 0) return [];
  const known = new Set([
    ...Object.keys(selector?.matchLabels ?? {}),
    ...(selector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
  return [
    ...(selector === undefined ? [forbiddenField(at, WITHOUT_SELECTOR)] : []),
    ...forEachItem(keys, at, (key, place) => [
      ...invalidForEach(qualifiedNameProblems(key), key, place),
      ...(known.has(key) ? [invalid(place, key, KEY_IN_BOTH)] : []),
    ]),
  ];
}

const WITHOUT_SELECTOR = 'must not be specified when labelSelector is not set';
const KEY_IN_BOTH = 'exists in both matchLabelKeys and labelSelector';

/** What pods are selected by: a selector, and labels that they share with the pod, or do not. */
type LabelKeys = Pick<PodAffinityTerm, 'labelSelector' | 'matchLabelKeys' | 'mismatchLabelKeys'>;

/**
 * Keys of labels beside a selector, which has got expressions for them already: an expression of a key that is there twice comes from the
 * client. Source: ValidateMatchLabelKeysAndMismatchLabelKeys, v1.36.
 */
export function validateLabelKeys(
  { labelSelector: selector, matchLabelKeys: keys = [], mismatchLabelKeys: others = [] }: LabelKeys,
  path: string,
): readonly FieldError[] {
  const indexOf = new Map(keys.map((key, index) => [key, index]));
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}));
  const unwanted = new Set(others);
  return [
    ...labelNames(keys, `${path}.matchLabelKeys`, selector),
    ...labelNames(others, `${path}.mismatchLabelKeys`, selector),
    ...(selector?.matchExpressions ?? []).flatMap(({ key }) => {
      const index = indexOf.get(key);
      const again = seen.has(key);
      seen.add(key);
      return again && index !== undefined ? [invalid(`${path}[${String(index)}]`, key, KEY_IN_BOTH)] : [];
    }),
    ...forEachItem(keys, `${path}.matchLabelKeys`, (key, at) =>
      unwanted.has(key) ? [invalid(at, key, 'exists in both matchLabelKeys and mismatchLabelKeys')] : [],
    ),
  ];
}

function labelNames(
  keys: readonly string[],
  path: string,
  selector: LabelSelector | undefined,
): readonly FieldError[] {
  if (keys.length === 0) return [];
  if (selector === undefined) return [forbiddenField(path, WITHOUT_SELECTOR)];
  return forEachItem(keys, path, (key, at) => invalidForEach(qualifiedNameProblems(key), key, at));
}

/** Errors of addresses that older releases accepted. */
function strictSpelling(ip: string, path: string): readonly FieldError[] {
  return isInForce('addressErrors') ? byLaterRule('spelling of addresses', strictIp(ip, path)) : [];
}

/** `hostAliases`; older releases give no index. */
export function validateHostAliases(aliases: readonly HostAlias[] | undefined, path: string): FieldError[] {
  const isIndexed = isInForce('hostAliasIndices');
  return forEachItem(aliases ?? [], path, ({ ip = '', hostnames = [] }, at) => {
    const place = isIndexed ? at : path;
    return [
      ...(isIpAddress(ip)
        ? strictSpelling(ip, `${place}.ip`)
        : [invalid(`${place}.ip`, ip, 'must be valid IP address')]),
      ...forEachItem(hostnames, `${place}.hostnames`, (name, each) =>
        invalidForEach(dns1123SubdomainProblems(name), name, isIndexed ? each : `${path}.hostnames`),
      ),
    ];
  });
}

const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = { old: 6, newer: 32 };
const SEARCH_CHARS_MAX = { old: 256, newer: 2048 };

/** `dnsConfig`, which `dnsPolicy: None` needs. */
export function validateDnsConfig(
  { dnsConfig: config, dnsPolicy }: PodSpec,
  path: string,
  settings: KindSettings,
): FieldError[] {
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  const length = Buffer.byteLength(searches.join(' '));
  const limit = isInForce('dnsSearchLimits') ? 'newer' : 'old';
  if (dnsPolicy === 'None' && config === undefined) {
    return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  }
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    return [required(`${path}.nameservers`, why)];
  }
  return [
    ...(nameservers.length > NAMESERVERS_MAX
      ? [
          invalid(
            `${path}.nameservers`,
            nameservers,
            `must not have more than ${String(NAMESERVERS_MAX)} nameservers`,
          ),
        ]
      : []),
    ...forEachItem(nameservers, `${path}.nameservers`, (ip, at) =>
      isIpAddress(ip) ? [] : [invalid(at, ip, 'must be valid IP address')],
    ),
    ...(searches.length > SEARCHES_MAX[limit]
      ? [
          invalid(
            `${path}.searches`,
            searches,
            `must not have more than ${String(SEARCHES_MAX[limit])} search paths`,
          ),
        ]
      : []),
    ...(length > SEARCH_CHARS_MAX[limit]
      ? [
          invalid(
            `${path}.searches`,
            searches,
            `must not have more than ${String(SEARCH_CHARS_MAX[limit])} characters (including spaces) in the search list`,
          ),
        ]
      : []),
    ...forEachItem(searches, `${path}.searches`, (search, at) =>
      validateSearch(search, at, isOn(settings, 'RelaxedDNSSearchValidation')),
    ),
    ...forEachItem(options, `${path}.options`, ({ name = '' }, at) =>
      name === '' ? [required(at, 'must not be empty')] : [],
    ),
  ];
}

/** A search path; the relaxed rule is that the root is one, and that underscores are letters. */
function validateSearch(search: string, path: string, isRelaxed: boolean): readonly FieldError[] {
  const name = search.endsWith('.') ? search.slice(0, -1) : search;
  const relaxed = search === '.' ? [] : dns1123SubdomainProblems(name.replaceAll('_', 'a'));
  if (isRelaxed) return invalidForEach(relaxed, name, path);
  const errors = invalidForEach(dns1123SubdomainProblems(name), name, path);
  return relaxed.length === 0 ? byLaterRule('search paths', errors) : errors;
}
