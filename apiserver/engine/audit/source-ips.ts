import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** The maximum of recorded addresses of one header. */
const FORWARDED_MAX = 32;

/**
 * Returns the source addresses of a request: X-Forwarded-For, X-Real-Ip and the peer address, without consecutive duplicates. A client can forge
 * all but the last.
 */
export function sourceIps(headers: IncomingHttpHeaders, remoteAddress: string): string[] {
  const remote = plain(remoteAddress);
  const forwarded = headers['x-forwarded-for'];
  const real = headers['x-real-ip'];
  if (forwarded === undefined && real === undefined) return isIP(remote) === 0 ? [] : [remote];
  const found = String(forwarded ?? '')
    .split(',', FORWARDED_MAX)
    .map((part) => plain(part.trim()))
    .filter((part) => isIP(part) !== 0);
  const realIp = plain(String(real ?? ''));
  if (isIP(realIp) !== 0 && !found.includes(realIp)) found.push(realIp);
  if (isIP(remote) !== 0 && found.at(-1) !== remote) found.push(remote);
  return found;
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
