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

/** The tolerated clock skew, before and after the validity of a token. */
const LEEWAY_MS = 60_000;
const SECOND_MS = 1_000;
/** Cached verified tokens, about 1 KB each. */
const VERIFIED_TOKENS_MAX = 4_096;

export interface AccountTokenOptions {
  readonly issuer: string;
  readonly keys: readonly TokenKey[];
  /** The audiences of tokens that name none. */
  readonly apiAudiences: readonly string[];
  readonly objects: AccountObjects;
  readonly counts: TokenCounts;
  readonly clock: Clock;
}

/**
 * Authenticates the tokens that `serviceaccounts/token` issues. It checks signature, issuer, audience and times, and that the account and the
 * pod or Secret that the token is bound to still exist with the same uid. Deleting one of them revokes the token.
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
    if (token.is === 'forged') throw unauthorized('the token signature matches no known key');
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

/** Equal tokens share the claims object while they are cached, so that it serves as the key. */
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

/** Returns why the token is revoked. A cached reason is confirmed by a fresh read. */
async function lifeProblem(
  claims: BoundClaims,
  at: { readonly objects: AccountObjects; readonly now: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  if ((await goneFrom(claims, at.objects.cached, at.now)) === undefined) return undefined;
  return goneFrom(claims, at.objects.fresh(at.signal), at.now);
}

/** Returns which object that the token is bound to was deleted or replaced. */
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
    if (found === undefined) return `the ${what} does not exist`;
    if (found.uid !== reference.uid) return `the ${what} was replaced`;
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
