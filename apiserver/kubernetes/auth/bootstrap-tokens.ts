import { hash } from 'node:crypto';
import type { Clock } from '../../../shared/concurrency/clock';
import type { Log } from '../../../shared/log/log';
import type { Secret } from '../../../shared/api/types/core-v1';
import { parseTime } from '../../../shared/meta/time';
import { GROUP, NAMESPACE, SECRET_TYPE } from '../../../shared/names';
import { deepEqual } from '../../../shared/object/clone';
import type { UserInfo } from '../../engine/request/exchange';
import type { AccessCondition } from '../../engine/request/access-condition';
import type { ReadContext } from '../../engine/registry/read-context';
import { currentFromCache, readFresh } from '../../engine/registry/current';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { relativeKey } from '../../engine/registry/resource';
import type { AuthResult } from '../../engine/authn/authenticator';
import { identityGround } from '../../engine/authn/authenticator';
import { isSameSecret } from '../../engine/authn/same-secret';

/** Reads a Secret of the system namespace by its name. */
export type ReadSystemSecret = (name: string, signal: AbortSignal) => Promise<Secret | undefined>;

export interface SystemSecrets {
  /** Reads the watch cache. */
  readonly cached: ReadSystemSecret;
  /** Reads at least as fresh as a read index taken now. */
  readonly fresh: ReadSystemSecret;
}

export interface BootstrapTokenOptions {
  readonly secrets: SystemSecrets;
  readonly clock: Clock;
  readonly log: Log;
}

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const SECRET_PREFIX = 'bootstrap-token-';
const USER_PREFIX = 'system:bootstrap:';
const GROUP_OF_ALL = 'system:bootstrappers';
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

/**
 * Authenticates bootstrap tokens, with which nodes join, by their Secrets. Returns undefined for other tokens. A cached Secret can accept a
 * token, but a rejection always follows a fresh read.
 */
export function bootstrapTokenLookup({
  secrets,
  clock,
  log,
}: BootstrapTokenOptions): (token: string, signal: AbortSignal) => Promise<AuthResult | undefined> {
  /** The Secret must continue to grant the same user for the same token; only a digest of the token is stored. */
  const groundOf = (known: Secret, user: UserInfo): AccessCondition => {
    const { name = '' } = known.metadata;
    const digest = digestOf(known);
    return identityGround(digest, async (signal) => {
      for (const read of [secrets.cached, secrets.fresh]) {
        const object = await read(name, signal);
        if (object === undefined || digestOf(object) !== digest) continue;
        if (deepEqual(userOf(object, ownTokenOf(object, clock.now())), user)) return undefined;
      }
      return 'the bootstrap token was deleted, changed or has expired';
    });
  };
  return async (token, signal) => {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    if (id === undefined || secret === undefined) return undefined;
    const name = `${SECRET_PREFIX}${id}`;
    let problem = 'the Secret does not exist';
    for (const read of [secrets.cached, secrets.fresh]) {
      const object = await read(name, signal);
      if (object === undefined) continue;
      const found = userOf(object, { id, secret, now: clock.now() });
      if (typeof found !== 'string') return { user: found, ground: () => groundOf(object, found) };
      problem = found;
    }
    log.debug({ secret: name, reason: problem }, 'bootstrap token rejected');
    return undefined;
  };
}

/** Returns the token that the Secret holds. */
function ownTokenOf({ data = {} }: Secret, now: number): Parameters<typeof userOf>[1] {
  const [id = '', secret = ''] = ['token-id', 'token-secret'].map((key) =>
    Buffer.from(data[key] ?? '', 'base64').toString(),
  );
  return { id, secret, now };
}

function digestOf(object: Secret): string {
  const { id, secret } = ownTokenOf(object, 0);
  return hash('sha256', `${id}.${secret}`, 'base64');
}

/** Returns the user of a token, or why the Secret does not accept it. */
function userOf(
  { metadata, type, data = {} }: Secret,
  token: { readonly id: string; readonly secret: string; readonly now: number },
): UserInfo | string {
  if (metadata.deletionTimestamp !== undefined) return 'the Secret is being deleted';
  if (type !== SECRET_TYPE.bootstrapToken) return 'the Secret has another type';
  const valueOf = (key: string): Buffer => Buffer.from(data[key] ?? '', 'base64');
  if (!isSameSecret(valueOf('token-secret'), Buffer.from(token.secret)))
    return 'the token secret does not match';
  if (valueOf('token-id').toString() !== token.id) return 'the token id does not match';
  if (hasExpired(valueOf('expiration').toString(), token.now)) return 'the token has expired';
  if (valueOf('usage-bootstrap-authentication').toString() !== 'true') {
    return 'the token is not for authentication';
  }
  const groups = groupsOf(valueOf('auth-extra-groups').toString());
  if (groups === undefined) return 'an extra group has an invalid name';
  return { name: `${USER_PREFIX}${token.id}`, uid: '', groups, extra: {} };
}

/** A malformed time counts as expired. */
function hasExpired(expiration: string, now: number): boolean {
  if (expiration === '') return false;
  const at = parseTime(expiration);
  return at === undefined || at <= now;
}

/** Returns the distinct groups, sorted; undefined if one is not allowed for bootstrap tokens. */
function groupsOf(extra: string): readonly string[] | undefined {
  if (extra === '') return [GROUP_OF_ALL];
  const named = extra.split(',');
  return named.every((group) => EXTRA_GROUP.test(group))
    ? [...new Set([GROUP_OF_ALL, ...named])].sort()
    : undefined;
}

/** Creates readers of Secrets in the system namespace. */
export function systemSecrets(context: ReadContext, registry: () => Registry): SystemSecrets {
  const placeOf = (name: string): { readonly endpoint: Endpoint; readonly key: string } => {
    const endpoint = registry().endpoint(GROUP.core, 'v1', 'secrets');
    if (endpoint === undefined) throw new Error('secrets are not served');
    return { endpoint, key: relativeKey(endpoint.stored, NAMESPACE.system, name) };
  };
  return {
    cached: async (name) => {
      const { endpoint, key } = placeOf(name);
      return Promise.resolve(currentFromCache(context, endpoint, key)?.object);
    },
    fresh: async (name, signal) => {
      const { endpoint, key } = placeOf(name);
      return (await readFresh(context, endpoint, key, signal))?.object;
    },
  };
}
