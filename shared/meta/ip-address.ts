import { IPv6, parse, IPv4, isValid } from 'ipaddr.js';

/**
 * Parses a valid IP address as v1.21 does: leading zeros do not make a number octal, a zone is dropped, and
 * `::1.2.3.4` is distinct from the IPv4-mapped `::ffff:1.2.3.4`.
 */
export function parseIpAddress(text: string): IPv4 | IPv6 {
  const [plain = ''] = text.split('%');
  return parse(plain.replaceAll(/(^|[.:])0+(?=\d+\.|\d+$)/g, '$1').replace(/^::(?=\d+\.)/, '0::'));
}

/** Returns the 4 or 16 bytes of an address. */
export function ipBytes(text: string): Buffer {
  return Buffer.from(parseIpAddress(text).toByteArray());
}

/** Returns the IPv4 address of an IPv4-mapped one (`::ffff:1.2.3.4`); any other unchanged. */
export function withoutMapping(address: IPv4 | IPv6): IPv4 | IPv6 {
  return address instanceof IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Converts the text of an IPv4-mapped IPv6 address to IPv4, as a socket of both families reports its IPv4 peers. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

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
  const address = withoutMapping(parseIpAddress(text));
  if (address instanceof IPv4) return !OTHERS.has(address.range());
  return !OTHERS.has(address.range()) && !INTERFACE_LOCAL.test(text);
}

/** Whether two texts are the same valid address; IPv4 addresses in IPv6 form are equal to those in IPv4 form. */
export function isSameAddress(one: string, other: string): boolean {
  if (!isValid(one) || !isValid(other)) return false;
  const [first, second] = [one, other].map((each) =>
    withoutMapping(parseIpAddress(each)).toNormalizedString(),
  );
  return first === second;
}

/** Whether a client may connect to an IP address. */
export type AllowsAddress = (address: string) => boolean;

/** Formats `host:port`, with brackets around an IPv6 address. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
}
