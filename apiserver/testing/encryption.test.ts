import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { EtcdCluster } from '../../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../../deploy/local/etcd-cluster';
import { silentLog } from '../../shared/log/log';
import { PATIENCE_MS, patience } from '../../shared/testing/eventually';
import { encrypt } from '../engine/storage/decorators/encryption/encrypt';
import { parseEncryptionRules } from '../engine/storage/decorators/encryption/encryption-rules';
import { createEtcdBackend } from '../engine/storage/stores/etcd/etcd-backend';
import type { InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';

const SECRETS = '/api/v1/namespaces/default/secrets';
/** The secret text in Base64, as stored, and as sent. */
const WORDS = [Buffer.from('the eagle has landed').toString('base64'), 'the eagle has landed'] as const;
const SECRET = {
  metadata: { name: 'eagle' },
  data: { message: WORDS[0] },
};

let cluster: EtcdCluster;
let api: InProcessApi | undefined;

beforeEach(async () => {
  cluster = await startEtcdCluster({ size: 1, extraArgs: ['--unsafe-no-fsync'] });
});
afterEach(async () => {
  await api?.close();
  await cluster.stop();
});

/** Starts another server on the same etcd. */
async function serve(...names: string[]): Promise<InProcessApi> {
  const keys = names.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') }));
  const parsed = parseEncryptionRules({
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: [{ aesgcm: { keys } }, { identity: {} }] }],
  });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const etcd = createEtcdBackend({
    endpoints: cluster.endpoints,
    prefix: '/registry',
    log: silentLog,
    callTimeoutMs: PATIENCE_MS,
  });
  const { backend } = encrypt(etcd, parsed.rules, '/registry');
  await api?.close();
  api = await startInProcessApi(backend, { encrypted: new Set(parsed.rules.resources.keys()) });
  return api;
}

async function stored(): Promise<string> {
  const etcd = createEtcdBackend({
    endpoints: cluster.endpoints,
    prefix: '/registry',
    log: silentLog,
    callTimeoutMs: PATIENCE_MS,
  });
  const { record } = await etcd.get('/registry/core/secrets/default/eagle', patience());
  await etcd.close();
  return record?.value.toString('latin1') ?? '';
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

test('no snapshot and no file of etcd contains plain text of a Secret, and clients can read it', async () => {
  const served = await serve('one');
  await served.call('POST', SECRETS, { body: SECRET });
  const inTheClear = { metadata: { name: 'plain' } };
  await served.call('POST', '/api/v1/namespaces/default/configmaps', { body: inTheClear });
  expect((await served.call('GET', `${SECRETS}/eagle`)).json.data).toEqual(SECRET.data);
  const [member] = cluster.members;
  if (member === undefined) throw new Error('no etcd member');
  const snapshot = path.join(member.dataDir, 'snapshot.db');
  const env = { ...process.env, ETCDCTL_API: '3' };
  await promisify(execFile)('etcdctl', ['--endpoints', member.clientUrl, 'snapshot', 'save', snapshot], {
    env,
  });
  const files = await Promise.all((await filesBelow(member.dataDir)).map(async (file) => readFile(file)));
  const has = (words: string): boolean => files.some((bytes) => bytes.includes(words));
  // The unencrypted ConfigMap shows that the search works.
  expect(has('"name":"plain"')).toBe(true);
  expect(has('k8s:enc:aesgcm:v1:one:')).toBe(true);
  expect(WORDS.filter(has)).toEqual([]);
});

test('after a key rotation, a write without changes encrypts the value again once', async () => {
  await (await serve('one')).call('POST', SECRETS, { body: SECRET });
  expect(await stored()).toMatch(/^k8s:enc:aesgcm:v1:one:/);
  const served = await serve('two', 'one');
  const { json: secret } = await served.call('GET', `${SECRETS}/eagle`);
  const { json: written } = await served.call('PUT', `${SECRETS}/eagle`, { body: secret });
  expect(await stored()).toMatch(/^k8s:enc:aesgcm:v1:two:/);
  expect(written.data).toEqual(secret.data);
  expect(written.metadata.resourceVersion).not.toBe(secret.metadata.resourceVersion);
  const { json: unchanged } = await served.call('PUT', `${SECRETS}/eagle`, { body: written });
  expect(unchanged.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  const last = await serve('two');
  expect((await last.call('GET', `${SECRETS}/eagle`)).json.data).toEqual(SECRET.data);
});

test('an object without a fitting key is omitted from lists, and a get of it is an error other than 404', async () => {
  await (await serve('one')).call('POST', SECRETS, { body: SECRET });
  const served = await serve('two');
  expect((await served.call('GET', SECRETS)).json.items).toEqual([]);
  for (const query of ['', '?resourceVersion=0']) {
    expect((await served.call('GET', `${SECRETS}/eagle${query}`)).code).toBe(500);
  }
  expect((await served.call('GET', `${SECRETS}/other`)).code).toBe(404);
  const again = await serve('one');
  expect((await again.call('GET', `${SECRETS}/eagle`)).json.data).toEqual(SECRET.data);
});
