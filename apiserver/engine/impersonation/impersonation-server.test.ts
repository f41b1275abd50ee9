import { GROUP } from '../../../shared/names';
import type { AuditedServer } from '../../testing/audit/audited-server';
import { startAuditedServer } from '../../testing/audit/audited-server';

let server: AuditedServer;
beforeAll(async () => {
  server = await startAuditedServer({
    policy: { omitStages: ['RequestReceived'], rules: [{ level: 'Metadata' }] },
    flags: ['--authorization-mode=AlwaysDeny'],
  });
});
afterAll(async () => server.stop());

const alice = {
  username: 'alice',
  uid: '42',
  groups: ['system:masters', 'readers', 'system:authenticated'],
};

test('a superuser acts as another, with the rights of the other, and the audit event tells both', async () => {
  const headers = { 'Impersonate-User': 'bob', 'Impersonate-Extra-scopes': 'view', 'Audit-Id': 'as-bob' };
  const { code, text } = await server.call('GET', '/api/v1/namespaces', { headers });
  expect(code).toBe(403);
  expect(JSON.parse(text)).toMatchObject({
    message: `namespaces is forbidden: User "bob" cannot list resource "namespaces" in API group "" at the cluster scope: Everything is forbidden.`,
  });
  const [event] = await server.untilEvents('as-bob', 1);
  expect(event).toMatchObject({
    user: alice,
    impersonatedUser: { username: 'bob', groups: ['system:authenticated'], extra: { scopes: ['view'] } },
    responseStatus: { code: 403 },
  });
  const names = Object.keys(event as object);
  expect(names.indexOf('impersonatedUser')).toBe(names.indexOf('user') + 1);
});

test('groups count, each in a header of its own', async () => {
  const headers = {
    'Impersonate-User': 'bob',
    'Impersonate-Group': ['g1', 'system:masters'] as unknown as string,
    'Audit-Id': 'as-master',
  };
  const { code, text } = await server.call(
    'POST',
    `/apis/${GROUP.authorization}/v1/selfsubjectaccessreviews`,
    {
      headers,
      body: {
        apiVersion: `${GROUP.authorization}/v1`,
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      },
    },
  );
  expect(code).toBe(201);
  expect(JSON.parse(text)).toMatchObject({ status: { allowed: true } });
  const [event] = await server.untilEvents('as-master', 1);
  expect(event).toMatchObject({
    impersonatedUser: { username: 'bob', groups: ['g1', 'system:masters', 'system:authenticated'] },
  });
});

test('a user without permission is refused, and the event names only that user', async () => {
  const { code, text } = await server.call('GET', '/api', {
    token: 'weak',
    headers: { 'Impersonate-User': 'alice', 'Audit-Id': 'refused' },
  });
  expect(code).toBe(403);
  expect(JSON.parse(text)).toMatchObject({ details: { kind: 'users', name: 'alice' } });
  const [event] = await server.untilEvents('refused', 1);
  expect(event).toMatchObject({ user: { username: 'bob' }, responseStatus: { code: 403 } });
  expect(event).not.toHaveProperty('impersonatedUser');
});

test('the listener for upgrades is no way around', async () => {
  const webSocket = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  const { code, text } = await server.call('GET', '/api/v1/pods?watch=1', {
    headers: { ...webSocket, 'Impersonate-User': 'bob', 'Audit-Id': 'upgrade' },
  });
  expect(code).toBe(403);
  expect(text).toContain('User \\"bob\\" cannot watch resource');
});

test('groups without a user are 500 and audited', async () => {
  const { code, headers, text } = await server.call('GET', '/api', {
    headers: { 'Impersonate-Group': 'g', 'Audit-Id': 'no-user' },
  });
  expect(code).toBe(500);
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(text).toBe(
    'Internal Server Error: "/api": requested [{Group  g    }] without impersonating a user\n',
  );
  const [event] = await server.untilEvents('no-user', 1);
  expect(event).toMatchObject({ responseStatus: { code: 500 } });
});
