import type { StatusError } from '../../../shared/errors/status-error';
import { AUDIT_ANNOTATION, USER_GROUP } from '../../../shared/names';
import { parseRequestInfo } from '../request/request-info';
import { newExchange } from '../request/testing/new-exchange';
import { createAuthorizationStage } from './authorize';
import type { Authorizer, AccessResult } from '../request/access';
import { firstOpinionOf } from './authorizer';
import type { Mode } from '../../compose/authorization-modes';
import { accessControlOf } from '../../compose/authorization-modes';
import { Policies } from '../../kubernetes/auth/rbac/policies';

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly user?: string;
  readonly groups?: readonly string[];
}

async function outcome(authorizer: Authorizer, asked: Asked): Promise<'allowed' | StatusError['status']> {
  const { method = 'GET', path, user = 'jane', groups = [] } = asked;
  const exchange = newExchange({
    info: parseRequestInfo(method, path, new URLSearchParams()),
    user: { name: user, uid: '', groups, extra: {} },
  });
  let reached = false;
  try {
    await createAuthorizationStage(authorizer)(exchange, async () => {
      reached = true;
      await Promise.resolve();
    });
  } catch (error) {
    return (error as StatusError).status;
  }
  expect(reached).toBe(true);
  return 'allowed';
}

function authorizerOf(modes: readonly Mode[]): Authorizer {
  const policies = new Policies({ stored: [], cache: { resource: () => undefined } as never });
  return accessControlOf(modes, policies).authorize;
}

const silent: Authorizer = async () => Promise.resolve({ decision: 'no-opinion', reason: '' });

function says(decision: 'deny' | 'no-opinion', reason: string): Authorizer {
  return async () => Promise.resolve({ decision, reason });
}

describe('the refusal', () => {
  test('keeps browsers from guessing what its words are', async () => {
    const exchange = newExchange({ info: parseRequestInfo('GET', '/a', new URLSearchParams()) });
    await expect(
      createAuthorizationStage(silent)(exchange, async () => Promise.resolve()),
    ).rejects.toMatchObject({ headers: { 'X-Content-Type-Options': 'nosniff' } });
  });

  test.each<[Asked, string, object]>([
    [
      { path: '/api/v1/pods' },
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope',
      { kind: 'pods' },
    ],
    [
      { path: '/apis/apps/v1/namespaces/ns/deployments/web/scale', method: 'PUT' },
      'deployments.apps "web" is forbidden: User "jane" cannot update resource "deployments/scale" in API group "apps" in the namespace "ns"',
      { group: 'apps', kind: 'deployments', name: 'web' },
    ],
    [{ path: '/metrics' }, 'forbidden: User "jane" cannot get path "/metrics"', {}],
    [{ path: '/version', method: 'POST', user: '' }, 'forbidden: User "" cannot post path "/version"', {}],
    [{ path: '/a', user: '<b>"&' }, 'forbidden: User "&lt;b&gt;\\"&amp;" cannot get path "/a"', {}],
  ])('%j', async (asked, message, details) => {
    expect(await outcome(silent, asked)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: 'Forbidden',
      details,
      code: 403,
    });
  });
});

describe('modes', () => {
  test('AlwaysAllow lets everybody do everything', async () => {
    expect(await outcome(authorizerOf(['AlwaysAllow']), { path: '/api/v1/secrets' })).toBe('allowed');
  });

  test.each(['/api/v1/secrets', '/healthz', '/version'])(
    'AlwaysDeny refuses %s and says so',
    async (path) => {
      const status = await outcome(authorizerOf(['AlwaysDeny']), { path });
      expect(status).toMatchObject({
        code: 403,
        message: expect.stringMatching(/: Everything is forbidden\.$/) as string,
      });
    },
  );

  test('AlwaysDeny leaves the decision to the modes behind it', async () => {
    expect(await outcome(authorizerOf(['AlwaysDeny', 'AlwaysAllow']), { path: '/healthz' })).toBe('allowed');
  });

  test('superusers are let through under every mode', async () => {
    const asked = { path: '/healthz', groups: [USER_GROUP.masters] };
    expect(await outcome(authorizerOf(['AlwaysDeny']), asked)).toBe('allowed');
  });
});

test('a denial ends the search, and reasons without an opinion are kept line by line', async () => {
  const allow = authorizerOf(['AlwaysAllow']);
  const denied = await outcome(firstOpinionOf([says('deny', 'not today'), allow]), { path: '/x' });
  expect(denied).toMatchObject({ message: 'forbidden: User "jane" cannot get path "/x": not today' });
  const unsure = await outcome(firstOpinionOf([says('no-opinion', 'a'), silent, says('no-opinion', 'b')]), {
    path: '/x',
  });
  expect(unsure).toMatchObject({ message: 'forbidden: User "jane" cannot get path "/x": a\nb' });
});

const { authorizationDecision: DECISION, authorizationReason: REASON } = AUDIT_ANNOTATION;

test.each<[string, AccessResult, object]>([
  ['a permission', { decision: 'allow', reason: 'a role' }, { [DECISION]: 'allow', [REASON]: 'a role' }],
  ['a refusal', { decision: 'no-opinion', reason: '' }, { [DECISION]: 'forbid', [REASON]: '' }],
  ['what is not known', { decision: 'no-opinion', reason: '', error: 'x' }, { [REASON]: 'internal error' }],
])('the audit event tells of %s', async (_what, result, expected) => {
  const noted: Record<string, string> = {};
  const audit = {
    annotate: (key: string, value: string) => {
      noted[key] = value;
    },
  };
  const info = parseRequestInfo('GET', '/x', new URLSearchParams());
  const stage = createAuthorizationStage(async () => Promise.resolve(result));
  await stage(newExchange({ info, audit: audit as never }), async () => Promise.resolve()).catch(
    () => undefined,
  );
  expect(noted).toEqual(expected);
});
