import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import path from 'node:path';
import { freePort, LOOPBACK } from '../deploy/local/ports';
import { repositoryRoot, requireBuilt } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import { RESOURCE } from '../shared/api/resource-names';
import type { ConfigMap, Namespace } from '../shared/api/types/core-v1';
import type { KeyedCertificate } from '../shared/certs/certificate';
import { issueCertificate, makeCa } from '../shared/certs/certificate';
import type { Client } from '../shared/client/client';
import { createClient } from '../shared/client/client';
import { hasCode } from '../shared/client/status';
import { eventually, patience, PATIENCE_MS } from '../shared/testing/eventually';
import { explained, makeWorkspace, remember } from './support/workspace';

/**
 * Starts the programs as the test frameworks do. The command lines are those of controller-runtime's envtest (pkg/internal/testing), of
 * jenvtest, and of Kindcontainer's etcd.
 */

const workspace = makeWorkspace('envtest');
const running: StartedProcess[] = [];
const VALID_DAYS = 7;
const CA = makeCa({ commonName: 'envtest-environment', validDays: VALID_DAYS });
const SERVING = issueCertificate(CA, {
  commonName: 'localhost',
  hosts: ['localhost', LOOPBACK],
  usages: ['server'],
  validDays: VALID_DAYS,
});
const ADMIN = issueCertificate(CA, {
  commonName: 'admin',
  organizations: ['system:masters'],
  usages: ['client'],
  validDays: VALID_DAYS,
});
let assets: string;

beforeAll(() => {
  assets = orch('envtest', `--directory=${path.join(workspace.dir, 'assets')}`);
});
afterAll(async () => {
  await Promise.all(running.map(async (program) => program.stop(0)));
  workspace.remove();
});

function orch(...words: readonly string[]): string {
  const program = requireBuilt(path.join(repositoryRoot, 'dist', 'bin', 'orch.js'));
  return execFileSync(process.execPath, [program, ...words], { encoding: 'utf8' }).trim();
}

async function start(name: string, args: readonly string[], folder = assets): Promise<StartedProcess> {
  const program = await startProcess({ name, command: path.join(folder, name), args });
  running.push(remember(program));
  return program;
}

function writePair(dir: string, name: string, pair: KeyedCertificate): void {
  writeFileSync(path.join(dir, `${name}.crt`), pair.certificatePem);
  writeFileSync(path.join(dir, `${name}.key`), pair.privateKeyPem);
}

interface Plane {
  readonly client: Client;
  readonly etcd: StartedProcess;
  readonly apiServer: StartedProcess;
  restartApiServer(): Promise<StartedProcess>;
}

/** Starts both programs as envtest does: etcd, its `/health`, then the API server and its `/healthz`. */
async function startPlane(name: string): Promise<Plane> {
  const dir = path.join(workspace.dir, name);
  mkdirSync(dir);
  writePair(dir, 'apiserver', SERVING);
  writePair(dir, 'sa-signer', makeCa({ commonName: 'sa', validDays: VALID_DAYS }));
  writeFileSync(path.join(dir, 'client-cert-auth-ca.crt'), CA.certificatePem);
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://${LOOPBACK}:${String(etcdPort)}`;
  const etcd = await start('etcd', [
    `--advertise-client-urls=${etcdUrl}`,
    `--data-dir=${path.join(dir, 'etcd')}`,
    `--listen-client-urls=${etcdUrl}`,
    `--listen-peer-urls=http://${LOOPBACK}:${String(peerPort)}`,
    '--unsafe-no-fsync=true',
  ]);
  await eventually('etcd is healthy', async () => isHealthy(`${etcdUrl}/health`));
  const client = createClient({
    server: `https://${LOOPBACK}:${String(port)}`,
    ca: CA.certificatePem,
    cert: ADMIN.certificatePem,
    key: ADMIN.privateKeyPem,
  });
  const startApiServer = async (): Promise<StartedProcess> => {
    const apiServer = await start('kube-apiserver', [
      '--allow-privileged=true',
      '--authorization-mode=RBAC',
      `--bind-address=${LOOPBACK}`,
      `--cert-dir=${dir}`,
      `--client-ca-file=${path.join(dir, 'client-cert-auth-ca.crt')}`,
      '--disable-admission-plugins=ServiceAccount',
      `--etcd-servers=${etcdUrl}`,
      '--insecure-port=0',
      `--secure-port=${String(port)}`,
      `--service-account-issuer=https://${LOOPBACK}:${String(port)}/`,
      `--service-account-key-file=${path.join(dir, 'sa-signer.crt')}`,
      `--service-account-signing-key-file=${path.join(dir, 'sa-signer.key')}`,
      '--service-cluster-ip-range=10.0.0.0/24',
    ]);
    await eventually('the API server has the default namespace', async () =>
      hasDefaultNamespace(client, apiServer),
    );
    return apiServer;
  };
  return { client, etcd, apiServer: await startApiServer(), restartApiServer: startApiServer };
}

async function isHealthy(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.status === 200,
    () => false,
  );
}

async function hasDefaultNamespace(client: Client, apiServer: StartedProcess): Promise<boolean> {
  if (apiServer.hasExited()) throw new Error(apiServer.recentLines().join('\n'));
  const health = await client.request({ method: 'GET', path: '/healthz' }).catch(() => undefined);
  if (health?.code !== 200) return false;
  await client.get(RESOURCE.namespaces, { name: 'default' });
  return true;
}

function configMap(name: string, owners: object[] = []): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'suite', ownerReferences: owners },
  } as unknown as ConfigMap;
}

async function isGone(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => false,
    (error: unknown) => {
      if (hasCode(error, 404)) return true;
      throw error;
    },
  );
}

test('the help of both programs is that which envtest searches for flags', () => {
  const help = (name: string): string =>
    execFileSync(path.join(assets, name), ['--help'], { encoding: 'utf8' });
  expect(help('etcd')).toMatch(/^\s*--unsafe-no-fsync\b/mu);
  expect(help('kube-apiserver')).toMatch(/^\s*--etcd-servers\b/mu);
  expect(readdirSync(assets).sort()).toEqual(['etcd', 'kube-apiserver', 'kubectl']);
});

test(
  'programs of two frameworks run beside each other, and each API server runs the controllers of its directory alone',
  explained(async () => {
    const [plane, other] = await Promise.all([startPlane('first'), startAsJenvtest()]);
    const { client } = plane;
    const suite = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'suite' } } as Namespace;
    await client.create(RESOURCE.namespaces, suite);
    const owner = await client.create(RESOURCE.configmaps, configMap('owner'));
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid };
    await client.create(RESOURCE.configmaps, configMap('owned', [reference]));
    await client.delete(RESOURCE.configmaps, { namespace: 'suite', name: 'owner' });
    await eventually('the dependent is collected', async () =>
      isGone(client.get(RESOURCE.configmaps, { namespace: 'suite', name: 'owned' })),
    );
    // The other controllers are off: none creates the service account and the root certificate of a namespace.
    expect((await client.list(RESOURCE.serviceaccounts)).items).toEqual([]);
    expect((await client.list(RESOURCE.configmaps, { namespace: 'suite' })).items).toEqual([]);
    await eventually('the service account controller of the other API server works', async () =>
      other.client.get(RESOURCE.serviceaccounts, { namespace: 'default', name: 'default' }).then(
        () => true,
        () => false,
      ),
    );
    await client.delete(RESOURCE.namespaces, { name: 'suite' });
    await eventually('the namespace is gone', async () =>
      isGone(client.get(RESOURCE.namespaces, { name: 'suite' })),
    );

    await client.create(RESOURCE.namespaces, suite);
    await client.create(RESOURCE.configmaps, configMap('kept'));
    expect(await plane.apiServer.stop(PATIENCE_MS)).toEqual({ code: 0, signal: null });
    const restarted = await plane.restartApiServer();
    await client.get(RESOURCE.configmaps, { namespace: 'suite', name: 'kept' });
    for (const program of [restarted, plane.etcd, other.apiServer, other.etcd]) {
      expect(await program.stop(PATIENCE_MS)).toEqual({ code: 0, signal: null });
    }
    client.close();
    other.client.close();
  }),
);

/** Starts both programs at once with the words of jenvtest, out of a directory with all controllers. */
async function startAsJenvtest(): Promise<Omit<Plane, 'restartApiServer'>> {
  const own = orch('envtest', '--controllers=*', `--directory=${path.join(workspace.dir, 'all')}`);
  const dir = path.join(workspace.dir, 'jenvtest');
  mkdirSync(dir);
  writePair(dir, 'key', SERVING);
  writeFileSync(path.join(dir, 'client.crt'), CA.certificatePem);
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const [apiServer, etcd] = await Promise.all([
    start(
      'kube-apiserver',
      [
        ['--cert-dir', path.join(dir, 'certs'), '--secure-port', String(port)],
        ['--etcd-servers', `http://0.0.0.0:${String(etcdPort)}`, '--authorization-mode', 'RBAC'],
        ['--service-account-issuer', 'https://localhost'],
        ['--service-account-signing-key-file', path.join(dir, 'key.key')],
        ['--service-account-signing-key-file', path.join(dir, 'key.key')],
        ['--service-account-key-file', path.join(dir, 'key.key')],
        ['--disable-admission-plugins', 'ServiceAccount'],
        ['--client-ca-file', path.join(dir, 'client.crt')],
        ['--service-cluster-ip-range', '10.0.0.0/24', '--allow-privileged'],
      ].flat(),
      own,
    ),
    start(
      'etcd',
      [
        ['-data-dir', path.join(dir, 'data'), '-wal-dir', path.join(dir, 'wal')],
        ['--listen-client-urls', `http://0.0.0.0:${String(etcdPort)}`],
        ['--advertise-client-urls', `http://0.0.0.0:${String(etcdPort)}`],
        ['--initial-cluster', `default=http://localhost:${String(peerPort)}`],
        ['--initial-advertise-peer-urls', `http://localhost:${String(peerPort)}`],
        ['--listen-peer-urls', `http://localhost:${String(peerPort)}`],
      ].flat(),
      own,
    ),
  ]);
  const client = createClient({
    server: `https://${LOOPBACK}:${String(port)}`,
    insecureSkipTlsVerify: true,
    cert: ADMIN.certificatePem,
    key: ADMIN.privateKeyPem,
  });
  await eventually('the API server of jenvtest has the default namespace', async () =>
    hasDefaultNamespace(client, apiServer),
  );
  return { client, etcd, apiServer };
}

test(
  'etcd answers over TLS with the flags of Kindcontainer, and ends with the process that started it',
  explained(async () => {
    const dir = path.join(workspace.dir, 'kindcontainer');
    mkdirSync(dir);
    writePair(dir, 'server', SERVING);
    writeFileSync(path.join(dir, 'ca.crt'), CA.certificatePem);
    const port = String(await freePort());
    const metricsPort = String(await freePort());
    const at = (name: string): string => path.join(dir, name);
    const shell = spawn(
      '/bin/sh',
      [
        '-c',
        '"$@" & echo $!; wait',
        'sh',
        path.join(assets, 'etcd'),
        [`--advertise-client-urls=https://localhost:${port}`, `--cert-file=${at('server.crt')}`],
        [`--key-file=${at('server.key')}`, `--trusted-ca-file=${at('ca.crt')}`, '--client-cert-auth=true'],
        [`--peer-cert-file=${at('server.crt')}`, `--peer-key-file=${at('server.key')}`],
        [`--peer-trusted-ca-file=${at('ca.crt')}`, '--peer-client-cert-auth=true'],
        [`--data-dir=${at('data')}`, '--initial-advertise-peer-urls=https://localhost:2380'],
        ['--initial-cluster=control-plane=https://localhost:2380', '--name=control-plane'],
        [
          `--listen-client-urls=https://localhost:${port}`,
          `--listen-metrics-urls=http://localhost:${metricsPort}`,
        ],
        ['--listen-peer-urls=https://localhost:2380', '--snapshot-count=10000'],
      ].flat(),
    );
    const pid = Number(String((await once(shell.stdout, 'data', { signal: patience() }))[0]));
    const tls = { ca: CA.certificatePem, cert: ADMIN.certificatePem, key: ADMIN.privateKeyPem };
    await eventually('etcd answers a client with a certificate', async () =>
      answers(`https://localhost:${port}/health`, tls),
    );
    expect(await answers(`https://localhost:${port}/health`, { ca: CA.certificatePem })).toBe(false);
    expect(await isHealthy(`http://localhost:${metricsPort}/health`)).toBe(true);
    shell.kill('SIGKILL');
    await eventually('etcd has ended', () => !isRunning(pid));
  }),
);

async function answers(url: string, tls: object): Promise<boolean> {
  return new Promise((resolve) => {
    httpsGet(url, { ...tls, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    }).on('error', () => resolve(false));
  });
}

/** A process that has ended and that no process has waited for yet counts as ended. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/mu.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}
