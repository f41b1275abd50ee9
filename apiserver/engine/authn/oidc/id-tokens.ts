import type { Claims } from '../../../../shared/tokens/json-web-token';
import { parseToken } from '../../../../shared/tokens/json-web-token';
import type { Clock } from '../../../../shared/concurrency/clock';
import type { UserInfo } from '../../request/exchange';
import type { AuthResult } from '../authenticator';
import type { AccessCondition } from '../../request/access-condition';
import { identityGround, unauthorized } from '../authenticator';
import type { IssuerKeys } from './issuer-keys';

export interface IdTokenRules {
  readonly issuer: string;
  /** The client id that every token must have as an audience. */
  readonly clientId: string;
  readonly usernameClaim: string;
  /** The prefix of user names; may be empty. */
  readonly usernamePrefix: string;
  /** Undefined: tokens have no groups. */
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  /** Claims that must have these values. */
  readonly requiredClaims: Readonly<Record<string, string>>;
}

const SECOND_MS = 1_000;
/** The tolerated clock skew of the issuer. */
const LEEWAY_MS = 60_000;

/**
 * Authenticates id_tokens of an OpenID Connect issuer. Returns undefined for tokens of other issuers. Signature, audience, times and user claims
 * must be valid; only the keys are fetched from the issuer.
 */
export function idTokenLookup(
  rules: IdTokenRules,
  { keys, clock }: { readonly keys: IssuerKeys; readonly clock: Clock },
): (token: string) => Promise<AuthResult | undefined> {
  return async (token) => {
    const claims = await verifiedClaims(token, rules, keys);
    if (claims === undefined) return undefined;
    const problem = purposeProblem(claims, rules, clock.now()) ?? requiredProblem(claims, rules);
    if (problem !== undefined) throw unauthorized(`oidc: ${problem}`);
    const user = userOf(claims, rules);
    if (typeof user === 'string') throw unauthorized(`oidc: ${user}`);
    return { user, ground: () => groundOf(claims, clock) };
  };
}

/** The condition holds until the token expires. */
function groundOf(claims: Claims, clock: Clock): AccessCondition {
  return identityGround(claims, async () =>
    Promise.resolve(hasExpired(claims.exp, clock.now()) ? 'oidc: the token has expired' : undefined),
  );
}

function hasExpired(exp: unknown, now: number): boolean {
  return typeof exp === 'number' && exp * SECOND_MS < now;
}

/** Returns undefined for a token of another issuer. Throws Unauthorized for an invalid signature. */
async function verifiedClaims(
  token: string,
  { issuer }: IdTokenRules,
  keys: IssuerKeys,
): Promise<Claims | undefined> {
  const tokens = keys.tokens();
  const known = await tokens?.verify(token);
  if (known?.is === 'verified') return known.claims;
  if (known?.is === 'foreign') return undefined;
  const parsed = parseToken(token);
  if (parsed === undefined || parsed.claims.iss !== issuer) return undefined;
  if (known === undefined) throw unauthorized('oidc: the keys of the issuer have not been fetched yet');
  if (!keys.has(parsed.keyId)) await keys.fetchUnknown(parsed.keyId);
  // Another request may have fetched the key while this token was verified with the old ones.
  const newest = keys.tokens();
  const again = newest === tokens ? known : await newest?.verify(token);
  if (again?.is === 'verified') return again.claims;
  throw unauthorized('oidc: the signature matches no key of the issuer');
}

function purposeProblem(
  { aud, exp, nbf }: Claims,
  { clientId }: IdTokenRules,
  now: number,
): string | undefined {
  const audiences = Array.isArray(aud) ? (aud as readonly unknown[]) : [aud];
  if (!audiences.includes(clientId)) return 'the token has another audience';
  if (typeof exp !== 'number') return 'the token has no expiration time';
  if (hasExpired(exp, now)) return 'the token has expired';
  if (nbf === undefined) return undefined;
  if (typeof nbf !== 'number') return 'the token has a malformed nbf claim';
  return nbf * SECOND_MS > now + LEEWAY_MS ? 'the token is not valid yet' : undefined;
}

function requiredProblem(claims: Claims, { requiredClaims }: IdTokenRules): string | undefined {
  for (const [claim, value] of Object.entries(requiredClaims)) {
    if (!Object.hasOwn(claims, claim)) return `the required claim ${claim} is missing`;
    if (claims[claim] !== value) return `the required claim ${claim} has another value`;
  }
  return undefined;
}

/** Returns the user of the claims, or why they are invalid. */
function userOf(claims: Claims, rules: IdTokenRules): UserInfo | string {
  const { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = rules;
  const name = ownClaim(claims, usernameClaim);
  if (typeof name !== 'string' || name === '') return `the claim ${usernameClaim} is not a name`;
  const isVerified = ownClaim(claims, 'email_verified');
  if (usernameClaim === 'email' && isVerified !== undefined && isVerified !== true) {
    return 'the email address is not verified';
  }
  const groups = groupsClaim === undefined ? [] : groupsOf(ownClaim(claims, groupsClaim));
  if (groups === undefined) return `the claim ${groupsClaim ?? ''} is not a list of names`;
  return {
    name: `${usernamePrefix}${name}`,
    uid: '',
    groups: groups.map((group) => `${groupsPrefix}${group}`),
    extra: {},
  };
}

/** Accepts a single name as a list of one, as many issuers write roles. */
function groupsOf(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((each): each is string => typeof each === 'string');
  return names.length === value.length ? names : undefined;
}

function ownClaim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
