import type { Claims } from '../../../../shared/tokens/json-web-token';
import type { TokenKey } from '../../../../shared/tokens/token-key';
import type { Clock } from '../../../../shared/concurrency/clock';
import { AUDIT_ANNOTATION } from '../../../../shared/names';
import type { AccessCondition } from '../../../engine/request/access-condition';
import { identityGround, unauthorized } from '../../../engine/authn/authenticator';
import type { TokenAuthenticator, TokenResult } from '../../../engine/authn/token-authenticator';
import type { AccountObjects, AccountResource, ReadAccountObject } from './account-objects';
import type { Reference } from './account-user';
import { accountUser } from './account-user';
import { commonAudiences } from './common-audiences';
import type { BoundClaims } from './bound-claims';
import { boundClaimsOf } from './bound-claims';
import type { TokenCounts } from './token-counts';
import { VerifiedTokens } from '../../../engine/authn/verified-tokens';

/** How far clocks may differ: by so much is a token good before its time and after. */
const LEEWAY_MS = 60_000;
const SECOND_MS = 1_000;
/** Tokens whose signature need not be verified again: about 1 KB each. */
const VERIFIED_TOKENS_MAX = 4_096;

export interface AccountTokenOptions {
  readonly issuer: string;
  readonly keys: readonly TokenKey[];
  /** What a token is meant for that names no audience. */
  readonly apiAudiences: readonly string[];
  readonly objects: AccountObjects;
  readonly counts: TokenCounts;
  readonly clock: Clock;
}

/**
 * Knows the tokens that `serviceaccounts/token` gives. Beside the signature, the issuer, the audience and the time, what the token
 * hangs on must be there still, with the same uid: the account, and the pod or Secret it is bound to. Whoever deletes those ends the
 * token, at once on a replica that has heard of it.
 */
export function boundTokens(options: AccountTokenOptions): TokenAuthenticator {
  const { issuer, keys, apiAudiences, objects, counts, clock } = options;
  const verified = new VerifiedTokens({
    issuer,
    keys,
    tokensMax: VERIFIED_TOKENS_MAX,
    counts: counts.cache,
  });
  return async (question, signal) => {
    const token = await verified.verify(question.token);
    if (token.is === 'foreign') return undefined;
    if (token.is === 'forged') throw unauthorized('the signature is not of a key that is known here');
    const claims = boundClaimsOf(token.claims);
    if (claims === undefined) throw unauthorized('the claims are malformed');
    const meantFor = claims.audiences.length === 0 ? apiAudiences : claims.audiences;
    const audiences = commonAudiences(meantFor, question.audiences);
    const now = clock.now();
    const problem = timeProblem(claims, now) ?? (await lifeProblem(claims, { objects, now, signal }));
    if (problem !== undefined) throw unauthorized(problem);
    count(claims, counts, now);
    const user = accountUser(claims.namespace, claims.account, claims.pod);
    const ground = (): AccessCondition => groundOf(token.claims, claims, options);
    return { user, audiences, ...notesOf(claims, user.name, now), ground };
  };
}

/** Equal tokens have the same claims, as long as they are remembered. */
function groundOf(
  key: Claims,
  claims: BoundClaims,
  { objects, clock }: AccountTokenOptions,
): AccessCondition {
  return identityGround(key, async (signal) => {
    const now = clock.now();
    return timeProblem(claims, now) ?? (await lifeProblem(claims, { objects, now, signal }));
  });
}

function timeProblem({ expiresAtMs, notBeforeMs, issuedAtMs }: BoundClaims, now: number): string | undefined {
  if (expiresAtMs !== undefined && now - LEEWAY_MS > expiresAtMs) return 'token has expired';
  const startsAtMs = Math.max(notBeforeMs ?? -Infinity, issuedAtMs ?? -Infinity);
  return now + LEEWAY_MS < startsAtMs ? 'token is not valid yet' : undefined;
}

/** A refusal is only believed after a fresh look. */
async function lifeProblem(
  claims: BoundClaims,
  at: { readonly objects: AccountObjects; readonly now: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if ((await goneFrom(claims, at.objects.cached, at.now)) === undefined) return undefined;
  return goneFrom(claims, at.objects.fresh(at.signal), at.now);
}

/** What of that which the token hangs on is gone, or is another than it was. */
async function goneFrom(
  { namespace, account, secret, pod }: BoundClaims,
  read: ReadAccountObject,
  now: number,
): Promise<string | undefined> {
  const needed: readonly (readonly [string, AccountResource, Reference | undefined])[] = [
    ['service account', 'serviceaccounts', account],
    ['secret', 'secrets', secret],
    ['pod', 'pods', pod],
  ];
  for (const [what, resource, reference] of needed) {
    if (reference === undefined) continue;
    const found = await read(resource, { namespace, name: reference.name });
    if (found === undefined) return `the ${what} is gone`;
    if (found.uid !== reference.uid) return `the ${what} is another than it was`;
    if (found.deletedAtMs !== undefined && found.deletedAtMs < now - LEEWAY_MS)
      return `the ${what} has been deleted`;
  }
  return undefined;
}

function count({ audiences, warnAfterMs }: BoundClaims, counts: TokenCounts, now: number): void {
  if (audiences.length === 0) counts.legacy += 1;
  if (warnAfterMs === undefined) return;
  if (now > warnAfterMs) counts.stale += 1;
  else counts.valid += 1;
}

function notesOf(
  { audiences, warnAfterMs }: BoundClaims,
  subject: string,
  now: number,
): Pick<TokenResult, 'notes'> {
  const isStale = warnAfterMs !== undefined && now > warnAfterMs;
  if (audiences.length > 0 && !isStale) return {};
  return {
    notes: {
      ...(audiences.length === 0 ? { [AUDIT_ANNOTATION.legacyToken]: subject } : {}),
      ...(isStale ? { [AUDIT_ANNOTATION.staleToken]: staleText(subject, now - warnAfterMs) } : {}),
    },
  };
}

function staleText(subject: string, lateMs: number): string {
  return `subject: ${subject}, seconds after warning threshold: ${String(Math.floor(lateMs / SECOND_MS))}`;
}
