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
  /** The client that every token must be meant for. */
  readonly clientId: string;
  readonly usernameClaim: string;
  /** Stands before every name; empty for none. */
  readonly usernamePrefix: string;
  /** Undefined: tokens say nothing about groups. */
  readonly groupsClaim: string | undefined;
  readonly groupsPrefix: string;
  /** Claims that must be there with these values. */
  readonly requiredClaims: Readonly<Record<string, string>>;
}

const SECOND_MS = 1_000;
/** How far the clock of the issuer may be ahead. */
const LEEWAY_MS = 60_000;

/**
 * Knows the id_tokens of an OpenID Connect issuer. A token of another issuer is left to others; one of this issuer must be signed with
 * one of its keys, be meant for the client, be in its time, and say who the user is. The issuer is asked for its keys only.
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

/** A token ends with its time; what its issuer says of the user later is told by the next token. */
function groundOf(claims: Claims, clock: Clock): AccessCondition {
  return identityGround(claims, async () =>
    Promise.resolve(hasExpired(claims.exp, clock.now()) ? 'oidc: the token has expired' : undefined),
  );
}

function hasExpired(exp: unknown, now: number): boolean {
  return typeof exp === 'number' && exp * SECOND_MS < now;
}

/** Undefined for a token of others. Throws Unauthorized for one that the issuer has not signed. */
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
  if (known === undefined) throw unauthorized('oidc: the keys of the issuer are not known yet');
  if (!keys.has(parsed.keyId)) await keys.lookFor(parsed.keyId);
  // Others may have brought the key while this token was verified with those before.
  const newest = keys.tokens();
  const again = newest === tokens ? known : await newest?.verify(token);
  if (again?.is === 'verified') return again.claims;
  throw unauthorized('oidc: the signature is not of a key of the issuer');
}

function purposeProblem(
  { aud, exp, nbf }: Claims,
  { clientId }: IdTokenRules,
  now: number,
): string | undefined {
  const audiences = Array.isArray(aud) ? (aud as readonly unknown[]) : [aud];
  if (!audiences.includes(clientId)) return 'the token is meant for another client';
  if (typeof exp !== 'number') return 'the token has no end';
  if (hasExpired(exp, now)) return 'the token has expired';
  if (nbf === undefined) return undefined;
  if (typeof nbf !== 'number') return 'the token begins at no time';
  return nbf * SECOND_MS > now + LEEWAY_MS ? 'the token is not valid yet' : undefined;
}

function requiredProblem(claims: Claims, { requiredClaims }: IdTokenRules): string | undefined {
  for (const [claim, value] of Object.entries(requiredClaims)) {
    if (!Object.hasOwn(claims, claim)) return `the required claim ${claim} is not there`;
    if (claims[claim] !== value) return `the required claim ${claim} has another value`;
  }
  return undefined;
}

/** The user that the claims tell, or why they tell none. */
function userOf(claims: Claims, rules: IdTokenRules): UserInfo | string {
  const { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = rules;
  const name = ownClaim(claims, usernameClaim);
  if (typeof name !== 'string' || name === '') return `the claim ${usernameClaim} is no name`;
  const isVerified = ownClaim(claims, 'email_verified');
  if (usernameClaim === 'email' && isVerified !== undefined && isVerified !== true) {
    return 'the email address is not verified';
  }
  const groups = groupsClaim === undefined ? [] : groupsOf(ownClaim(claims, groupsClaim));
  if (groups === undefined) return `the claim ${groupsClaim ?? ''} is no list of names`;
  return {
    name: `${usernamePrefix}${name}`,
    uid: '',
    groups: groups.map((group) => `${groupsPrefix}${group}`),
    extra: {},
  };
}

/** A single name is taken for a list of one: a role is often told so. */
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
