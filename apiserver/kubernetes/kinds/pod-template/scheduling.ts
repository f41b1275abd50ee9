import type { HostAlias, PodDNSConfig, TopologySpreadConstraint } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems } from '../../../../shared/meta/dns-names';
import { choice, forEachItem, invalidForEach, isIpAddress } from '../rules/primitives';

/** `topologySpreadConstraints`: sound each, and one for each pair of key and action. */
export function validateTopologySpread(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: string,
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
    ];
  });
}

/** `hostAliases`; upstream gives no index. */
export function validateHostAliases(aliases: readonly HostAlias[] | undefined, path: string): FieldError[] {
  return forEachItem(aliases ?? [], path, ({ ip = '', hostnames = [] }) => [
    ...(isIpAddress(ip) ? [] : [invalid(`${path}.ip`, ip, 'must be valid IP address')]),
    ...forEachItem(hostnames, path, (name) =>
      invalidForEach(dns1123SubdomainProblems(name), name, `${path}.hostnames`),
    ),
  ]);
}

const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 6;
const SEARCH_CHARS_MAX = 256;

/** `dnsConfig`, which `dnsPolicy: None` needs. */
export function validateDnsConfig(
  config: PodDNSConfig | undefined,
  path: string,
  dnsPolicy: string,
): FieldError[] {
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  const length = Buffer.byteLength(searches.join(' '));
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
    ...(searches.length > SEARCHES_MAX
      ? [
          invalid(
            `${path}.searches`,
            searches,
            `must not have more than ${String(SEARCHES_MAX)} search paths`,
          ),
        ]
      : []),
    ...(length > SEARCH_CHARS_MAX
      ? [
          invalid(
            `${path}.searches`,
            searches,
            `must not have more than ${String(SEARCH_CHARS_MAX)} characters (including spaces) in the search list`,
          ),
        ]
      : []),
    ...forEachItem(searches, `${path}.searches`, (search, at) => {
      const name = search.endsWith('.') ? search.slice(0, -1) : search;
      return invalidForEach(dns1123SubdomainProblems(name), name, at);
    }),
    ...forEachItem(options, `${path}.options`, ({ name = '' }, at) =>
      name === '' ? [required(at, 'must not be empty')] : [],
    ),
  ];
}
