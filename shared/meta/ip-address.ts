import type { IPv4 } from 'ipaddr.js';
import { IPv6, parse } from 'ipaddr.js';

/**
 * A valid IP address as the library knows it. Read as v1.21 reads addresses: leading zeros do not make a number octal, a zone is left
 * out, and `::1.2.3.4` is an address of its own and not the IPv4 address in IPv6 form.
 */
export function ipAddressOf(text: string): IPv4 | IPv6 {
  const [plain = ''] = text.split('%');
  return parse(plain.replaceAll(/(^|[.:])0+(?=\d+\.|\d+$)/g, '$1').replace(/^::(?=\d+\.)/, '0::'));
}

/** Its 4 or 16 bytes. */
export function ipBytes(text: string): Buffer {
  return Buffer.from(ipAddressOf(text).toByteArray());
}

/** The IPv4 address for one in IPv6 form (`::ffff:1.2.3.4`); any other as it is. */
export function withoutMapping(address: IPv4 | IPv6): IPv4 | IPv6 {
  return address instanceof IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}
