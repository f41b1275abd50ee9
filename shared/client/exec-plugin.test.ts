import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureServingCertificate } from '../certs/serving-certificate';
import { StatusError } from '../errors/status-error';
import { silentLog } from '../log/log';
import { GROUP } from '../names';
import { createClient } from './client';
import { createExecCredentials } from './exec-credentials';
import type { ExecCredential, ExecPlugin } from './exec-plugin';
import { EXEC_CREDENTIAL, runExecPlugin } from './exec-plugin';
import { loadKubeconfig } from './kubeconfig';
import { createFakeApiServer } from './testing/fake-api-server';

const [V1BETA1 = '', V1ALPHA1 = ''] = EXEC_CREDENTIAL.apiVersions;
const NAMESPACES = { group: GROUP.core, version: 'v1', resource: 'namespaces' };

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'exec-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

function plugin(script: string, over: Partial<ExecPlugin> = {}): ExecPlugin {
  return {
    command: '/bin/sh',
    args: ['-c', script],
    env: {},
    apiVersion: V1BETA1,
    installHint: '',
    interactiveMode: 'Never',
    ...over,
  };
}

const answer = (status: object | undefined, apiVersion = V1BETA1): string =>
  `echo '${JSON.stringify({ kind: 'ExecCredential', apiVersion, status })}'`;

test.each([
  ['client.authentication.orch/v1alpha1', 'ORCH_EXEC_INFO'],
  ['client.authentication.orch/v1beta1', 'ORCH_EXEC_INFO'],
  ['client.authentication.k8s.io/v1alpha1', 'KUBERNETES_EXEC_INFO'],
  ['client.authentication.k8s.io/v1beta1', 'KUBERNETES_EXEC_INFO'],
])('a plugin of %s gets its input in %s and returns a token', async (apiVersion, variable) => {
  const script = `printenv ${variable} > ${dir}/info; echo "$OWN" > ${dir}/own; ${answer({ token: 't' }, apiVersion)}`;
  const cluster = { server: 'https://a' };
  const credential = await runExecPlugin(plugin(script, { apiVersion, cluster, env: { OWN: 'mine' } }));
  expect(credential).toEqual({ token: 't', expiresAtMs: Infinity });
  expect(JSON.parse(readFileSync(path.join(dir, 'info'), 'utf8'))).toEqual({
    kind: 'ExecCredential',
    apiVersion,
    spec: { cluster, interactive: false },
  });
  expect(readFileSync(path.join(dir, 'own'), 'utf8')).toBe('mine\n');
});

test('a certificate has its key and its expiration', async () => {
  const status = {
    clientCertificateData: 'C',
    clientKeyData: 'K',
    expirationTimestamp: '2030-01-01T00:00:00Z',
  };
  expect(await runExecPlugin(plugin(answer(status)))).toEqual({
    token: '',
    cert: 'C',
    key: 'K',
    expiresAtMs: Date.UTC(2030, 0, 1),
  });
});

test.each<readonly [string, ExecPlugin, string]>([
  [
    'is not there',
    plugin('', { command: '/no/such', installHint: 'install it' }),
    'exec: executable /no/such not found\n\ninstall it',
  ],
  ['fails', plugin('exit 3'), 'exec: executable /bin/sh failed with exit code 3'],
  ['talks', plugin('echo hello'), 'exec: decoding stdout: it is no JSON'],
  [
    'answers in another version',
    plugin(answer({ token: 't' }, V1ALPHA1)),
    `exec plugin is configured to use API version ${V1BETA1}, plugin returned version ${V1ALPHA1}`,
  ],
  ['has no status', plugin(answer(undefined)), "exec plugin didn't return a status field"],
  ['gives nothing', plugin(answer({})), "exec plugin didn't return a token or cert/key pair"],
  [
    'gives half a certificate',
    plugin(answer({ clientCertificateData: 'C' })),
    'exec plugin returned only certificate or key, not both',
  ],
  ['writes without end', plugin('yes'), 'exec: executable /bin/sh wrote too much'],
])('a plugin that %s is reported', async (_what, broken, message) => {
  await expect(runExecPlugin(broken)).rejects.toThrow(message);
});

describe('credentials', () => {
  test('are shared by concurrent callers, and renewed after expiry or refusal', async () => {
    let now = 0;
    let runs = 0;
    const run = async (): Promise<ExecCredential> => {
      runs += 1;
      return Promise.resolve({ token: String(runs), expiresAtMs: now + 100 });
    };
    const credentials = createExecCredentials(run, { now: () => now });
    const [first, second] = await Promise.all([credentials.current(), credentials.current()]);
    expect([first, second, runs]).toEqual([first, first, 1]);
    now = 100;
    expect((await credentials.current()).token).toBe('2');
    if (first !== undefined) credentials.refused(first);
    expect((await credentials.current()).token).toBe('2');
    credentials.refused(await credentials.current());
    expect((await credentials.current()).token).toBe('3');
  });

  test('are requested again after a plugin has failed', async () => {
    let problem: Error | undefined = new Error('not now');
    const credentials = createExecCredentials(async () =>
      problem === undefined
        ? Promise.resolve({ token: 't', expiresAtMs: Infinity })
        : Promise.reject(problem),
    );
    await expect(credentials.current()).rejects.toThrow('not now');
    problem = undefined;
    expect((await credentials.current()).token).toBe('t');
  });
});

function kubeconfig(server: string, script: string, cluster: object = {}): string {
  const exec = {
    command: './plugin',
    apiVersion: V1BETA1,
    provideClusterInfo: true,
    interactiveMode: 'Never',
    env: [{ name: 'FOLDER', value: dir }],
  };
  writeFileSync(path.join(dir, 'plugin'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const file = path.join(dir, 'config');
  writeFileSync(
    file,
    JSON.stringify({
      'current-context': 'main',
      contexts: [{ name: 'main', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server, ...cluster } }],
      users: [{ name: 'u', user: { exec } }],
    }),
  );
  return file;
}

/** The token is the number of the run. */
const COUNTING = `echo x >> $FOLDER/runs; n=$(wc -l < $FOLDER/runs); echo '{"kind":"ExecCredential","apiVersion":"${V1BETA1}","status":{"token":"t'$n'"}}'`;

test('a client runs the plugin of its kubeconfig, shares what it gave, and runs it again after a 401', async () => {
  const server = await createFakeApiServer();
  const client = createClient(loadKubeconfig({ path: kubeconfig(server.url, COUNTING) }).client);
  const bearers = (): unknown[] => server.seen.map(({ headers }) => headers.authorization);
  await Promise.all([client.list(NAMESPACES), client.list(NAMESPACES)]);
  expect(bearers()).toEqual(['Bearer t1', 'Bearer t1']);
  server.fault = ({ headers }) =>
    headers.authorization === 'Bearer t1' ? new StatusError('Unauthorized', 'no') : undefined;
  await expect(client.list(NAMESPACES)).rejects.toThrow('no');
  await client.list(NAMESPACES);
  expect(bearers().slice(2)).toEqual(['Bearer t1', 'Bearer t2']);
  client.close();
  await server.close();
});

test('a failing plugin is reported like an unreachable server, and the next request retries', async () => {
  const server = await createFakeApiServer();
  const script = `[ -e $FOLDER/there ] || exit 1; ${COUNTING}`;
  const client = createClient(loadKubeconfig({ path: kubeconfig(server.url, script) }).client);
  await expect(client.list(NAMESPACES)).rejects.toThrow('getting credentials: exec: executable');
  writeFileSync(path.join(dir, 'there'), '');
  await client.list(NAMESPACES);
  expect(server.seen).toHaveLength(1);
  client.close();
  await server.close();
});

test('another certificate uses another connection', async () => {
  const log = silentLog;
  const [one, two, serving] = ['one', 'two', 'serving'].map((name) => {
    const { certFile, keyFile } = ensureServingCertificate({ dir: path.join(dir, name), hosts: [name], log });
    return { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  });
  for (const [name, pair] of [
    ['one', one],
    ['two', two],
  ] as const) {
    const status = {
      clientCertificateData: pair?.cert,
      clientKeyData: pair?.key,
      expirationTimestamp: name === 'one' ? '2001-01-01T00:00:00Z' : undefined,
    };
    writeFileSync(
      path.join(dir, `${name}.json`),
      JSON.stringify({ kind: 'ExecCredential', apiVersion: V1BETA1, status }),
    );
  }
  const shown: string[] = [];
  const options = { ...serving, requestCert: true, rejectUnauthorized: false };
  const server = createTlsServer(options, ({ socket }, response) => {
    shown.push((socket as TLSSocket).getPeerX509Certificate()?.toString() ?? '');
    response.end('{"items":[]}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const script =
    'if [ -e $FOLDER/ran ]; then cat $FOLDER/two.json; else touch $FOLDER/ran; cat $FOLDER/one.json; fi';
  const file = kubeconfig(url, script, { 'insecure-skip-tls-verify': true });
  const client = createClient(loadKubeconfig({ path: file }).client);
  for (let call = 0; call < 3; call += 1) await client.getJson('/');
  const firstOf = (text = ''): string => text.slice(0, text.indexOf('-----END')).trim();
  expect(shown.map(firstOf)).toEqual([one, two, two].map((pair) => firstOf(pair?.cert)));
  client.close();
  await new Promise((resolve) => void server.close(resolve));
});
