import { parseCIDR } from 'ipaddr.js';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid } from '../../../shared/errors/field-error';
import { ipAddressOf, withoutMapping } from '../../../shared/meta/ip-address';
import { isCidr, isIpAddress, isIpv4Address } from './primitives';

/** An address of one family as it is written, or undefined for text that is none. */
export function familyOf(address: string): 'IPv4' | 'IPv6' | undefined {
  if (!isIpAddress(address)) return undefined;
  return isIpv4Address(address) ? 'IPv4' : 'IPv6';
}

const SPECIAL: readonly (readonly [block: string, bits: number, problem: string])[] = [
  ['0.0.0.0', 32, 'may not be unspecified (0.0.0.0 or ::)'],
  ['::', 128, 'may not be unspecified (0.0.0.0 or ::)'],
  ['127.0.0.0', 8, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['::1', 128, 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  ['169.254.0.0', 16, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['fe80::', 10, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  ['224.0.0.0', 24, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
  ['ff02::', 16, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
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
  const found = withoutMapping(ipAddressOf(address));
  return blocks
    .filter(({ network }) => network[0].kind() === found.kind() && found.match(network))
    .map(({ problem }) => invalid(path, address, problem));
}

/** True when both are networks of one family and the second lies inside the first and is smaller. */
export function isStrictlyInside(outer: string, inner: string): boolean {
  if (!isCidr(outer) || !isCidr(inner)) return false;
  const [outerAddress = '', outerBits = ''] = outer.split('/');
  const [innerAddress = '', innerBits = ''] = inner.split('/');
  if (familyOf(outerAddress) !== familyOf(innerAddress) || Number(innerBits) <= Number(outerBits))
    return false;
  return ipAddressOf(innerAddress).match(ipAddressOf(outerAddress), Number(outerBits));
}

/** True when the list holds at most one address or network of each family, and both. */
export function isDualStack(addresses: readonly string[]): boolean {
  const families = addresses.map((each) => familyOf(each.split('/')[0] ?? ''));
  return families.includes('IPv4') && families.includes('IPv6');
}
