import type { IncomingMessage } from 'node:http';
import { GROUP } from '../../../shared/names';
import type { AuditedServer, CallOptions } from '../../testing/audit/audited-server';
import { startAuditedServer } from '../../testing/audit/audited-server';

const RBAC = `/apis/${GROUP.rbac}/v1`;
const CORE = '/api/v1/namespaces/default';
const WATCH = `${CORE}/configmaps?watch=1&resourceVersion=0`;

let server: AuditedServer;
beforeAll(async () => {
  server = await startAuditedServer({
    policy: { rules: [{ level: 'None' }] },
    flags: ['--authorization-mode=RBAC', '--disable-admission-plugins=ServiceAccount'],
  });
  await write('POST', `${RBAC}/clusterroles`, { metadata: { name: 'reader' }, rules: [READS] });
});
afterAll(async () => {
  await server.stop();
});

const READS = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['configmaps'] };

// eslint-disable-next-line typescript/no-explicit-any
async function write(method: string, path: string, body?: object): Promise<any> {
  const { code, text } = await server.call(method, path, body === undefined ? {} : { body });
  if (code >= 300) throw new Error(text);
  return JSON.parse(text);
}

async function bind(name: string, role: string, subject: object): Promise<void> {
  const roleRef = { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: role };
  await write('POST', `${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef, subjects: [subject] });
}

/** All frames of a watch up to its end, but what it begins with. */
async function watch(options: CallOptions): Promise<Promise<readonly unknown[]>[]> {
  const response = await server.open('GET', WATCH, options);
  expect(response.statusCode).toBe(200);
  return [framesOf(response)];
}

async function framesOf(response: IncomingMessage): Promise<readonly unknown[]> {
  let text = '';
  for await (const part of response) text += String(part);
  const frames = text.split('\n').filter((line) => line !== '');
  return frames.map((line) => JSON.parse(line) as { type: string }).filter(({ type }) => type !== 'ADDED');
}

test('a watch of a service account ends when the account is deleted, on a connection that stays open', async () => {
  await write('POST', `${CORE}/serviceaccounts`, { metadata: { name: 'robot' } });
  await bind('robot', 'reader', { kind: 'ServiceAccount', name: 'robot', namespace: 'default' });
  const { status } = await write('POST', `${CORE}/serviceaccounts/robot/token`, { spec: {} });
  const token = String(status.token);
  const [frames] = await watch({ token });
  await write('DELETE', `${CORE}/serviceaccounts/robot`);
  expect(await frames).toMatchObject([{ type: 'ERROR', object: { code: 401, reason: 'Unauthorized' } }]);
  expect((await server.call('GET', WATCH, { token })).code).toBe(401);
});

test('a watch on behalf of another ends when that may not be any more', async () => {
  const impersonate = {
    verbs: ['impersonate'],
    apiGroups: [''],
    resources: ['users'],
    resourceNames: ['ann'],
  };
  await write('POST', `${RBAC}/clusterroles`, { metadata: { name: 'as-ann' }, rules: [impersonate] });
  await bind('as-ann', 'as-ann', { kind: 'User', apiGroup: GROUP.rbac, name: 'bob' });
  await bind('ann', 'reader', { kind: 'User', apiGroup: GROUP.rbac, name: 'ann' });
  const [frames] = await watch({ token: 'weak', headers: { 'impersonate-user': 'ann' } });
  await write('DELETE', `${RBAC}/clusterrolebindings/as-ann`);
  const message = expect.stringContaining('User "bob" cannot impersonate resource "users"') as unknown;
  expect(await frames).toMatchObject([{ type: 'ERROR', object: { code: 403, message } }]);
});

test('metrics count them by reason', async () => {
  const { text } = await server.call('GET', '/metrics');
  expect(text).toMatch(/^apiserver_watch_cache_watches_ended_total\{reason="unauthorized"\} 1$/mu);
  expect(text).toMatch(/^apiserver_watch_cache_watches_ended_total\{reason="forbidden"\} 1$/mu);
});
