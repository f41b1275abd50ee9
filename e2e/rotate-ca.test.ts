import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { EtcdCluster } from '../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import { freePorts } from '../deploy/local/ports';
import { programPath } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import { RESOURCE } from '../shared/api/resource-names';
import type { Client } from '../shared/client/client';
import { createClient } from '../shared/client/client';
import { loadKubeconfig } from '../shared/client/kubeconfig';
import { hasCode } from '../shared/client/status';
import { eventually } from '../shared/testing/eventually';
import { runAdmin } from './support/admin';
import { explained, makeWorkspace, remember } from './support/workspace';

/** Rotates every authority of a running set by `orch-admin certs rotate-ca`, while clients write without a pause. */
const AUTHORITIES = ['serving-ca', 'client-ca', 'front-proxy-ca', 'etcd-ca'] as const;
/** Programs read changed files again within ten seconds. */
const SETTLE_SECONDS = 12;
const PLAN = `
authorities:
${AUTHORITIES.map((name) => `  - { name: ${name}, commonName: ${name}, validDays: 3650 }`).join('\n')}
certificates:
  - { name: serving, authority: serving-ca, commonName: api, hosts: [127.0.0.1], usages: [server], validDays: 90 }
  - { name: admin, authority: client-ca, commonName: admin, organizations: ['kubeadm:cluster-admins'], usages: [client], validDays: 90 }
  - { name: super-admin, authority: client-ca, commonName: super, organizations: ['system:masters'], usages: [client], validDays: 90 }
  - { name: controller-manager, authority: client-ca, commonName: 'system:kube-controller-manager', usages: [client], validDays: 90 }
  - { name: front-proxy-client, authority: front-proxy-ca, commonName: front-proxy-client, usages: [client], validDays: 90 }
  - { name: etcd-server, authority: etcd-ca, commonName: etcd, hosts: [127.0.0.1, localhost], usages: [server, client], validDays: 90 }
  - { name: etcd-client, authority: etcd-ca, commonName: api, usages: [client], validDays: 90 }
tokenKeys: [service-account]
`;

const workspace = makeWorkspace('rotate-ca');
const pki = (bundle: string, file: string): string => path.join(workspace.dir, 'pki', bundle, file);
const inPki = (flag: string, bundle: string, file: string): string => `--${flag}=${pki(bundle, file)}`;
const programs: StartedProcess[] = [];
const clients: Client[] = [];
let etcd: EtcdCluster;
let ports: readonly number[] = [];

async function certs(command: string, ...args: readonly string[]): Promise<{ code: number; stdout: string }> {
  const plan = path.join(workspace.dir, 'plan.yaml');
  writeFileSync(plan, PLAN);
  const dir = path.join(workspace.dir, 'pki');
  return runAdmin('certs', command, `--plan=${plan}`, `--dir=${dir}`, ...args);
}

function kubeconfig(bundle: string, port: number | undefined): string {
  const file = path.join(workspace.dir, `${bundle}-${String(port)}.kubeconfig`);
  const user = { 'client-certificate': pki(bundle, 'tls.crt'), 'client-key': pki(bundle, 'tls.key') };
  const cluster = {
    server: `https://127.0.0.1:${String(port)}`,
    'certificate-authority': pki('serving', 'ca.crt'),
  };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'set', cluster }],
    users: [{ name: 'user', user }],
    contexts: [{ name: 'set', context: { cluster: 'set', user: 'user' } }],
    'current-context': 'set',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

function connect(bundle: string, port: number | undefined): Client {
  const client = createClient(loadKubeconfig({ path: kubeconfig(bundle, port) }).client);
  clients.push(client);
  return client;
}

async function start(name: string, ...args: readonly string[]): Promise<void> {
  programs.push(remember(await startProcess({ name, command: process.execPath, args })));
}

beforeAll(
  explained(async () => {
    expect((await certs('ensure')).code).toBe(0);
    etcd = await startEtcdCluster({
      size: 3,
      tls: {
        caFile: pki('etcd-server', 'ca.crt'),
        certFile: pki('etcd-server', 'tls.crt'),
        keyFile: pki('etcd-server', 'tls.key'),
        clientCertAuth: true,
      },
    });
    ports = await freePorts(2);
    for (const port of ports)
      await start(
        `apiserver-${String(port)}`,
        programPath('apiserver'),
        '--dialect=kubernetes',
        '--bind-address=127.0.0.1',
        `--secure-port=${String(port)}`,
        `--etcd-servers=${etcd.endpoints.join(',')}`,
        inPki('etcd-cafile', 'etcd-client', 'ca.crt'),
        inPki('etcd-certfile', 'etcd-client', 'tls.crt'),
        inPki('etcd-keyfile', 'etcd-client', 'tls.key'),
        inPki('tls-cert-file', 'serving', 'tls.crt'),
        inPki('tls-private-key-file', 'serving', 'tls.key'),
        inPki('client-ca-file', 'client-ca', 'ca.crt'),
        inPki('requestheader-client-ca-file', 'front-proxy-ca', 'ca.crt'),
        '--requestheader-allowed-names=front-proxy-client',
        '--requestheader-username-headers=X-Remote-User',
        '--requestheader-group-headers=X-Remote-Group',
        inPki('service-account-signing-key-file', 'service-account', 'sa.key'),
        inPki('service-account-key-file', 'service-account', 'sa.key'),
        '--authorization-mode=RBAC',
      );
    const superAdmin = connect('super-admin', ports[0]);
    await eventually('the API server is ready', async () => {
      const answer = await superAdmin.request({ method: 'GET', path: '/readyz' }).catch(() => undefined);
      return answer?.code === 200;
    });
    const bound = await runAdmin('bindings', 'ensure', `--kubeconfig=${kubeconfig('super-admin', ports[0])}`);
    expect(bound).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('kubeadm:cluster-admins') as string,
    });
    await start(
      'controller-manager',
      programPath('controller-manager'),
      '--dialect=kubernetes',
      `--kubeconfig=${kubeconfig('controller-manager', ports[1])}`,
      '--use-service-account-credentials=true',
      inPki('root-ca-file', 'serving', 'ca.crt'),
      inPki('service-account-private-key-file', 'service-account', 'sa.key'),
      inPki('cluster-signing-cert-file', 'client-ca', 'tls.crt'),
      inPki('cluster-signing-key-file', 'client-ca', 'tls.key'),
      '--secure-port=0',
    );
  }),
);

afterAll(async () => {
  for (const client of clients) client.close();
  for (const program of programs.toReversed()) await program.stop(10_000);
  await etcd?.stop();
  workspace.remove();
});

/** Certificates of the file, in its order. */
function fingerprints(pem: string): readonly string[] {
  return (pem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/gu) ?? []).map(
    (block) => new X509Certificate(block).fingerprint256,
  );
}

/** A request of an authenticating proxy, on a connection of its own. */
async function requestThroughProxy(port: number | undefined): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: '/api/v1/namespaces',
        agent: false,
        ca: readFileSync(pki('serving', 'ca.crt')),
        cert: readFileSync(pki('front-proxy-client', 'tls.crt')),
        key: readFileSync(pki('front-proxy-client', 'tls.key')),
        headers: { 'X-Remote-User': 'ann', 'X-Remote-Group': 'kubeadm:cluster-admins' },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.once('error', reject);
    sent.end();
  });
}

interface LoadResult {
  readonly sent: number;
  /** Writes whose outcome is unknown because a member of etcd ended meanwhile. */
  readonly cut: number;
  readonly failures: readonly string[];
}

let isRestarting = false;

/** Writes and reads at both API servers until `signal` aborts, on kept and on new connections. Returns the number of requests, and failures. */
async function load(signal: AbortSignal): Promise<LoadResult> {
  const failures: string[] = [];
  let [sent, cut] = [0, 0];
  const count = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    sent++;
    await work().catch((error: unknown) => {
      // As with any restart of etcd, a write that its member had begun may be answered 504.
      if (isRestarting && hasCode(error, 504)) cut++;
      else failures.push(`${what}: ${String(error)}`);
    });
  };
  const runs = ports.map(async (port) => {
    const kept = connect('admin', port);
    const name = `load-${String(port)}`;
    await kept.create(RESOURCE.configmaps, { metadata: { namespace: 'default', name } });
    for (let round = 0; !signal.aborted; round++) {
      const body = { data: { round: String(round) } };
      const patch = { contentType: 'application/merge-patch+json', body };
      await count('write', async () =>
        kept.patch(RESOURCE.configmaps, { namespace: 'default', name }, patch),
      );
      if (round % 5 === 0) {
        await count('a new connection', async () => {
          const fresh = createClient(loadKubeconfig({ path: kubeconfig('admin', port) }).client);
          await fresh.list(RESOURCE.namespaces).finally(() => {
            fresh.close();
          });
        });
        await count('a proxy', async () => {
          const code = await requestThroughProxy(port);
          if (code !== 200) throw new Error(`status ${String(code)}`);
        });
      }
      await delay(20);
    }
  });
  await Promise.all(runs);
  return { sent, cut, failures };
}

/** Authorities are read by etcd at its start only: members restart one after the other. */
async function restartEtcd(): Promise<void> {
  isRestarting = true;
  for (const member of etcd.members) {
    await member.kill('SIGTERM');
    await member.start();
    await member.healthy();
    await etcd.leader();
  }
  isRestarting = false;
}

async function rotate(phase: string): Promise<void> {
  const args = AUTHORITIES.map((name) => `--authority=${name}`);
  await eventually(`the phase ${phase} is complete`, async () => {
    const { code } = await certs(
      'rotate-ca',
      ...args,
      `--phase=${phase}`,
      `--settle=${String(SETTLE_SECONDS)}s`,
    );
    if (code !== 0) await delay(1_000);
    return code === 0;
  });
  if (phase !== 'issue') await restartEtcd();
}

async function publishedRoots(): Promise<readonly string[]> {
  const { data } = await connect('admin', ports[0]).get(RESOURCE.configmaps, {
    namespace: 'default',
    name: 'kube-root-ca.crt',
  });
  return fingerprints(data?.['ca.crt'] ?? '');
}

test(
  'all authorities are rotated under load without a failed request',
  explained(async () => {
    const old = Object.fromEntries(
      AUTHORITIES.map((name) => [name, readFileSync(pki(name, 'tls.crt'), 'utf8')]),
    );
    const isPublished = async (count: number): Promise<void> => {
      await eventually(`pods get ${String(count)} authorities`, async () => {
        const roots = await publishedRoots().catch(() => []);
        return roots.length === count;
      });
    };
    await isPublished(1);
    const controller = new AbortController();
    const loaded = load(controller.signal);
    try {
      await rotate('trust');
      await isPublished(2);
      await rotate('issue');
      await rotate('finish');
      await isPublished(1);
      // The last phase is read by all programs.
      await delay(SETTLE_SECONDS * 1_000);
    } finally {
      controller.abort();
    }
    const { sent, cut, failures } = await loaded;
    process.stderr.write(
      `${String(sent)} requests, ${String(failures.length)} failed, ${String(cut)} cut by etcd\n`,
    );
    expect(failures).toEqual([]);
    expect(sent).toBeGreaterThan(100);
    expect(await publishedRoots()).toEqual(fingerprints(readFileSync(pki('serving-ca', 'tls.crt'), 'utf8')));
    expect(cut).toBeLessThan(sent / 20);
    for (const name of AUTHORITIES) {
      const issuer = new X509Certificate(old[name] ?? '');
      const [certificate] = PLAN.match(new RegExp(`(?<=name: )[a-z-]+(?=, authority: ${name})`, 'u')) ?? [];
      const current = new X509Certificate(readFileSync(pki(certificate ?? '', 'tls.crt')));
      expect([name, current.verify(issuer.publicKey)]).toEqual([name, false]);
    }
  }),
);

test('after the last phase a certificate of the old authority is refused', async () => {
  const before = { cert: readFileSync(pki('admin', 'tls.crt')), key: readFileSync(pki('admin', 'tls.key')) };
  for (const phase of ['trust', 'issue', 'finish']) {
    await eventually(`the phase ${phase} is complete`, async () => {
      const { code } = await certs('rotate-ca', '--authority=client-ca', `--phase=${phase}`, '--settle=0s');
      return code === 0;
    });
  }
  let answered = 0;
  await eventually('the old certificate is refused', async () => {
    const client = createClient({
      server: `https://127.0.0.1:${String(ports[0])}`,
      ca: readFileSync(pki('serving', 'ca.crt')),
      ...before,
    });
    const { code } = await client.request({ method: 'GET', path: '/api/v1/namespaces' });
    client.close();
    answered = code;
    return code === 401;
  });
  expect(answered).toBe(401);
});
