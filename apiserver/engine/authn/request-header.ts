import type { Clock } from '../../../shared/concurrency/clock';
import type { Exchange, UserInfo } from '../request/exchange';
import { headersWithPrefix, headerValues, removeHeaders, unescapedKey } from '../request/header-values';
import type { Authenticator } from './authenticator';
import { userExtra } from './user-extra';
import type { CaBundle } from './x509/ca-bundle';
import { peerGrounds, verifiedPeers } from './x509/verified-peers';

export interface RequestHeaderNames {
  /** The allowed common names of front proxies; empty: any. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/**
 * Authenticates users by the headers of a front proxy, if its client certificate is trusted by the bundle and has an allowed name. Without a
 * certificate the headers are ignored. Returns undefined if the headers name no user.
 */
export function requestHeader(
  names: RequestHeaderNames,
  { bundle, clock }: { readonly bundle: Pick<CaBundle, 'current'>; readonly clock: Clock },
): Authenticator {
  const { allowedNames } = names;
  const nameProblem = (name: string): string | undefined =>
    allowedNames.length === 0 || allowedNames.includes(name)
      ? undefined
      : `a proxy with the name ${JSON.stringify(name)} is not allowed`;
  const verify = verifiedPeers({ bundle, clock, nameProblem });
  const groundOf = peerGrounds(verify);
  const read = headerReader(names);
  const isOwn = headerTest(names);
  return async (exchange) => {
    if (exchange.peer === undefined) return undefined;
    const proxy = await verify(exchange.peer);
    if (!proxy.isTrusted) throw proxy.refusal;
    const user = read(exchange);
    if (user === undefined) return undefined;
    removeHeaders(exchange, isOwn);
    const { peer } = exchange;
    return { user, ground: () => groundOf(peer) };
  };
}

/** Returns a test for the lower-case names of user headers, which are removed so that no later stage trusts them. */
function headerTest({
  usernameHeaders,
  groupHeaders,
  extraHeaderPrefixes,
}: RequestHeaderNames): (name: string) => boolean {
  const whole = new Set([...usernameHeaders, ...groupHeaders].map((name) => name.toLowerCase()));
  const prefixes = extraHeaderPrefixes.map((prefix) => prefix.toLowerCase());
  return (name) => whole.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

function headerReader(names: RequestHeaderNames): (exchange: Exchange) => UserInfo | undefined {
  const lowered = (all: readonly string[]): readonly string[] => all.map((name) => name.toLowerCase());
  const usernameHeaders = lowered(names.usernameHeaders);
  const groupHeaders = lowered(names.groupHeaders);
  const prefixes = lowered(names.extraHeaderPrefixes);
  return (exchange) => {
    // Only the first value of a repeated header counts here.
    const name = usernameHeaders
      .map((header) => headerValues(exchange, header)[0] ?? '')
      .find((value) => value !== '');
    if (name === undefined) return undefined;
    const groups = groupHeaders
      .flatMap((header) => headerValues(exchange, header))
      .filter((group) => group !== '');
    const extras = prefixes
      .flatMap((prefix) => headersWithPrefix(exchange, prefix))
      .map(([rest, value]) => [unescapedKey(rest), value] as const);
    return { name, uid: '', groups, extra: userExtra(extras) };
  };
}
