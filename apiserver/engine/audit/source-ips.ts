import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** What a client can make the server write down for one header. */
const FORWARDED_MAX = 32;

/**
 * Where a request came from: the addresses in X-Forwarded-For, the one in X-Real-Ip, and at last the connection's own, each only once
 * in a row. All but the last can be made up by the client.
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

/** An IPv4 address that came in over an IPv6 socket is written as what it is. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
