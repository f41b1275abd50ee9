import { IPv4, isValid } from 'ipaddr.js';
import { ipAddressOf, withoutMapping } from './ip-address';

const OTHERS: ReadonlySet<string> = new Set([
  'unspecified',
  'loopback',
  'linkLocal',
  'multicast',
  'broadcast',
]);
const INTERFACE_LOCAL = /^ff.1:/iu;

/**
 * True for a global unicast address as Go's `IsGlobalUnicast` defines it: not unspecified, loopback,
 * link-local, multicast or broadcast. Addresses of private networks are included.
 */
export function isGlobalUnicast(text: string): boolean {
  if (!isValid(text)) return false;
  const address = withoutMapping(ipAddressOf(text));
  if (address instanceof IPv4) return !OTHERS.has(address.range());
  return !OTHERS.has(address.range()) && !INTERFACE_LOCAL.test(text);
}
