import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TokenReview, UserInfo } from '../../../shared/api/types/authentication-v1';
import type { SubjectAccessReview } from '../../../shared/api/types/authorization-v1';
import type { Client } from '../../../shared/client/client';
import type { Clock } from '../../../shared/concurrency/clock';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Log } from '../../../shared/log/log';
import type { ResourceOf, Sent } from '../../../shared/object/object';
import { apiVersionOf } from '../../../shared/object/object';
import { GROUP, USER, USER_GROUP } from '../../../shared/names';

/** A request to the listener of this process. */
export interface AccessRequest {
  /** Lower case: `get`. */
  readonly verb: string;
  readonly path: string;
  /** The bearer token; empty if absent. */
  readonly token: string;
}

/** 200: allowed. 401: unknown token. 403: forbidden. 500: the API server did not decide. 503: too many requests are waiting. */
export interface AccessDecision {
  readonly code: 200 | 401 | 403 | 500 | 503;
  readonly message: string;
}

export interface AccessOptions {
  readonly client: Client;
  /** Paths without authorization; a trailing `*` matches any rest. */
  readonly alwaysAllowPaths: readonly string[];
  readonly log: Log;
  readonly clock?: Clock;
}

/** How long a decision is cached, in milliseconds: no longer than Kubernetes does. */
const REMEMBERED_MS = 10_000;
const REMEMBERED_MAX = 1_000;
/** Number of requests that may wait for the API server at once; unauthenticated clients can send them. */
const REVIEWS_MAX = 64;
const CALL_TIMEOUT_MS = 10_000;
const UNKNOWN = 'failed to check access with the API server';
const MAY: AccessDecision = { code: 200, message: '' };
const BUSY: AccessDecision = { code: 503, message: 'too many ask at once who may read this' };
const ANONYMOUS: UserInfo = { username: USER.anonymous, groups: [USER_GROUP.unauthenticated] };
const TOKEN_REVIEWS: ResourceOf<TokenReview> = {
  group: GROUP.authentication,
  version: 'v1',
  resource: 'tokenreviews',
};
const ACCESS_REVIEWS: ResourceOf<SubjectAccessReview> = {
  group: GROUP.authorization,
  version: 'v1',
  resource: 'subjectaccessreviews',
};

interface Remembered {
  readonly result: Promise<AccessDecision>;
  /** Expiration by the clock. */
  readonly untilMs: number;
}

/** Authenticates and authorizes by TokenReview and SubjectAccessReview of the API server. */
export function createAccess({
  client,
  alwaysAllowPaths,
  log,
  clock = monotonicClock,
}: AccessOptions): (request: AccessRequest) => Promise<AccessDecision> {
  const remembered = new LRUCache<string, Remembered>({ max: REMEMBERED_MAX });
  let reviews = 0;
  return async (request) => {
    if (alwaysAllowPaths.some((allowed) => matches(allowed, request.path))) return MAY;
    const key = keyOf(request);
    const known = remembered.get(key);
    if (known !== undefined && clock.now() < known.untilMs) return known.result;
    if (reviews >= REVIEWS_MAX) return BUSY;
    reviews += 1;
    const result = review({ client, log }, request).finally(() => {
      reviews -= 1;
    });
    remembered.set(key, { result, untilMs: clock.now() + REMEMBERED_MS });
    if ((await result).code === 500 && remembered.peek(key)?.result === result) remembered.delete(key);
    return result;
  };
}

function matches(allowed: string, path: string): boolean {
  return allowed.endsWith('*') ? path.startsWith(allowed.slice(0, -1)) : path === allowed;
}

/** Tokens are secrets, so only a hash is kept. */
function keyOf({ verb, path, token }: AccessRequest): string {
  const digest = createHash('sha256').update(token).digest('base64url');
  return `${digest} ${verb} ${path}`;
}

async function review(
  { client, log }: Pick<AccessOptions, 'client' | 'log'>,
  { verb, path, token }: AccessRequest,
): Promise<AccessDecision> {
  try {
    const user = token === '' ? ANONYMOUS : await userOf(client, token);
    if (user === undefined) return { code: 401, message: 'Unauthorized' };
    if (await isAllowed(client, user, { verb, path })) return MAY;
    const message = `forbidden: User ${JSON.stringify(user.username ?? '')} cannot ${verb} path ${JSON.stringify(path)}`;
    return { code: 403, message };
  } catch (error) {
    // An unauthenticated client must not see the server's error.
    log.warn({ path, error: error instanceof Error ? error.message : String(error) }, UNKNOWN);
    return { code: 500, message: UNKNOWN };
  }
}

async function userOf(client: Client, token: string): Promise<UserInfo | undefined> {
  const object: Sent<TokenReview> = {
    apiVersion: apiVersionOf(TOKEN_REVIEWS),
    kind: 'TokenReview',
    metadata: {},
    spec: { token },
  };
  const { status } = await client.create(TOKEN_REVIEWS, object, { timeoutMs: CALL_TIMEOUT_MS });
  return status?.authenticated === true ? status.user : undefined;
}

async function isAllowed(
  client: Client,
  { username, uid, groups, extra }: UserInfo,
  nonResourceAttributes: { readonly verb: string; readonly path: string },
): Promise<boolean> {
  const object: Sent<SubjectAccessReview> = {
    apiVersion: apiVersionOf(ACCESS_REVIEWS),
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user: username, uid, groups, extra, nonResourceAttributes },
  };
  const { status } = await client.create(ACCESS_REVIEWS, object, { timeoutMs: CALL_TIMEOUT_MS });
  return status?.allowed === true;
}
