import type { IPv4 } from 'ipaddr.js';
import { IPv6, parse } from 'ipaddr.js';

/**
 * Parses a valid IP address as v1.21 does: leading zeros do not make a number octal, a zone is dropped, and
 * `::1.2.3.4` is distinct from the IPv4-mapped `::ffff:1.2.3.4`.
 */
export function ipAddressOf(text: string): IPv4 | IPv6 {
  const [plain = ''] = text.split('%');
  return parse(plain.replaceAll(/(^|[.:])0+(?=\d+\.|\d+$)/g, '$1').replace(/^::(?=\d+\.)/, '0::'));
}

/** Returns the 4 or 16 bytes of an address. */
export function ipBytes(text: string): Buffer {
  return Buffer.from(ipAddressOf(text).toByteArray());
}

/** Returns the IPv4 address of an IPv4-mapped one (`::ffff:1.2.3.4`); any other unchanged. */
export function withoutMapping(address: IPv4 | IPv6): IPv4 | IPv6 {
  return address instanceof IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}
