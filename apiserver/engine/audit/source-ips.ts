import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { plainAddress } from '../../../shared/meta/ip-address';

/** The maximum of recorded addresses of one header. */
const FORWARDED_MAX = 32;

/**
 * Returns the source addresses of a request: X-Forwarded-For, X-Real-Ip and the peer address, without consecutive duplicates. A client can forge
 * all but the last.
 */
export function sourceIps(headers: IncomingHttpHeaders, remoteAddress: string): string[] {
  const remote = plainAddress(remoteAddress);
  const forwarded = headers['x-forwarded-for'];
  const real = headers['x-real-ip'];
  if (forwarded === undefined && real === undefined) return isIP(remote) === 0 ? [] : [remote];
  const found = String(forwarded ?? '')
    .split(',', FORWARDED_MAX)
    .map((part) => plainAddress(part.trim()))
    .filter((part) => isIP(part) !== 0);
  const realIp = plainAddress(String(real ?? ''));
  if (isIP(realIp) !== 0 && !found.includes(realIp)) found.push(realIp);
  if (isIP(remote) !== 0 && found.at(-1) !== remote) found.push(remote);
  return found;
}
