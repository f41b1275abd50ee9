import { parseCIDR } from 'ipaddr.js';
import type { FieldError } from '../../../../shared/errors/field-error';
import { internalError, invalid } from '../../../../shared/errors/field-error';
import { goQuote } from '../../../../shared/errors/go-quote';
import { parseIpAddress, withoutMapping } from '../../../../shared/meta/ip-address';
import { isCidr, isIpAddress, isIpv4Address } from './primitives';

/** The family of an address, or undefined for text that is none. An IPv4 address in IPv6 form counts as what it is. */
export function familyOf(address: string): 'IPv4' | 'IPv6' | undefined {
  if (!isIpAddress(address)) return undefined;
  return isIpv4Address(address) || withoutMapping(parseIpAddress(address)).kind() === 'ipv4'
    ? 'IPv4'
    : 'IPv6';
}

const SPECIAL: readonly (readonly [block: string, bits: number, problem: string])[] = [
  ['0.0.0.0', 32, 'may not be unspecified (0.0.0.0)'],
  ['::', 128, 'may not be unspecified (0.0.0.0)'],
  ['127.0.0.0', 8, 'may not be in the loopback range (127.0.0.0/8)'],
  ['::1', 128, 'may not be in the loopback range (127.0.0.0/8)'],
  ['169.254.0.0', 16, 'may not be in the link-local range (169.254.0.0/16)'],
  ['fe80::', 10, 'may not be in the link-local range (169.254.0.0/16)'],
  ['224.0.0.0', 24, 'may not be in the link-local multicast range (224.0.0.0/24)'],
  ['ff02::', 16, 'may not be in the link-local multicast range (224.0.0.0/24)'],
];

const blocks = SPECIAL.map(([block, bits, problem]) => ({
  network: parseCIDR(`${block}/${String(bits)}`),
  problem,
}));

/**
 * An address that another machine can reach: not unspecified, loopback, link-local or link-local multicast. An IPv4 address in IPv6
 * form counts as what it is.
 */
export function reachableAddress(address: string, path: string): FieldError[] {
  if (familyOf(address) === undefined) return [invalid(path, address, 'must be a valid IP address')];
  const found = withoutMapping(parseIpAddress(address));
  return blocks
    .filter(({ network }) => network[0].kind() === found.kind() && found.match(network))
    .map(({ problem }) => invalid(path, address, problem));
}

/** True when both are networks of one family and the second is a strict subset of the first. */
export function isStrictlyInside(outer: string, inner: string): boolean {
  if (!isCidr(outer) || !isCidr(inner)) return false;
  const [outerAddress = '', outerBits = ''] = outer.split('/');
  const [innerAddress = '', innerBits = ''] = inner.split('/');
  if (familyOf(outerAddress) !== familyOf(innerAddress) || Number(innerBits) <= Number(outerBits))
    return false;
  return parseIpAddress(innerAddress).match(parseIpAddress(outerAddress), Number(outerBits));
}

/** Validates a list of addresses or networks: at most one of each family. */
export function dualStackErrors(
  values: readonly string[],
  path: string,
  { what, shown }: { readonly what: 'IP' | 'CIDR'; readonly shown: unknown },
): FieldError[] {
  const wrong = values.find((value) => (what === 'IP' ? familyOf(value) === undefined : !isCidr(value)));
  const message =
    what === 'IP'
      ? 'failed to check for dual stack with error:ip <nil> is invalid'
      : `invalid PodCIDRs. failed to check with dual stack with error:failed to parse cidr value:${goQuote(wrong ?? '')} with error:invalid CIDR address: ${wrong ?? ''}`;
  const isGood = wrong === undefined && values.length === 2 && isDualStack(values);
  return [
    ...(wrong === undefined ? [] : [internalError(path, message)]),
    ...(isGood ? [] : [invalid(path, shown, `may specify no more than one ${what} for each IP family`)]),
  ];
}

/** True when the list holds at most one address or network of each family, and both. */
export function isDualStack(addresses: readonly string[]): boolean {
  const families = addresses.map((each) => familyOf(each.split('/')[0] ?? ''));
  return families.includes('IPv4') && families.includes('IPv6');
}
