import { hash } from 'node:crypto';
import type { Claims } from '../../../../shared/tokens/json-web-token';
import { accountUserName } from '../../../../shared/meta/account-user-name';
import { ACCOUNT_TOKEN, AUDIT_ANNOTATION } from '../../../../shared/names';
import { text } from '../../../../shared/object/accessors';
import type { AccessCondition } from '../../../engine/request/access-condition';
import { identityGround, unauthorized } from '../../../engine/authn/authenticator';
import { isSameSecret } from '../../../engine/authn/same-secret';
import type { TokenAuthenticator } from '../../../engine/authn/token-authenticator';
import type { AccountObject, AccountObjects, ReadAccountObject } from './account-objects';
import { accountUser } from './account-user';
import { commonAudiences } from './common-audiences';
import type { AccountTokenOptions } from './bound-tokens';
import { VerifiedTokens } from '../../../engine/authn/verified-tokens';

const VERIFIED_TOKENS_MAX = 4_096;

/** The claims of a legacy token. */
interface LegacyClaims {
  readonly namespace: string;
  readonly secretName: string;
  readonly accountName: string;
  readonly accountUid: string;
}

export interface LegacyTokenOptions extends Omit<AccountTokenOptions, 'issuer' | 'clock'> {
  /** Whether the Secret and the account must still exist; otherwise such tokens never expire. */
  readonly lookup: boolean;
}

/** Authenticates legacy tokens in Secrets, which are valid until the Secret is deleted. */
export function legacyTokens(options: LegacyTokenOptions): TokenAuthenticator {
  const { keys, apiAudiences, objects, counts, lookup } = options;
  const verified = new VerifiedTokens({
    issuer: ACCOUNT_TOKEN.legacyIssuer,
    keys,
    tokensMax: VERIFIED_TOKENS_MAX,
    counts: counts.cache,
  });
  return async ({ token, audiences: asked }, signal) => {
    const found = await verified.verify(token);
    if (found.is === 'foreign') return undefined;
    if (found.is === 'forged') throw unauthorized('the token signature matches no known key');
    const audiences = commonAudiences(apiAudiences, asked);
    const claims = legacyClaimsOf(found.claims);
    if (typeof claims === 'string') throw unauthorized(claims);
    const problem = lookup
      ? await lifeProblem(claims, { isTokenOf: holds(token), objects, signal })
      : undefined;
    if (problem !== undefined) throw unauthorized(problem);
    counts.legacy += 1;
    const { namespace, accountName: name, accountUid: uid } = claims;
    const user = accountUser(namespace, { name, uid });
    const ground = lookup ? (): AccessCondition => groundOf(token, claims, objects) : undefined;
    return { user, audiences, notes: { [AUDIT_ANNOTATION.legacyToken]: user.name }, ground };
  };
}

function holds(token: string): (secret: AccountObject) => boolean {
  return (secret) => isSameSecret(Buffer.from(secret.token, 'base64'), Buffer.from(token));
}

/** Only a digest of the token is stored. */
function groundOf(token: string, claims: LegacyClaims, objects: AccountObjects): AccessCondition {
  const digest = digestOf(Buffer.from(token));
  const isTokenOf = (secret: AccountObject): boolean =>
    digestOf(Buffer.from(secret.token, 'base64')) === digest;
  return identityGround(digest, async (signal) => lifeProblem(claims, { isTokenOf, objects, signal }));
}

function digestOf(token: Buffer): string {
  return hash('sha256', token, 'base64');
}

/** Returns the claims, or why they are invalid. */
function legacyClaimsOf(claims: Claims): LegacyClaims | string {
  const namespace = text(claims[ACCOUNT_TOKEN.legacyNamespace]);
  const secretName = text(claims[ACCOUNT_TOKEN.legacySecretName]);
  const accountName = text(claims[ACCOUNT_TOKEN.legacyAccountName]);
  const accountUid = text(claims[ACCOUNT_TOKEN.legacyAccountUid]);
  if (namespace === '') return 'namespace claim is missing';
  if (secretName === '') return 'secretName claim is missing';
  if (accountName === '') return 'serviceAccountName claim is missing';
  if (accountUid === '') return 'serviceAccountUID claim is missing';
  if (claims.sub !== accountUserName(namespace, accountName)) return 'sub claim is invalid';
  return { namespace, secretName, accountName, accountUid };
}

/** Returns why the token is revoked. A cached reason is confirmed by a fresh read. */
async function lifeProblem(claims: LegacyClaims, at: Looked): Promise<string | undefined> {
  if ((await goneFrom(claims, at.isTokenOf, at.objects.cached)) === undefined) return undefined;
  return goneFrom(claims, at.isTokenOf, at.objects.fresh(at.signal));
}

interface Looked {
  readonly isTokenOf: (secret: AccountObject) => boolean;
  readonly objects: AccountObjects;
  readonly signal: AbortSignal;
}

async function goneFrom(
  { namespace, secretName, accountName, accountUid }: LegacyClaims,
  isTokenOf: (secret: AccountObject) => boolean,
  read: ReadAccountObject,
): Promise<string | undefined> {
  const secret = await read('secrets', { namespace, name: secretName });
  if (secret === undefined || secret.deletedAtMs !== undefined) return 'Token has been invalidated';
  if (!isTokenOf(secret)) return "Token does not match server's copy";
  const account = await read('serviceaccounts', { namespace, name: accountName });
  if (account === undefined || account.deletedAtMs !== undefined)
    return 'the service account has been deleted';
  return account.uid === accountUid ? undefined : 'the service account was replaced';
}
