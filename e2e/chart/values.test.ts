import { connect } from 'node:net';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as ipaddr from 'ipaddr.js';
import { load } from 'js-yaml';
import { freePort } from '../../deploy/local/ports';
import { repositoryRoot } from '../../deploy/local/repository';
import { startProcess } from '../../deploy/local/started-process';
import { KUBELET_CLIENT_USER } from '../../shared/client/cluster-info';
import { eventually } from '../../shared/testing/eventually';
import type { Body } from '../support/client';
import { CHART, HELMS, rendered } from '../support/helm';
import type { PodTemplate } from '../support/pods';
import { podTemplateOf, sourcesOf } from '../support/pods';
import { makeWorkspace } from '../support/workspace';

/** What single values of the chart change. */
const [, NEWER] = HELMS;
const run = NEWER.program === undefined ? test.skip : test;

async function renderFile(name: string): Promise<readonly Body[]> {
  return rendered(NEWER, ['--values', path.join(CHART, 'ci', name)]);
}

function find(objects: readonly Body[], kind: string, suffix: string): Body {
  const found = objects.find((each) => each.kind === kind && each.metadata?.name?.endsWith(suffix) === true);
  if (found === undefined) throw new Error(`no ${kind} …${suffix}`);
  return found;
}

function podsOf(objects: readonly Body[]): readonly PodTemplate[] {
  return objects.map(podTemplateOf).filter((each): each is PodTemplate => each !== undefined);
}

function argsOf(objects: readonly Body[], kind: string, suffix: string): readonly string[] {
  return podTemplateOf(find(objects, kind, suffix))?.spec.containers[0]?.args ?? [];
}

interface CertificatePlan {
  readonly certificates: readonly {
    readonly name: string;
    readonly organizations?: readonly string[];
    readonly hosts?: readonly string[];
  }[];
}

function planOf(objects: readonly Body[]): CertificatePlan {
  const plan = find(objects, 'ConfigMap', '-certificate-plan');
  return load(plan.data?.['plan.yaml'] ?? '') as CertificatePlan;
}

function servingHosts(objects: readonly Body[]): readonly string[] {
  return planOf(objects).certificates.find(({ name }) => name.endsWith('-serving'))?.hosts ?? [];
}

run('no certificate but that for emergencies is a superuser, in the chart and in compose', async () => {
  const compose = load(
    readFileSync(path.join(repositoryRoot, 'deploy', 'compose', 'certificates.yaml'), 'utf8'),
  ) as CertificatePlan;
  for (const { certificates } of [planOf(await rendered(NEWER, [])), compose]) {
    const superusers = certificates.filter(({ organizations = [] }) =>
      organizations.includes('system:masters'),
    );
    expect(superusers.map(({ name }) => name.replace('demo-orch-', ''))).toEqual(['super-admin']);
  }
  const objects = await rendered(NEWER, ['--set', 'certificates.mode=certManager']);
  const spec = find(objects, 'Certificate', '-kubelet-client').spec;
  expect(spec).toMatchObject({ commonName: KUBELET_CLIENT_USER });
  expect(spec).not.toHaveProperty('subject');
});

describe('both families of addresses', () => {
  run.each([
    ['10.0.0.0/24', ['10.0.0.1']],
    ['10.0.0.77/24', ['10.0.0.1']],
    ['172.16.255.255/12', ['172.16.0.1']],
    ['fd00::/112', ['fd00::1']],
    ['fd00:10:96::/108', ['fd00:10:96::1']],
    ['FD00:ABCD::1234/110', ['fd00:abcd::1']],
    ['::/64', ['::1']],
    ['2001:db8:1:2:3:4:5:ff0f/120', ['2001:db8:1:2:3:4:5:ff01']],
    ['10.96.0.0/16,fd00:10:96::/112', ['10.96.0.1', 'fd00:10:96::1']],
    ['fd00::f:0/112,192.168.4.0/22', ['fd00::f:1', '192.168.4.1']],
  ])('the serving certificate has the first addresses of %s', async (ranges, addresses) => {
    const escaped = ranges.replaceAll(',', '\\,');
    const hosts = servingHosts(
      await rendered(NEWER, ['--set', `apiserver.serviceClusterIpRange=${escaped}`]),
    );
    const own = hosts.filter((host) => ipaddr.isValid(host)).map((host) => ipaddr.parse(host).toString());
    expect(new Set(own)).toEqual(new Set(['127.0.0.1', '::1', ...addresses]));
  });

  run.each(readdirSync(path.join(CHART, 'ci')))('%s: no URL needs a pod address to be IPv4', async (name) => {
    const words = podsOf(await renderFile(name)).flatMap(({ spec }) =>
      spec.containers.flatMap(({ args = [] }) => args),
    );
    expect(words.filter((word) => /\/\/\$\(POD_IP\)/u.test(word))).toEqual([]);
  });

  run('the Service of the API servers has the families of the values', async () => {
    expect(find(await renderFile('ipv6-values.yaml'), 'Service', '-apiserver').spec).toMatchObject({
      ipFamilyPolicy: 'SingleStack',
      ipFamilies: ['IPv6'],
    });
    expect(find(await renderFile('dual-stack-values.yaml'), 'Service', '-apiserver').spec).toMatchObject({
      ipFamilyPolicy: 'PreferDualStack',
      ipFamilies: ['IPv4', 'IPv6'],
    });
  });

  run('etcd with the listening address of the chart answers at addresses of both families', async () => {
    const flags = argsOf(await rendered(NEWER, []), 'StatefulSet', '-etcd');
    const [, address = ''] =
      /^--listen-client-urls=https:\/\/(.*):2379$/u.exec(
        flags.find((flag) => flag.startsWith('--listen-client-urls=')) ?? '',
      ) ?? [];
    const workspace = makeWorkspace('chart-etcd');
    const [client, peer] = [await freePort(), await freePort()];
    const etcd = await startProcess({
      name: 'etcd',
      command: 'etcd',
      args: [
        `--data-dir=${path.join(workspace.dir, 'data')}`,
        `--listen-client-urls=http://${address}:${String(client)}`,
        `--advertise-client-urls=http://localhost:${String(client)}`,
        `--listen-peer-urls=http://${address}:${String(peer)}`,
        `--initial-advertise-peer-urls=http://localhost:${String(peer)}`,
        `--initial-cluster=default=http://localhost:${String(peer)}`,
      ],
    });
    try {
      for (const host of ['127.0.0.1', '::1'])
        for (const port of [client, peer])
          await eventually(`etcd answers at ${host}`, async () => connects(host, port));
    } finally {
      await etcd.stop(0);
      workspace.remove();
    }
  });
});

async function connects(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe('encryption at rest', () => {
  run.each([
    ['generated', 'generated', ['-encryption']],
    ['certManager', 'generated', ['-encryption']],
    ['existing', 'existing', []],
  ])('is on by default with certificates.mode=%s (%s)', async (mode, _key, made) => {
    const objects = await rendered(NEWER, ['--set', `certificates.mode=${mode}`]);
    expect(argsOf(objects, 'Deployment', '-apiserver')).toContain(
      '--encryption-provider-config=/etc/orch/encryption/encrypt.yaml',
    );
    const plan = objects.find((each) => each.metadata?.name?.endsWith('-certificate-plan') === true);
    const { encryptionKeys = [] } = load(plan?.data?.['plan.yaml'] ?? '{}') as {
      readonly encryptionKeys?: readonly { readonly name: string }[];
    };
    expect(encryptionKeys.map(({ name }) => name)).toEqual(made.map((suffix) => `demo-orch${suffix}`));
  });

  run(
    'with cert-manager, the Job makes the key and the password, and has a right to nothing else',
    async () => {
      const objects = await rendered(NEWER, ['--set', 'certificates.mode=certManager,redis.mode=chart']);
      const role = find(objects, 'Role', '-certificates') as unknown as { readonly rules: readonly object[] };
      expect(role.rules).toEqual([
        { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
        {
          apiGroups: [''],
          resources: ['secrets'],
          resourceNames: ['demo-orch-encryption', 'demo-orch-redis-password', 'demo-orch-record'],
          verbs: ['get', 'update'],
        },
      ]);
      expect(objects.some(({ kind }) => kind === 'CronJob')).toBe(false);
    },
  );
});

run('the README lists every Secret that certificates.mode=existing needs', async () => {
  const values = ['--set', 'certificates.mode=existing,redis.mode=chart'];
  const objects = await rendered(NEWER, values);
  const mounted = podsOf(objects).flatMap(({ spec }) => (spec.volumes ?? []).flatMap(sourcesOf));
  const used = mounted.flatMap(({ secret }) => secret?.secretName ?? secret?.name ?? []);
  expect(used.length).toBeGreaterThan(10);
  const readme = readFileSync(path.join(CHART, 'README.md'), 'utf8');
  const [, list = ''] = /With `existing` you make the Secrets(.*?)\n/su.exec(readme) ?? [];
  const unlisted = [...new Set([...used, 'demo-orch-redis-password', 'demo-orch-monitoring'])]
    .map((name) => name.replace('demo-orch', ''))
    .filter((suffix) => !list.includes(`${suffix}\``));
  expect(unlisted).toEqual([]);
});

run('overrides reach objects, pods and containers, and add objects', async () => {
  const objects = await renderFile('overrides-values.yaml');
  const own = objects.filter(({ metadata }) => metadata?.labels?.['app.kubernetes.io/part-of'] === 'orch');
  expect(own.length).toBeGreaterThan(20);
  for (const { metadata } of own)
    expect(metadata?.annotations).toMatchObject({ 'example.com/owner': 'platform' });
  expect(find(objects, 'Deployment', '-apiserver').metadata?.annotations).toEqual({
    'example.com/owner': 'platform',
    'reloader.example.com/auto': 'true',
  });
  const specOf = (kind: string, suffix: string): Readonly<Record<string, unknown>> =>
    podTemplateOf(find(objects, kind, suffix))?.spec as unknown as Readonly<Record<string, unknown>>;
  expect(specOf('Deployment', '-apiserver')).toMatchObject({
    affinity: { nodeAffinity: expect.anything() },
    topologySpreadConstraints: [{ topologyKey: 'rack' }],
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ securityContext: { runAsNonRoot: true, readOnlyRootFilesystem: true } }],
  });
  expect(specOf('Deployment', '-apiserver')['affinity']).not.toHaveProperty('podAntiAffinity');
  expect(specOf('Deployment', '-apiserver')['securityContext']).not.toHaveProperty('runAsUser');
  expect(specOf('StatefulSet', '-etcd')).toMatchObject({
    securityContext: { fsGroup: 2000 },
    containers: [{ securityContext: { readOnlyRootFilesystem: false, capabilities: { drop: ['ALL'] } } }],
  });
  for (const [kind, suffix] of [
    ['CronJob', '-certificates'],
    ['Pod', '-smoke'],
  ] as const)
    expect(specOf(kind, suffix)).toMatchObject({
      nodeSelector: { pool: 'control' },
      tolerations: [{ operator: 'Exists' }],
    });
  expect(objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata?.name)).toEqual(
    expect.arrayContaining(['extra-object', 'demo-orch-text']),
  );
});

run('values for OpenID Connect and webhooks become flags and files', async () => {
  const objects = await renderFile('identity-values.yaml');
  expect(argsOf(objects, 'Deployment', '-apiserver')).toEqual(
    expect.arrayContaining([
      '--authorization-mode=RBAC,Webhook',
      '--authorization-webhook-config-file=/etc/orch/authorization-webhook/kubeconfig',
      '--authorization-webhook-version=v1',
      '--authorization-webhook-cache-authorized-ttl=1m',
      '--authentication-token-webhook-config-file=/etc/orch/authentication-webhook/kubeconfig',
      '--oidc-issuer-url=https://id.example.com',
      '--oidc-client-id=orch',
      '--oidc-username-claim=email',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=id:',
      '--oidc-required-claim=hd=example.com',
      '--oidc-signing-algs=RS256,ES256',
      '--oidc-ca-file=/etc/orch/oidc/ca.crt',
    ]),
  );
  const { spec } = podTemplateOf(find(objects, 'Deployment', '-apiserver')) as PodTemplate;
  const secrets = new Map((spec.volumes ?? []).map(({ name, secret }) => [name, secret?.secretName]));
  const mounts = (spec.containers[0]?.volumeMounts ?? []).map(
    ({ name, mountPath }) => `${mountPath} ${String(secrets.get(name))}`,
  );
  expect(mounts).toEqual(
    expect.arrayContaining([
      '/etc/orch/authorization-webhook access-webhook',
      '/etc/orch/authentication-webhook token-webhook',
      '/etc/orch/oidc id-authority',
    ]),
  );
});
