import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../deploy/local/repository';
import type { KubectlResult } from './support/kubectl';
import { findKubectls, runKubectl } from './support/kubectl';
import { suiteLocalServer } from './support/suite';
import { WIDE_ROWS } from './support/wide-rows';

const EXAMPLES = path.join(repositoryRoot, 'e2e', 'examples');

/** The word in the examples' names that must be unique on a server; each copy has another word. */
const PREFIX = /\bshop\b/gu;

const FILES_MIN = 25;
const OBJECTS = 60;

const WARNING = 'Warning: policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+\n';

/**
 * A second `kubectl apply` sends a patch without effect for these objects: they state a default (`globalDefault: false`), use another form of a
 * quantity (`cpu: 1`), omit a default in an atomic list, or give as text what is shown as bytes.
 */
const RESTATED: readonly string[] = [
  'deployment.apps/storefront',
  'endpoints/payments',
  'mutatingwebhookconfiguration.admissionregistration.k8s.io/shop-defaults',
  'networkpolicy.networking.k8s.io/storefront',
  'podsecuritypolicy.policy/shop-restricted',
  'priorityclass.scheduling.k8s.io/shop-critical',
  'resourcequota/compute',
  'secret/database',
  'secret/storefront-secrets',
  'statefulset.apps/database',
];

/** The same for kubectl versions that do not know the list markers of newer kinds. */
const ALSO_RESTATED: readonly string[] = [
  'cronjob.batch/daily-report',
  'cronjob.batch/hourly-cleanup',
  'poddisruptionbudget.policy/database',
  'poddisruptionbudget.policy/storefront',
];

const local = suiteLocalServer('kubernetes');

describe.each(findKubectls())('$title', ({ title, program }) => {
  const run = program === undefined ? test.skip : test;
  const version = title.replaceAll(/\D/gu, '');
  /** Copies for client-side and for server-side apply. */
  const classic = `c${version}`;
  const owned = `s${version}`;
  const folders = new Map<string, string>();
  let home: string;

  async function kubectl(args: readonly string[], input = ''): Promise<KubectlResult> {
    return runKubectl(program ?? '', args, { kubeconfig: local.replica.kubeconfig, home, input });
  }

  /** `kubectl edit` with a sed script for an editor. */
  async function edit(script: string, ...args: string[]): Promise<KubectlResult> {
    const editor = `KUBE_EDITOR=sed -i ${script}`;
    const options = { kubeconfig: local.replica.kubeconfig, home };
    return runKubectl('env', [editor, program ?? '', 'edit', ...args], options);
  }

  const folderOf = (prefix: string): string => folders.get(prefix) ?? '';

  /** Every object of a copy with its resourceVersion, to detect writes. */
  async function versions(prefix: string): Promise<string> {
    const columns =
      'custom-columns=K:.kind,N:.metadata.name,V:.metadata.resourceVersion,G:.metadata.generation';
    return (await kubectl(['get', '-f', folderOf(prefix), '-o', columns, '--no-headers'])).stdout;
  }

  beforeAll(() => {
    home = path.join(local.dir, `home-${version}`);
    mkdirSync(home, { recursive: true });
    for (const prefix of [classic, owned]) folders.set(prefix, copyExamples(path.join(home, prefix), prefix));
  });

  run('apply of the folder creates every object', async () => {
    const { exitCode, stdout, stderr } = await kubectl(['apply', '-f', folderOf(classic)]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: WARNING });
    const lines = linesOf(stdout);
    expect(lines.filter((line) => !line.endsWith(' created'))).toEqual([]);
    expect(lines).toHaveLength(OBJECTS);
  });

  run('diff after apply prints nothing', async () => {
    const shown = await kubectl(['diff', '-f', folderOf(classic)]);
    expect(shown).toMatchObject({ exitCode: 0, stdout: '' });
  });

  run('a second apply changes no object', async () => {
    const before = await versions(classic);
    const { exitCode, stdout } = await kubectl(['apply', '-f', folderOf(classic)]);
    expect(exitCode).toBe(0);
    const configured = linesOf(stdout)
      .filter((line) => !line.endsWith(' unchanged'))
      .map((line) => line.replace(/ configured$/u, '').replaceAll(classic, 'shop'))
      .filter((name) => !ALSO_RESTATED.includes(name));
    expect(configured.toSorted()).toEqual(RESTATED);
    expect(await versions(classic)).toBe(before);
    expect(linesOf(before)).toHaveLength(OBJECTS);
  });

  run.each(WIDE_ROWS)('get -o wide prints the expected rows: %s of %s', async (kinds, space, expected) => {
    const inSpace = space === '' ? [] : ['-n', `${classic}-${space}`];
    const { stdout } = await kubectl(['get', kinds, '-o', 'wide', ...inSpace]);
    const rows = linesOf(stdout).map((line) => settled(line).replaceAll(classic, 'shop'));
    expect(rows).toEqual(expect.arrayContaining([...expected]));
  });

  run('apply --dry-run=server shows a change and makes none', async () => {
    const before = await versions(classic);
    const file = path.join(folderOf(classic), '12-web-deployment.yaml');
    const changed = readFileSync(file, 'utf8').replace('replicas: 3', 'replicas: 7');
    const dry = await kubectl(
      ['apply', '--dry-run=server', '-f', '-', '-o', 'jsonpath={.spec.replicas}'],
      changed,
    );
    expect(dry).toMatchObject({ exitCode: 0, stdout: '7' });
    const named = await kubectl(['apply', '--dry-run=server', '-f', '-'], changed);
    expect(named.stdout).toBe('deployment.apps/storefront configured (server dry run)\n');
    const created = await kubectl(['create', 'configmap', 'never', '--dry-run=server']);
    expect(created.stdout).toBe('configmap/never created (server dry run)\n');
    expect(await versions(classic)).toBe(before);
    expect(await kubectl(['get', 'configmap', 'never'])).toMatchObject({ exitCode: 1 });

    const diff = await kubectl(['diff', '-f', '-'], changed);
    expect(diff.exitCode).toBe(1);
    expect(diff.stdout.split('\n').filter((line) => /^[-+] /u.test(line))).toEqual([
      '-  generation: 1',
      '+  generation: 2',
      '-  replicas: 3',
      '+  replicas: 7',
    ]);
  });

  run('apply refuses a field that the kind does not have', async () => {
    const file = path.join(folderOf(classic), '16-web-disruption-budget.yaml');
    const wrong = readFileSync(file, 'utf8').replace('minAvailable', 'minAvailible');
    const { exitCode, stderr } = await kubectl(['apply', '-f', '-'], wrong);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/unknown field "(?:spec\.)?minAvailible"/u);
  });

  run('explain prints the fields of a kind', async () => {
    const { stdout } = await kubectl(['explain', 'deployment.spec.strategy']);
    expect(stdout).toMatch(/\n\s+rollingUpdate\t<\S+>\n/u);
    expect(stdout).toMatch(/\n\s+type\t<string>\n/u);
    const nested = await kubectl(['explain', 'cronjob.spec.jobTemplate.spec.template.spec.containers.ports']);
    expect(nested.stdout).toMatch(/\n\s+containerPort\t<integer> -required-\n/u);
    expect(await kubectl(['explain', 'pod.spec.nothing'])).toMatchObject({
      exitCode: 1,
      stderr: 'error: field "nothing" does not exist\n',
    });
  });

  run('describe prints a pod, a deployment and a service', async () => {
    const inSpace = ['-n', `${classic}-web`];
    const pod = await kubectl(['describe', 'pod', 'debug', ...inSpace]);
    expect(linesOf(pod.stdout).map(settled)).toEqual(
      expect.arrayContaining([
        'Status: Pending',
        'Image: busybox:1.32',
        'QoS Class: Guaranteed',
        'Node-Selectors: disk=ssd',
        'Events: <none>',
      ]),
    );
    const deployment = await kubectl(['describe', 'deployment', 'storefront', ...inSpace]);
    expect(linesOf(deployment.stdout).map(settled)).toEqual(
      expect.arrayContaining([
        'Replicas: 3 desired | 0 updated | 0 total | 0 available | 0 unavailable',
        'RollingUpdateStrategy: 0 max unavailable, 1 max surge',
        'Liveness: http-get http://:http/healthz delay=15s timeout=1s period=10s #success=1 #failure=5',
        "SESSION_KEY: <set to the key 'SESSION_KEY' in secret 'storefront-secrets'> Optional: false",
      ]),
    );
    const service = await kubectl(['describe', 'service', 'storefront', ...inSpace]);
    expect(linesOf(service.stdout).map(settled)).toEqual(
      expect.arrayContaining([
        'Selector: app.kubernetes.io/name=storefront',
        'IP Families: IPv4',
        'IP: 10.0.0.N',
        'Port: metrics 9090/TCP',
        'Session Affinity: None',
      ]),
    );
  });

  run('edit changes an object and prints the reason of a refusal', async () => {
    const inSpace = ['-n', `${classic}-web`];
    const edited = await edit(
      's/LOG_LEVEL:.*/LOG_LEVEL:\\ debug/',
      'configmap/storefront-config',
      ...inSpace,
    );
    expect(edited).toMatchObject({ exitCode: 0, stdout: 'configmap/storefront-config edited\n' });
    const level = ['get', 'configmap', 'storefront-config', '-o', 'jsonpath={.data.LOG_LEVEL}', ...inSpace];
    expect((await kubectl(level)).stdout).toBe('debug');
    const same = await edit('s/a/a/', 'configmap/storefront-config', ...inSpace);
    expect(`${same.stdout}${same.stderr}`).toBe('Edit cancelled, no changes made.\n');
    // The first address belongs to the API, so that it cannot be the address of this Service.
    const refused = await edit('s/clusterIP:.*/clusterIP:\\ 10.0.0.1/', 'service/storefront', ...inSpace);
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('error: services "storefront" is invalid\n'),
    });
  });

  run('scale changes the number of replicas if --current-replicas matches', async () => {
    const inSpace = ['-n', `${classic}-data`];
    const scaled = await kubectl(['scale', 'rs/cache', 'rc/legacy', '--replicas=4', ...inSpace]);
    expect(scaled.stdout).toBe('replicaset.apps/cache scaled\nreplicationcontroller/legacy scaled\n');
    const asked = ['scale', 'statefulset', 'database', '--replicas=1', ...inSpace];
    expect(await kubectl([...asked, '--current-replicas=2'])).toMatchObject({
      exitCode: 1,
      stderr: 'error: Expected replicas to be 2, was 3\n',
    });
    expect((await kubectl([...asked, '--current-replicas=3'])).stdout).toBe(
      'statefulset.apps/database scaled\n',
    );
    const rows = linesOf((await kubectl(['get', 'rs,rc,sts', ...inSpace])).stdout).map(settled);
    expect(rows).toEqual(
      expect.arrayContaining([
        'replicaset.apps/cache 4 0 0 AGE',
        'replicationcontroller/legacy 4 0 0 AGE',
        'statefulset.apps/database 0/1 AGE',
      ]),
    );
  });

  run('apply --server-side creates every object, and a second apply changes none', async () => {
    const args = ['apply', '--server-side', '-f', folderOf(owned)];
    for (const _each of ['first', 'second']) {
      const before = await versions(owned);
      const { exitCode, stdout, stderr } = await kubectl(args);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: WARNING });
      const lines = linesOf(stdout);
      expect(lines.filter((line) => !line.endsWith(' serverside-applied'))).toEqual([]);
      expect(lines).toHaveLength(OBJECTS);
      if (before !== '') expect(await versions(owned)).toBe(before);
    }
    const diff = await kubectl(['diff', '--server-side', '-f', folderOf(owned)]);
    expect(diff).toMatchObject({ exitCode: 0, stdout: '' });
  });

  run('stringData of a secret is stored as data with client-side and server-side apply', async () => {
    for (const prefix of [classic, owned]) {
      const secret = ['get', 'secret', 'database', '-n', `${prefix}-data`, '-o', 'json'];
      const object: unknown = JSON.parse((await kubectl(secret)).stdout);
      expect(object).toMatchObject({ data: { username: 'cG9zdGdyZXM=', password: 'czNjcmV0' } });
      expect(object).not.toHaveProperty('stringData');
    }
  });

  run('a field that another manager owns is a conflict until it is forced', async () => {
    const file = path.join(folderOf(owned), '21-database-statefulset.yaml');
    const changed = readFileSync(file, 'utf8').replace('replicas: 3', 'replicas: 5');
    // The partial object lacks required fields, so the client must not validate it.
    const asOther = ['apply', '--server-side', '--field-manager=operator', '--validate=false', '-f', '-'];
    const part = (spec: string): string => `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: database, namespace: ${owned}-data }
spec: { ${spec} }
`;
    const one = await kubectl(asOther, part('replicas: 5'));
    expect(one).toMatchObject({ exitCode: 1, stdout: '' });
    expect(one.stderr).toMatch(
      /^error: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.replicas\nPlease review the fields above--/u,
    );
    const two = await kubectl(asOther, part('replicas: 5, podManagementPolicy: OrderedReady'));
    expect(two.stderr).toMatch(
      /^error: Apply failed with 2 conflicts: conflicts with "kubectl":\n- \.spec\.podManagementPolicy\n- \.spec\.replicas\nPlease review/u,
    );
    const forced = await kubectl([...asOther, '--force-conflicts'], part('replicas: 5'));
    expect(forced).toMatchObject({ exitCode: 0, stdout: 'statefulset.apps/database serverside-applied\n' });
    // The first owner lost the field, and does not get it back by applying another value.
    const again = await kubectl(['apply', '--server-side', '-f', file]);
    expect(again.stderr).toMatch(/conflict with "operator": \.spec\.replicas\n/u);
    expect(await kubectl(['apply', '--server-side', '-f', '-'], changed)).toMatchObject({ exitCode: 0 });
    const managers = await kubectl([
      'get',
      'statefulset',
      'database',
      '-n',
      `${owned}-data`,
      '-o',
      'jsonpath={.spec.replicas} {range .metadata.managedFields[*]}{.manager}={.operation} {end}',
      ...(version === '120' ? [] : ['--show-managed-fields']),
    ]);
    expect(managers.stdout.trim().split(' ').toSorted()).toEqual(['5', 'kubectl=Apply', 'operator=Apply']);
  });

  run('delete -f deletes every applied object', async () => {
    for (const prefix of [classic, owned]) {
      const { exitCode, stdout } = await kubectl(['delete', '-f', folderOf(prefix), '--wait=false']);
      expect(exitCode).toBe(0);
      expect(linesOf(stdout).filter((line) => line.includes(' deleted'))).toHaveLength(OBJECTS);
      const left = await kubectl(['get', '-f', folderOf(prefix), '--ignore-not-found', '--no-headers']);
      // Namespaces need a controller-manager to be deleted.
      expect(linesOf(left.stdout).filter((line) => !line.includes('Terminating'))).toEqual([]);
    }
  });
});

/** A row with one space between columns, and placeholders for values that differ between runs. */
function settled(line: string): string {
  return line
    .replaceAll(/\b10\.0\.0\.\d+\b/gu, '10.0.0.N')
    .replaceAll(/:\d{5}\//gu, ':PORT/')
    .replaceAll(/(?<=\s)(?:\d+m)?\d+s(?=\s|$)/gu, 'AGE')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/gu, 'TIME')
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/gu, 'UID')
    .replaceAll(/\s+/gu, ' ')
    .trim();
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** Writes the examples under other names; returns the folder. */
function copyExamples(folder: string, prefix: string): string {
  mkdirSync(folder, { recursive: true });
  const files = readdirSync(EXAMPLES).filter((file) => file.endsWith('.yaml'));
  expect(files.length).toBeGreaterThanOrEqual(FILES_MIN);
  for (const file of files) {
    const text = readFileSync(path.join(EXAMPLES, file), 'utf8');
    writeFileSync(path.join(folder, file), text.replaceAll(PREFIX, prefix));
  }
  return folder;
}
