import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';
import { repositoryRoot } from '../../deploy/local/repository';
import type { Body } from '../support/client';
import type { HelmResult } from '../support/helm';
import { CHART, HELMS, IMAGE, RELEASE_NAMESPACE, rendered, runHelm } from '../support/helm';
import type { PodTemplate } from '../support/pods';
import { podTemplateOf, sourcesOf } from '../support/pods';
import { unknownFlags } from '../support/program-flags';
import { suiteLocalServer } from '../support/suite';
import { makeWorkspace } from '../support/workspace';

const [OLD, NEWER] = HELMS;
const run = NEWER.program === undefined ? test.skip : test;
const CI = path.join(CHART, 'ci');
const FILES = readdirSync(CI).toSorted();
const NONE = 'the defaults';
const CASES = [NONE, ...FILES];
const CASES_MIN = 9;

/** The Secrets of a set of values that users make. */
const SECRETS_OF_USERS: Readonly<Record<string, readonly string[]>> = {
  'backup-s3-values.yaml': ['bucket'],
  'everything-values.yaml': ['webhook'],
  'existing-secrets-values.yaml': [
    'my-serving',
    'my-clients',
    'demo-orch-admin',
    'demo-orch-controller-manager',
    'demo-orch-encryption',
    'demo-orch-etcd-client',
    'demo-orch-etcd-server',
    'demo-orch-front-proxy-ca',
    'demo-orch-front-proxy-client',
    'demo-orch-kubelet-client',
    'demo-orch-service-account',
  ],
  'external-etcd-values.yaml': ['demo-orch-etcd-client'],
  'identity-values.yaml': ['token-webhook', 'access-webhook', 'id-authority'],
  'own-keys-values.yaml': ['demo-orch-encryption', 'shared-redis'],
};

/** Kinds of other projects. They are served without a schema, so that only their path and metadata are checked. */
const FOREIGN: readonly (readonly [group: string, kind: string, plural: string])[] = [
  ['monitoring.coreos.com', 'ServiceMonitor', 'servicemonitors'],
  ['monitoring.coreos.com', 'PrometheusRule', 'prometheusrules'],
  ['cert-manager.io', 'Issuer', 'issuers'],
  ['cert-manager.io', 'Certificate', 'certificates'],
];

function valuesOf(name: string): readonly string[] {
  return name === NONE ? IMAGE : ['--values', path.join(CI, name)];
}

const renderings = new Map<string, Promise<readonly Body[]>>();

/** Renders the chart with the newer helm; each set of values is rendered once. */
async function renderingOf(name: string): Promise<readonly Body[]> {
  const known = renderings.get(name) ?? rendered(NEWER, valuesOf(name));
  renderings.set(name, known);
  return known;
}

test('the chart has enough sets of values to test', () => {
  expect(CASES.length).toBeGreaterThanOrEqual(CASES_MIN);
});

run.each(CASES)('helm lints %s strictly', async (name) => {
  const { exitCode, stdout, stderr } = await runHelm(NEWER, ['lint', '--strict', CHART, ...valuesOf(name)]);
  expect({ exitCode, failures: `${stdout}${stderr}`.match(/\[(?:WARNING|ERROR)\].*/gu) }).toEqual({
    exitCode: 0,
    failures: null,
  });
});

(OLD.program === undefined ? test.skip : run).each(CASES)(
  'helm 3.6 and 3.10 render %s alike',
  async (name) => {
    expect(await rendered(OLD, valuesOf(name))).toEqual(await renderingOf(name));
  },
);

run.each([
  ['a misspelt value', ['--set', 'apiserver.replicaz=3'], /replicaz/],
  ['a misspelt group', ['--set', 'apiServer.replicas=3'], /apiServer/],
  ['a misspelt value deep inside', ['--set', 'etcd.storage.sise=1Gi'], /sise/],
  ['a word for a number', ['--set', 'apiserver.replicas=three'], /replicas/],
  ['an even number of members', ['--set', 'etcd.members=2'], /members/],
  ['a dialect that does not exist', ['--set', 'dialect=klingon'], /dialect/],
  ['a tag in place of a digest', ['--set', 'image.digest=latest'], /digest/],
  ['no etcd at all', ['--set', 'etcd.enabled=false'], /etcd\.external\.endpoints must name an etcd/],
  [
    'a key without a source',
    ['--set', 'encryption.mode=generated,certificates.mode=existing'],
    /encryption\.mode generated needs certificates\.mode generated or certManager/,
  ],
  ['a Redis without a Secret', ['--set', 'redis.mode=external'], /redis\.external\.secretName is required/],
  [
    'a type of addresses that nodes do not have',
    ['--set', 'apiserver.kubelet.preferredAddressTypes={Street}'],
    /preferredAddressTypes/,
  ],
  [
    'a backup without a bucket',
    ['--set', 'backup.enabled=true,backup.target.type=s3'],
    /s3\.bucket is required/,
  ],
  [
    'autoscaling to fewer replicas than the least number',
    ['--set', 'apiserver.autoscaling.enabled=true,apiserver.autoscaling.minReplicas=7'],
    /minReplicas \(7\) must not be above maxReplicas/,
  ],
  [
    'a range of node ports that ends before it begins',
    ['--set', 'apiserver.serviceNodePortRange=32767-30000'],
    /serviceNodePortRange/,
  ],
  [
    'two Service networks of one family',
    ['--set', 'apiserver.serviceClusterIpRange=10.0.0.0/24\\,10.1.0.0/24'],
    /networks of different families/,
  ],
  ['no image', ['--set', 'image.repository='], /image\.repository is required: build the image/],
  [
    'an issuer without an audience',
    ['--set', 'apiserver.oidc.issuerUrl=https://id.example.com'],
    /oidc\.clientId is required/,
  ],
  ['nodes without an address to join', ['--set', 'nodes.enabled=true'], /clusterInfo\.server is required/],
  ['an Ingress without a host', ['--set', 'apiserver.ingress.enabled=true'], /ingress\.host is required/],
  ['an unreadable amount of memory', ['--set', 'apiserver.resources.limits.memory=1e9'], /memory/],
])('%s is refused', async (_what, args, why) => {
  const { exitCode, stderr } = await runHelm(NEWER, ['template', 'demo', CHART, ...IMAGE, ...args]);
  expect(exitCode).not.toBe(0);
  expect(stderr).toMatch(why);
});

run('the schema has exactly the properties of values.yaml', () => {
  const values = load(readFileSync(path.join(CHART, 'values.yaml'), 'utf8'));
  const schema: unknown = JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8'));
  expect(leavesOfSchema(schema).toSorted()).toEqual(leavesOfValues(values, schema).toSorted());
});

test('the README of the chart has a row for every value', () => {
  const generator = path.join(repositoryRoot, 'deploy', 'local', 'chart-readme.mjs');
  expect(execFileSync(process.execPath, [generator, '--check'], { encoding: 'utf8' })).toBe('');
});

describe.each(CASES)('%s:', (name) => {
  const objects = async (): Promise<readonly Body[]> => renderingOf(name);

  run('every flag exists in its program', async () => {
    const containers = (await podsOf(objects())).flatMap(({ spec }) => spec.containers);
    const unknown = containers.flatMap(({ args = [] }) => unknownFlags(args));
    expect(unknown).toEqual(name === 'everything-values.yaml' ? ['max'] : []);
  });

  run('every Secret and ConfigMap that a pod uses is made, and users make none in vain', async () => {
    const all = await objects();
    const specs = (await podsOf(objects())).map(({ spec }) => spec);
    const sources = specs.flatMap(({ volumes = [] }) => volumes.flatMap(sourcesOf));
    const used = new Set([
      ...sources.flatMap(({ secret }) => secret?.secretName ?? secret?.name ?? []),
      ...specs.flatMap(({ containers }) =>
        containers.flatMap(({ env = [] }) => env.flatMap((each) => each.valueFrom?.secretKeyRef?.name ?? [])),
      ),
    ]);
    expect([...used].filter((each) => !madeSecrets(all, name).includes(each))).toEqual([]);
    expect((SECRETS_OF_USERS[name] ?? []).filter((each) => !used.has(each))).toEqual([]);
    const maps = sources.flatMap(({ configMap }) => configMap?.name ?? []);
    expect(maps.filter((each) => !namesOf(all, 'ConfigMap').includes(each))).toEqual([]);
    const loose = specs.flatMap(({ containers, volumes = [] }) =>
      containers.flatMap(({ volumeMounts = [] }) =>
        volumeMounts.filter((mount) => !volumes.some((volume) => volume.name === mount.name)),
      ),
    );
    // The data of etcd is a volume claim.
    expect(loose.filter((mount) => mount.name !== 'data')).toEqual([]);
  });

  run('selectors match their pods, and Services match the ports', async () => {
    const all = await objects();
    const pods = await podsOf(objects());
    const lost = all.flatMap((each) => {
      const selector = selectorOf(each);
      if (selector === undefined) return [];
      const found = pods.filter(({ metadata }) =>
        Object.entries(selector).every(([key, value]) => metadata?.labels?.[key] === value),
      );
      const ports =
        each.kind === 'Service' ? (each.spec?.['ports'] as readonly { targetPort: string }[]) : [];
      const offered = found.flatMap(({ spec }) =>
        spec.containers.flatMap((container) => container.ports ?? []),
      );
      const isServed = ports.every(({ targetPort }) => offered.some((port) => port.name === targetPort));
      return found.length > 0 && isServed ? [] : [`${String(each.kind)} ${String(each.metadata?.name)}`];
    });
    expect(lost).toEqual([]);
  });
});

run.each(CASES.filter((name) => name !== 'overrides-values.yaml'))(
  '%s: no pod runs as root, writes to its root filesystem, or may escalate its privileges',
  async (name) => {
    for (const { spec } of await podsOf(renderingOf(name))) {
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext } of spec.containers)
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  },
);

run.each([
  ['2', '1536Mi', ['--v8-pool-size=1', '--max-old-space-size=768']],
  ['500m', '512Mi', ['--v8-pool-size=1', '--max-old-space-size=256']],
  ['3.5', '4G', ['--v8-pool-size=3', '--max-old-space-size=1907']],
  ['16', '8Gi', ['--v8-pool-size=4', '--max-old-space-size=4096']],
])('flags of Node follow from limits of %s cores and %s', async (cpu, memory, flags) => {
  const limits = [
    '--set-string',
    `apiserver.resources.limits.cpu=${cpu},apiserver.resources.limits.memory=${memory}`,
  ];
  const objects = await rendered(NEWER, limits);
  const server = objects.find(
    (each) => each.kind === 'Deployment' && each.metadata?.name?.endsWith('-apiserver') === true,
  );
  const args = podTemplateOf(server ?? {})?.spec.containers[0]?.args ?? [];
  expect(args.slice(0, 3)).toEqual(['--max-semi-space-size=8', ...flags]);
});

run('the longest graceful shutdown of a replica fits into its grace period', async () => {
  const objects = await rendered(NEWER, ['--set', 'apiserver.shutdownDelaySeconds=33']);
  const server = objects.find(
    (each) => each.metadata?.name?.endsWith('-apiserver') && each.kind === 'Deployment',
  );
  const { spec } = podTemplateOf(server ?? {}) ?? {};
  expect(spec?.containers[0]?.args).toContain('--shutdown-delay-duration=33s');
  expect(spec?.terminationGracePeriodSeconds).toBe(73);
});

/** The arguments of the container of a Deployment of the chart. */
async function argsOf(suffix: string, ...values: readonly string[]): Promise<readonly string[]> {
  const objects = await rendered(NEWER, values);
  const found = objects.find(
    (each) => each.kind === 'Deployment' && each.metadata?.name?.endsWith(suffix) === true,
  );
  return podTemplateOf(found ?? {})?.spec.containers[0]?.args ?? [];
}

run('an encryption key is used for reading first, then for writing, and the Job makes it once', async () => {
  const reading = ['--set', 'encryption.mode=generated,encryption.write=false'];
  const writing: readonly string[] = [];
  expect(await argsOf('-apiserver', '--set', 'encryption.mode=none')).not.toContainEqual(
    expect.stringContaining('encryption'),
  );
  expect(await argsOf('-apiserver', ...reading)).toContain(
    '--encryption-provider-config=/etc/orch/encryption/decrypt.yaml',
  );
  expect(await argsOf('-apiserver', ...writing)).toContain(
    '--encryption-provider-config=/etc/orch/encryption/encrypt.yaml',
  );
  const roles = (await rendered(NEWER, writing)).filter((each) => each.kind === 'Role');
  expect(JSON.stringify(roles)).toContain('"demo-orch-encryption"');
});

run('backups reach etcd, and the Jobs of a restore write each its own volume', async () => {
  const objects = await renderingOf('backup-values.yaml');
  const cron = objects.find(
    ({ kind, metadata }) => kind === 'CronJob' && metadata?.name === 'demo-orch-backup',
  );
  const template = podTemplateOf(cron ?? {});
  expect(template?.spec.containers[0]?.args).toEqual(
    expect.arrayContaining(['backup', '--retention=14', '--target=/backups']),
  );
  const policy = objects.find(
    ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata?.name === 'demo-orch-etcd',
  );
  for (const component of ['backup', 'restore'])
    expect(JSON.stringify(policy)).toContain(`"app.kubernetes.io/component":"${component}"`);
  const restores = objects.filter(
    ({ kind, metadata }) => kind === 'Job' && metadata?.name?.includes('-restore-') === true,
  );
  expect(restores.map((each) => JSON.stringify(each).match(/data-demo-orch-etcd-\d/u)?.[0])).toEqual(
    [0, 1, 2].map((index) => `data-demo-orch-etcd-${String(index)}`),
  );
  const etcd = objects.find(({ kind }) => kind === 'StatefulSet');
  const flagOf = (args: readonly string[] = [], flag = ''): string | undefined =>
    args.find((each) => each.startsWith(flag));
  for (const flag of ['--initial-cluster=', '--initial-cluster-token='])
    expect(flagOf(podTemplateOf(restores[0] ?? {})?.spec.containers[0]?.args, flag)).toBe(
      flagOf(podTemplateOf(etcd ?? {})?.spec.containers[0]?.args, flag),
    );
});

run('the CronJob only renews, and the record of authorities can be written', async () => {
  const objects = await rendered(NEWER, []);
  const argsOfKind = (kind: string): readonly string[] =>
    objects
      .filter((each) => each.kind === kind && each.metadata?.name?.includes('-certificates') === true)
      .flatMap((each) => podTemplateOf(each)?.spec.containers[0]?.args ?? []);
  expect(argsOfKind('CronJob')).toContain('--renew-only');
  expect(argsOfKind('Job')).toContain('ensure');
  expect(argsOfKind('Job')).not.toContain('--renew-only');
  const roles = objects.filter((each) => each.kind === 'Role');
  expect(JSON.stringify(roles)).toContain('"demo-orch-record"');
});

run(
  'API servers authenticate to node agents and extension API servers, and Redis gets a password',
  async () => {
    const words = await argsOf('-apiserver', '--set', 'redis.mode=chart');
    expect(words).toEqual(
      expect.arrayContaining([
        '--proxy-client-cert-file=/etc/orch/front-proxy-client/tls.crt',
        '--kubelet-client-certificate=/etc/orch/kubelet-client/tls.crt',
        '--kubelet-certificate-authority=/etc/orch/client-ca/ca.crt',
        `--shared-limits-redis=rediss://:$$(REDIS_PASSWORD)@demo-orch-redis.${RELEASE_NAMESPACE}.svc:6379`,
      ]),
    );
    // Neither the password nor a variable that Kubernetes would expand is in an argument.
    expect(String(await argsOf('-redis', '--set', 'redis.mode=chart'))).not.toContain('REDIS_PASSWORD');
    expect(await argsOf('-controller-manager')).toContain(
      '--service-account-private-key-file=/etc/orch/service-account/sa.key',
    );
  },
);

describe('a running API server', () => {
  const local = suiteLocalServer('kubernetes', () => ['--service-cluster-ip-range=10.0.0.0/24,fd00::/112']);

  beforeAll(async () => {
    const { client } = local.replica;
    await client.create('/api/v1/namespaces', { metadata: { name: RELEASE_NAMESPACE } });
    for (const foreign of FOREIGN)
      expect((await client.create(DEFINITIONS, definitionOf(...foreign))).status).toBe(201);
    for (const [group, , plural] of FOREIGN) {
      const served = async (): Promise<number> =>
        (await client.get(`/apis/${group}/v1/namespaces/default/${plural}`)).status;
      while ((await served()) !== 200);
    }
  });

  run.each(CASES)('accepts every object of %s with strict field validation', async (name) => {
    const { client } = local.replica;
    const kinds = await kindsServed();
    const refused: string[] = [];
    for (const object of await renderingOf(name)) {
      const resource = kinds.get(`${String(object.apiVersion)} ${String(object.kind)}`);
      const base = String(object.apiVersion).includes('/') ? '/apis' : '/api';
      const place = `${base}/${String(object.apiVersion)}/namespaces/${RELEASE_NAMESPACE}/${String(resource)}`;
      const answer = await client.create(`${place}?dryRun=All&fieldValidation=Strict`, object);
      if (answer.status !== 201) refused.push(`${String(object.kind)}: ${answer.text}`);
    }
    expect(refused).toEqual([]);
  });

  run('an upgrade gives running API servers the key before the first of them encrypts', async () => {
    const workspace = makeWorkspace('chart-upgrade');
    const env = { KUBECONFIG: local.replica.kubeconfig, HOME: workspace.dir };
    const helm = async (command: string, ...values: readonly string[]): Promise<HelmResult> =>
      runHelm(
        NEWER,
        [command, 'upgraded', CHART, '--namespace', RELEASE_NAMESPACE, '--no-hooks', ...IMAGE, ...values],
        env,
      );
    try {
      expect(await helm('install', '--set=encryption.mode=none')).toMatchObject({ stderr: '', exitCode: 0 });
      for (const values of [[], ['--set=certificates.mode=existing']])
        expect(await helm('upgrade', ...values)).toMatchObject({
          exitCode: 1,
          stderr: expect.stringContaining('upgrade with encryption.write=false') as string,
        });
      for (const values of [['--set=encryption.mode=none'], ['--set=encryption.write=false'], []])
        expect(await helm('upgrade', ...values)).toMatchObject({ stderr: '', exitCode: 0 });
    } finally {
      workspace.remove();
    }
  });

  /** Plural names, by `<group version> <kind>`. */
  async function kindsServed(): Promise<ReadonlyMap<string, string>> {
    const { client } = local.replica;
    const groups = (await client.get('/apis')).body['groups'] as readonly {
      versions: readonly { groupVersion: string }[];
    }[];
    const paths = [
      '/api/v1',
      ...groups.flatMap(({ versions }) => versions.map((each) => `/apis/${each.groupVersion}`)),
    ];
    const lists = await Promise.all(paths.map(async (each) => (await client.get(each)).body));
    return new Map(
      lists.flatMap((list) =>
        (list['resources'] as readonly { name: string; kind: string }[])
          .filter((each) => !each.name.includes('/'))
          .map((each) => [`${String(list['groupVersion'])} ${each.kind}`, each.name] as const),
      ),
    );
  }
});

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function definitionOf(group: string, kind: string, plural: string): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

async function podsOf(objects: Promise<readonly Body[]>): Promise<readonly PodTemplate[]> {
  return (await objects).map(podTemplateOf).filter((each): each is PodTemplate => each !== undefined);
}

function namesOf(objects: readonly Body[], kind: string): readonly string[] {
  return objects.filter((each) => each.kind === kind).map((each) => String(each.metadata?.name));
}

/** The Secrets that will exist: made by the Job, by cert-manager, or by users. */
function madeSecrets(objects: readonly Body[], name: string): readonly string[] {
  const plan = objects.find((each) => each.metadata?.name?.endsWith('-certificate-plan') === true);
  const bundles = load(plan?.data?.['plan.yaml'] ?? '{}') as Readonly<
    Record<string, string | readonly (string | { readonly name: string })[]>
  >;
  const ofJob = Object.values(bundles).flatMap((list) => (typeof list === 'string' ? [] : list));
  const ofCertManager = objects.filter((each) => each.kind === 'Certificate');
  return [
    ...ofJob.map((each) => (typeof each === 'string' ? each : each.name)),
    ...ofCertManager.map((each) => String(each.spec?.['secretName'])),
    ...(SECRETS_OF_USERS[name] ?? []),
  ];
}

function selectorOf({ kind, spec }: Body): Readonly<Record<string, string>> | undefined {
  const selector = spec?.['selector'] as { matchLabels?: Readonly<Record<string, string>> } | undefined;
  if (kind === 'Service') return selector as Readonly<Record<string, string>>;
  if (kind === 'NetworkPolicy')
    return (spec?.['podSelector'] as { matchLabels: Readonly<Record<string, string>> } | undefined)
      ?.matchLabels;
  return kind === 'ServiceMonitor' ? undefined : selector?.matchLabels;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: unknown;
}

/** A value of Helm itself, for subcharts. */
const GLOBAL = 'global';

/** The paths of the leaves of a schema. */
function leavesOfSchema(node: unknown, at = ''): readonly string[] {
  const { properties } = node as SchemaNode;
  if (properties === undefined) return [at];
  return Object.entries(properties)
    .filter(([name]) => at !== '' || name !== GLOBAL)
    .flatMap(([name, child]) =>
      at === 'certificates' && name === 'secretNames'
        ? [`${at}.${name}`]
        : leavesOfSchema(child, at === '' ? name : `${at}.${name}`),
    );
}

/** The paths of the leaves of values; an object that the schema leaves open is a leaf. */
function leavesOfValues(values: unknown, schema: unknown, at = ''): readonly string[] {
  const { properties } = (schema ?? {}) as SchemaNode;
  if (properties === undefined || at === 'certificates.secretNames') return [at];
  return Object.entries(values as Readonly<Record<string, unknown>>).flatMap(([name, child]) =>
    leavesOfValues(child, properties[name], at === '' ? name : `${at}.${name}`),
  );
}
