import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { StatusError } from '../../../../shared/errors/status-error';
import { silentLog } from '../../../../shared/log/log';
import { GROUP } from '../../../../shared/names';
import type { ReviewVersion } from '../../remote/review-call';
import type { AccessControl, AccessQuestion, AccessResult } from '../../request/access';
import { parseRequestInfo } from '../../request/request-info';
import { newExchange } from '../../request/testing/new-exchange';
import { createAuthorizationStage } from '../authorize';
import { accessControlOf } from '../../../compose/authorization-modes';
import { Policies } from '../../../kubernetes/auth/rbac/policies';
import { createAccessReviewCall } from './access-review-call';
import { webhookAccess } from './webhook-access';

let seen: Record<string, unknown>[];
let status: unknown;
let code: number;
let now: number;
let shutdown: AbortController;
let dir: string;

const server = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    const review = JSON.parse(text) as Record<string, unknown>;
    seen.push(review);
    response.writeHead(code).end(JSON.stringify({ ...review, status }));
  });
});

beforeAll(async () => {
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  dir = mkdtempSync(path.join(tmpdir(), 'authz-webhook-'));
  const { port } = server.address() as AddressInfo;
  const config = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${String(port)}` } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
    'current-context': 'x',
  };
  writeFileSync(path.join(dir, 'config'), JSON.stringify(config));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});
beforeEach(() => {
  [seen, status, code, now, shutdown] = [[], { allowed: true }, 201, 0, new AbortController()];
});
afterEach(() => {
  shutdown.abort();
});

function access({ version = 'v1beta1' }: { readonly version?: ReviewVersion } = {}): AccessControl {
  return webhookAccess({
    ask: createAccessReviewCall({ configFile: path.join(dir, 'config'), version, initialBackoffMs: 1 }),
    authorizedTtlMs: 5_000,
    unauthorizedTtlMs: 1_000,
    clock: { now: () => now },
    log: silentLog,
    shutdownSignal: shutdown.signal,
  });
}

const JANE = { name: 'jane', uid: '42', groups: ['dev'], extra: { scopes: ['a', 'b'] } };

function question(about: Partial<AccessQuestion> = {}): AccessQuestion {
  return {
    user: JANE,
    verb: 'get',
    isResourceRequest: true,
    path: '/x',
    apiGroup: 'apps',
    apiVersion: 'v1',
    namespace: 'ns',
    resource: 'deployments',
    subresource: 'scale',
    name: 'web',
    ...about,
  };
}

async function ask(control: AccessControl, about?: Partial<AccessQuestion>): Promise<AccessResult> {
  return control.authorize(question(about), new AbortController().signal);
}

test.each<[ReviewVersion, string]>([
  ['v1', 'groups'],
  ['v1beta1', 'group'],
])('the service is asked in version %s, about resources and about paths', async (version, groups) => {
  const control = access({ version });
  await ask(control);
  const user = { user: 'jane', uid: '42', [groups]: ['dev'], extra: { scopes: ['a', 'b'] } };
  expect(seen[0]).toEqual({
    kind: 'SubjectAccessReview',
    apiVersion: `${GROUP.authorization}/${version}`,
    metadata: { creationTimestamp: null },
    spec: {
      resourceAttributes: {
        namespace: 'ns',
        verb: 'get',
        group: 'apps',
        version: 'v1',
        resource: 'deployments',
        subresource: 'scale',
        name: 'web',
      },
      ...user,
    },
    status: { allowed: false },
  });
  await ask(control, {
    user: { name: 'joe', uid: '', groups: [], extra: {} },
    isResourceRequest: false,
    path: '/metrics',
  });
  expect(seen[1]?.['spec']).toEqual({
    nonResourceAttributes: { path: '/metrics', verb: 'get' },
    user: 'joe',
  });
});

test.each<[object, AccessResult]>([
  [
    { allowed: true, reason: 'r' },
    { decision: 'allow', reason: 'r' },
  ],
  [
    { allowed: false, reason: 'r' },
    { decision: 'no-opinion', reason: 'r' },
  ],
  [{}, { decision: 'no-opinion', reason: '' }],
  [
    { allowed: false, denied: true, reason: 'r' },
    { decision: 'deny', reason: 'r' },
  ],
  [
    { allowed: true, denied: true },
    { decision: 'deny', reason: '' },
  ],
])('a status of %j is %j', async (said, result) => {
  status = said;
  expect(await ask(access())).toEqual(result);
});

test('a yes stands longer than anything else, and only for the same question', async () => {
  const control = access();
  await ask(control);
  await ask(control);
  await ask(control, { user: { ...JANE, groups: [] } });
  expect(seen).toHaveLength(2);
  status = { allowed: false };
  await ask(control, { name: 'other' });
  now = 1_000;
  await ask(control);
  expect(seen).toHaveLength(3);
  await ask(control, { name: 'other' });
  expect(seen).toHaveLength(4);
  now = 5_000;
  expect(await ask(control)).toMatchObject({ decision: 'no-opinion' });
});

test('a question that is very long is not remembered', async () => {
  const control = access();
  for (let turn = 0; turn < 2; turn += 1) {
    await ask(control, { isResourceRequest: false, path: `/${'x'.repeat(10_000)}` });
  }
  expect(seen).toHaveLength(2);
});

describe('a service that does not answer', () => {
  const silent = {
    decision: 'no-opinion',
    reason: '',
    error: 'the authorization webhook call failed',
  };
  const policies = new Policies({ stored: [], cache: { resource: () => undefined } as never });

  test.each<[string, () => void]>([
    ['an outage', () => (code = 500)],
    ['a refusal', () => (code = 403)],
    ['nonsense', () => (status = { allowed: 'true' })],
    ['a reason that is no text', () => (status = { allowed: true, reason: 1 })],
  ])('has no opinion: %s', async (_what, fail) => {
    fail();
    expect(await ask(access())).toEqual(silent);
  });

  test('fails only requests that no other mode allows', async () => {
    code = 403;
    const send = async (groups: readonly string[], modes: readonly ('Webhook' | 'AlwaysAllow')[]) => {
      const exchange = newExchange({
        info: parseRequestInfo('GET', '/api/v1/pods', new URLSearchParams()),
        user: { ...JANE, groups },
      });
      const { authorize: authorizer } = accessControlOf(modes, policies, { Webhook: access() });
      await createAuthorizationStage(authorizer)(exchange, async () => Promise.resolve());
    };
    await expect(send([], ['Webhook'])).rejects.toMatchObject({
      status: { code: 500, reason: 'InternalError' } satisfies Partial<StatusError['status']>,
    });
    await expect(send([], ['Webhook', 'AlwaysAllow'])).resolves.toBeUndefined();
    await expect(send(['system:masters'], ['Webhook'])).resolves.toBeUndefined();
  });
});

test('what it allows cannot be listed', async () => {
  expect(await access().rulesOf(JANE, 'ns', new AbortController().signal)).toEqual({
    resourceRules: [],
    nonResourceRules: [],
    incomplete: true,
    evaluationError: 'webhook authorizer does not support user rule resolution',
  });
});
