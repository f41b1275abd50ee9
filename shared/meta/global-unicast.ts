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
 * Whether the text is an address of one host that others may reach as well: none of this host alone, of its link, or of many. Addresses of
 * private networks are.
 */
export function isGlobalUnicast(text: string): boolean {
  if (!isValid(text)) return false;
  const address = withoutMapping(ipAddressOf(text));
  if (address instanceof IPv4) return !OTHERS.has(address.range());
  return !OTHERS.has(address.range()) && !INTERFACE_LOCAL.test(text);
}
