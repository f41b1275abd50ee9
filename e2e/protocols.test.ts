import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ensureCredentials } from '../deploy/local/credentials';
import { eventually } from '../shared/testing/eventually';
import type { Answer, RequestOptions } from './support/client';
import { ApiClient } from './support/client';
import type { LocalServer } from './support/local-server';
import { startLocalServer } from './support/local-server';
import { configMap } from './support/objects';
import { explained } from './support/workspace';

/** One contract for both versions of HTTP: responses do not depend on the version. */

const AUDIT_POLICY = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [{ level: 'Metadata' }],
});

const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const LARGEST = 3 * 1_024 * 1_024;

let local: LocalServer;
let auditLog: string;
beforeAll(
  explained(async () => {
    local = await startLocalServer('kubernetes', (dir) => {
      const policy = path.join(dir, 'audit-policy.json');
      auditLog = path.join(dir, 'audit.log');
      writeFileSync(policy, AUDIT_POLICY);
      return [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`];
    });
  }),
);
afterAll(async () => {
  await local.stop();
});

describe.each(['1.1', '2'] as const)('over HTTP/%s', (http) => {
  let client: ApiClient;
  let stranger: ApiClient;
  beforeAll(() => {
    const { server, caFile } = local.replica;
    const { adminToken: token } = ensureCredentials(local.dir);
    client = new ApiClient({ server, caFile, token, http });
    stranger = new ApiClient({ server, caFile, token: 'unknown', http });
  });
  afterAll(() => {
    client.close();
    stranger.close();
  });

  const named = (name: string): string => `${name}-${http.replace('.', '-')}`;

  test('an object can be created, read, changed, watched and deleted', async () => {
    const name = named('lives');
    const at = `${MAPS}/${name}`;
    expect(await client.create(MAPS, configMap(name))).toMatchObject({
      status: 201,
      body: { metadata: { name } },
    });
    expect(await client.get(at)).toMatchObject({ status: 200, body: { kind: 'ConfigMap' } });
    expect(await client.mergePatch(at, { data: { a: 'b' } })).toMatchObject({ body: { data: { a: 'b' } } });
    const applied = await client.request({
      method: 'PATCH',
      path: `${at}?fieldManager=somebody`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { c: 'd' } },
    });
    expect(applied).toMatchObject({ status: 200, body: { data: { a: 'b', c: 'd' } } });
    const table = await client.request({ path: at, headers: { accept: TABLE } });
    expect(table).toMatchObject({
      status: 200,
      body: { kind: 'Table', rows: [{ cells: [name, 2, expect.anything()] }] },
    });
    expect(await client.delete(at)).toMatchObject({
      status: 200,
      body: { kind: 'Status', status: 'Success' },
    });
    expect(await client.get(at)).toMatchObject({ status: 404 });
  });

  test('a long response is compressed if the client accepts gzip', async () => {
    const answer = await client.request({ path: '/openapi/v2', headers: { 'accept-encoding': 'gzip' } });
    expect(answer).toMatchObject({ status: 200, headers: { 'content-encoding': 'gzip' } });
    expect(JSON.parse(String(gunzipSync(answer.bytes)))).toMatchObject({ swagger: '2.0' });
  });

  test.each<[code: number, reason: string, request: RequestOptions]>([
    [400, 'BadRequest', { method: 'POST', path: MAPS, body: '{"a' }],
    [403, 'Forbidden', { path: MAPS, headers: { 'impersonate-user': 'bob' } }],
    [404, 'NotFound', { path: `${MAPS}/none` }],
    [405, 'MethodNotAllowed', { method: 'PUT', path: MAPS, body: configMap('a') }],
    [406, 'NotAcceptable', { path: MAPS, headers: { accept: 'text/html' } }],
    [
      409,
      'AlreadyExists',
      { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: 'default' } } },
    ],
    [413, 'RequestEntityTooLarge', { method: 'POST', path: MAPS, body: Buffer.alloc(LARGEST + 1, 'x') }],
    [
      415,
      'UnsupportedMediaType',
      { method: 'PATCH', path: `${MAPS}/none`, headers: { 'content-type': 'text/plain' }, body: '{}' },
    ],
    [422, 'Invalid', { method: 'POST', path: MAPS, body: configMap('Not A Name') }],
  ])('%d is a Status with the reason %s', async (code, reason, request) => {
    const answer = await client.request(request);
    expect(answer).toMatchObject({
      status: code,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
      body: { kind: 'Status', status: 'Failure', reason, code },
    });
    expect(answer.headers['audit-id']).toBeDefined();
    expect((await client.get('/api/v1/namespaces/default')).status).toBe(200);
  });

  test.each(['/logs/', '/debug/flags/v', '/metrics/slis', '/configz', '/swagger.json', '/ui'])(
    '%s of other releases or programs is 404',
    async (page) => {
      expect((await client.get(page)).status).toBe(404);
      expect((await client.get('/version')).status).toBe(200);
    },
  );

  test('wrong credentials get 401 each time', async () => {
    for (const _time of [1, 2]) {
      expect(await stranger.get(MAPS)).toMatchObject({ status: 401, body: { reason: 'Unauthorized' } });
    }
  });

  test('a refused request is in the audit log and in the metrics', async () => {
    const refused = await client.request({
      path: `${MAPS}/${named('secret')}`,
      headers: { 'impersonate-user': 'bob' },
    });
    expect(refused.status).toBe(403);
    await eventually('the audit log has the request', async () => recorded(refused) !== undefined);
    expect(recorded(refused)).toMatchObject({
      user: { username: 'admin' },
      impersonatedUser: { username: 'bob' },
      responseStatus: { code: 403 },
    });
    const metrics = await client.get('/metrics');
    expect(metrics.text).toMatch(
      /^apiserver_request_total\{verb="GET",.*resource="configmaps",.*code="403"\} \d+$/mu,
    );
  });

  test('a watch delivers changes, can be resumed, and ends at its timeout', async () => {
    const name = named('watched');
    const selected = `${MAPS}?watch=1&fieldSelector=metadata.name%3D${name}`;
    const { body } = await client.get(MAPS);
    const since = body.metadata?.resourceVersion ?? '';
    const leave = new AbortController();
    const watching = client.watch(`${selected}&resourceVersion=${since}`, leave.signal);
    const created = await client.create(MAPS, configMap(name));
    expect(await watching.next()).toMatchObject({ value: { type: 'ADDED' } });
    await client.mergePatch(`${MAPS}/${name}`, { data: { a: 'b' } });
    expect(await watching.next()).toMatchObject({ value: { type: 'MODIFIED' } });
    leave.abort();
    await watching.next();
    const from = created.body.metadata?.resourceVersion ?? '';
    const types: string[] = [];
    const resumed = client.watch(
      `${selected}&resourceVersion=${from}&timeoutSeconds=1`,
      new AbortController().signal,
    );
    for await (const { type } of resumed) types.push(type);
    expect(types).toEqual(['MODIFIED']);
    await client.delete(`${MAPS}/${name}`);
  });

  test('exec, attach and port-forward to a missing pod are 404', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    for (const what of ['exec?command=a&stdout=1', 'attach?stdout=1', 'portforward?ports=1']) {
      const answer = await client.request({ method: 'POST', path: `${pods}/none/${what}` });
      expect(answer).toMatchObject({ status: 404, body: { reason: 'NotFound' } });
    }
  });
});

function recorded({ headers }: Answer): unknown {
  const id = JSON.stringify(String(headers['audit-id']));
  const line = readFileSync(auditLog, 'utf8')
    .split('\n')
    .find((each) => each.includes(id) && each.includes('ResponseComplete'));
  return line === undefined ? undefined : JSON.parse(line);
}
