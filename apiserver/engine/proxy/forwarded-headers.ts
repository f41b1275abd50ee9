import { WEB_SOCKET_TOKEN_PREFIX } from '../../../shared/names';
import type { Exchange } from '../request/exchange';

/** Headers by lower-case name; a repeated header has a list of values. */
export type ForwardedHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Hop-by-hop headers: RFC 9110, section 7.6.1, and obsolete ones. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers for this server alone, such as credentials. */
const OWN: ReadonlySet<string> = new Set(['authorization', 'expect', 'http2-settings']);
const IMPERSONATION = 'impersonate-';

const SUBPROTOCOLS = 'sec-websocket-protocol';
const FORWARDED_FOR = 'x-forwarded-for';

/** Returns the headers to forward, with `X-Forwarded-For`. */
export function forwardedHeaders(exchange: Exchange): ForwardedHeaders {
  const { headers, rawHeaders, remoteAddress } = exchange;
  const dropped = namedBy(headers.connection);
  const kept = collected(rawHeaders, (name) => isForwarded(name) && !dropped.has(name));
  const { [SUBPROTOCOLS]: offered, [FORWARDED_FOR]: before, ...others } = kept;
  const protocols = subprotocols(offered);
  const addresses = [...(before === undefined ? [] : [before].flat()), remoteAddress];
  const { upgrade } = headers;
  return {
    ...others,
    ...(protocols === '' ? {} : { [SUBPROTOCOLS]: protocols }),
    [FORWARDED_FOR]: addresses.join(', '),
    ...(exchange.upgrade && upgrade !== undefined ? { connection: 'Upgrade', upgrade } : {}),
  };
}

/** Returns the headers of an answer to pass back, with the spelling of their names. */
export function answeredHeaders(rawHeaders: readonly string[]): Record<string, string | readonly string[]> {
  const connection = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && name.toLowerCase() === 'connection' ? [rawHeaders[at + 1] ?? ''] : [],
  );
  const dropped = namedBy(connection.join(','));
  return collected(rawHeaders, (name) => !HOP_BY_HOP.has(name) && !dropped.has(name), 'as written');
}

function isForwarded(name: string): boolean {
  return !HOP_BY_HOP.has(name) && !OWN.has(name) && !name.startsWith(IMPERSONATION);
}

/** Returns the further hop-by-hop headers that a Connection header names. */
function namedBy(connection = ''): ReadonlySet<string> {
  return new Set(connection.split(',').map((each) => each.trim().toLowerCase()));
}

function collected(
  rawHeaders: readonly string[],
  isWanted: (name: string) => boolean,
  names: 'lower-case' | 'as written' = 'lower-case',
): Record<string, string | readonly string[]> {
  const values = new Map<string, { readonly name: string; readonly all: string[] }>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const written = rawHeaders[at] ?? '';
    const lower = written.toLowerCase();
    if (!isWanted(lower)) continue;
    const known = values.get(lower);
    if (known === undefined) values.set(lower, { name: written, all: [rawHeaders[at + 1] ?? ''] });
    else known.all.push(rawHeaders[at + 1] ?? '');
  }
  return Object.fromEntries(
    [...values].map(([lower, { name, all }]) => [
      names === 'as written' ? name : lower,
      all.length === 1 ? (all[0] ?? '') : all,
    ]),
  );
}

/** Removes the subprotocol that carries a bearer token. */
function subprotocols(offered: string | readonly string[] | undefined): string {
  return [offered ?? []]
    .flat()
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '' && !each.startsWith(WEB_SOCKET_TOKEN_PREFIX))
    .join(', ');
}
