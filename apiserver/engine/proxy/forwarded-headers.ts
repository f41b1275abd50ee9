import { WEB_SOCKET_TOKEN_PREFIX } from '../../../shared/names';
import type { Exchange } from '../request/exchange';

/** Headers by their lower-case names; what was sent several times has all its values. */
export type ForwardedHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Of one connection only: RFC 9110, 7.6.1, and those that a proxy of before 1997 has. */
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

/** For this server alone: as whom it is asked is nobody else's business. */
const OWN: ReadonlySet<string> = new Set(['authorization', 'expect', 'http2-settings']);
const IMPERSONATION = 'impersonate-';

const SUBPROTOCOLS = 'sec-websocket-protocol';
const FORWARDED_FOR = 'x-forwarded-for';

/** What of a request's headers goes on, and what is said of the client. */
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

/** What of an answer's headers goes back. Their names stay as they were written. */
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

/** A header may name others that are meant for the same connection only. */
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

/** Without the one that carries a token. */
function subprotocols(offered: string | readonly string[] | undefined): string {
  return [offered ?? []]
    .flat()
    .flatMap((each) => each.split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '' && !each.startsWith(WEB_SOCKET_TOKEN_PREFIX))
    .join(', ');
}
