import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';
import { programPath, repositoryRoot } from '../deploy/local/repository';
import { readBuild } from '../shared/build';
import { HELMS } from './support/helm';
import { unknownFlags } from './support/program-flags';
import { makeWorkspace } from './support/workspace';

/** Checks the files in deploy/ that none of our programs reads with the programs that do. */
const DEPLOY = path.join(repositoryRoot, 'deploy');
const COMPOSE = path.join(DEPLOY, 'compose');
const SYSTEMD = path.join(DEPLOY, 'systemd');
/** The exposure level: 0 is closed, 10 is open; systemd rates values below 2 as OK. */
const EXPOSURE_MAX = 2;

/** The keys of the specification that the file may use; no container engine checks them here. */
const SERVICE_WORDS: ReadonlySet<string> = new Set([
  'cap_drop',
  'command',
  'configs',
  'depends_on',
  'environment',
  'image',
  'ports',
  'profiles',
  'read_only',
  'restart',
  'security_opt',
  'stop_grace_period',
  'user',
  'volumes',
]);

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly configs?: readonly (string | { readonly source: string })[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly profiles?: readonly string[];
  readonly read_only?: boolean;
  readonly volumes?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

interface Plan {
  readonly authorities: readonly { readonly name: string }[];
  readonly certificates: readonly { readonly name: string; readonly hosts?: readonly string[] }[];
  readonly tokenKeys: readonly string[];
  readonly encryptionKeys: readonly { readonly name: string }[];
}

const built = readBuild(path.join(repositoryRoot, 'dist'));
const compose = load(read(COMPOSE, 'compose.yaml')) as Compose;
const plan = load(read(COMPOSE, 'certificates.yaml')) as Plan;

test('the plain manifests equal the rendered chart', () => {
  const generator = path.join(DEPLOY, 'local', 'manifests.mjs');
  expect(execFileSync(process.execPath, [generator, '--check'], { encoding: 'utf8' })).toBe('');
});

const packaged = HELMS[1].program === undefined ? test.skip : test;

packaged('a dry run of a release writes what it publishes, and names what the owner must do', () => {
  const workspace = makeWorkspace('release');
  const output = execFileSync(
    process.execPath,
    [path.join(DEPLOY, 'local', 'release.mjs'), '--dry-run', `--out=${workspace.dir}`],
    { encoding: 'utf8' },
  );
  const layout = path.join(workspace.dir, 'chart-oci');
  const blob = (digest: string): Buffer => {
    const bytes = readFileSync(path.join(layout, 'blobs', digest.replace(':', path.sep)));
    expect(`sha256:${createHash('sha256').update(bytes).digest('hex')}`).toBe(digest);
    return bytes;
  };
  const index = JSON.parse(read(layout, 'index.json')) as { manifests: readonly { digest: string }[] };
  const manifest = JSON.parse(blob(index.manifests[0]?.digest ?? '').toString()) as {
    readonly config: { readonly digest: string };
    readonly layers: readonly { readonly digest: string; readonly mediaType: string }[];
  };
  expect(JSON.parse(blob(manifest.config.digest).toString())).toMatchObject({
    name: 'orch',
    version: built.version,
    appVersion: built.version,
  });
  const [layer] = manifest.layers;
  expect(layer?.mediaType).toBe('application/vnd.cncf.helm.chart.content.v1.tar+gzip');
  const archive = path.join(workspace.dir, `orch-${built.version}.tgz`);
  expect(blob(layer?.digest ?? '').equals(readFileSync(archive))).toBe(true);
  const files = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).split('\n');
  expect(files).toContain('orch/values.schema.json');
  expect(files.filter((file) => file.startsWith('orch/ci/'))).toEqual([]);
  expect(read(workspace.dir, 'RELEASE_NOTES.md')).toMatch(/^The first release/u);
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: workspace.dir });
  expect(output).toMatch(/would run: node .*image\.mjs .*--platform=linux\/amd64,linux\/arm64 --push/u);
  expect(output).toMatch(/would run: .*helm push .*oci:\/\//u);
  expect(output.includes('CONTACT-PLACEHOLDER')).toBe(
    read(repositoryRoot, 'SUPPORT.md').includes('CONTACT-PLACEHOLDER'),
  );
  workspace.remove();
});

test('a build records its date, and its commit in a git clone', () => {
  const { commit, date } = built;
  expect(commit).toMatch(existsSync(path.join(repositoryRoot, '.git')) ? /^[0-9a-f]{40}$/u : /^/u);
  expect(date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u);
});

test.each(['apiserver', 'controller-manager', 'admin', 'convert'] as const)(
  '%s --version prints the version',
  (program) => {
    const text = execFileSync(process.execPath, [programPath(program), '--version'], { encoding: 'utf8' });
    const { version, commit, treeState, date } = built;
    const sources = treeState === 'dirty' ? `${commit}-dirty` : commit;
    expect(text).toBe(`${[`orch-${program}`, version, sources, date].filter(Boolean).join(' ')}\n`);
  },
);

describe('compose', () => {
  const services = Object.entries(compose.services);

  test('has three members, three API servers, two controller-managers and a balancer', () => {
    const counted = (prefix: string): number => services.filter(([name]) => name.startsWith(prefix)).length;
    expect([
      counted('etcd-'),
      counted('apiserver-'),
      counted('controller-manager-'),
      counted('haproxy'),
    ]).toEqual([3, 3, 2, 1]);
  });

  test('all keys are in the Compose specification, and volumes are declared', () => {
    expect(
      Object.keys(compose).filter((key) => !/^(?:name|services|volumes|configs|x-.+)$/u.test(key)),
    ).toEqual([]);
    for (const [name, service] of services) {
      expect({ name, unknown: Object.keys(service).filter((key) => !SERVICE_WORDS.has(key)) }).toEqual({
        name,
        unknown: [],
      });
      expect((service.command ?? []).filter((word) => typeof word !== 'string')).toEqual([]);
      for (const volume of service.volumes ?? [])
        expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
    }
  });

  test('services refer to existing files and services, and none writes to its root filesystem', () => {
    for (const [, { file }] of Object.entries(compose.configs))
      expect(existsSync(path.join(COMPOSE, file))).toBe(true);
    for (const [, service] of services) {
      expect(service.read_only).toBe(true);
      for (const each of service.configs ?? [])
        expect(compose.configs).toHaveProperty(typeof each === 'string' ? each : each.source);
      const needed = Array.isArray(service.depends_on)
        ? service.depends_on
        : Object.keys(service.depends_on ?? {});
      for (const each of needed as readonly string[]) expect(Object.keys(compose.services)).toContain(each);
    }
  });

  test('every flag exists in its program, and every certificate in the plan', () => {
    const words = services.flatMap(([, { command = [] }]) => command);
    expect(services.flatMap(([, { command = [] }]) => unknownFlags(command))).toEqual([]);
    const files = [...words, ...etcdFiles(), read(COMPOSE, 'kubeconfig')].flatMap((word) => bundlesIn(word));
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((name) => !bundles().has(name))).toEqual([]);
  });

  test('the certificates cover every dialled name', () => {
    const hostsOf = (name: string): readonly string[] =>
      plan.certificates.find((each) => each.name === name)?.hosts ?? [];
    expect(hostsOf('serving')).toEqual(
      expect.arrayContaining([
        'localhost',
        'haproxy',
        ...services.map(([name]) => name).filter((name) => name.startsWith('apiserver-')),
      ]),
    );
    expect(hostsOf('etcd-server')).toEqual(
      expect.arrayContaining(services.map(([name]) => name).filter((name) => name.startsWith('etcd-'))),
    );
  });

  test('only Redis is optional: no service depends on it, and its certificate has its name', () => {
    const optional = services.filter(([, { profiles }]) => profiles !== undefined).map(([name]) => name);
    expect(optional).toEqual(['redis']);
    const certificate = plan.certificates.find(({ name }) => name === 'redis-server');
    expect(certificate?.hosts).toEqual(['redis']);
    for (const [, { depends_on: needed = [] }] of services)
      expect(Object.keys(needed)).not.toContain('redis');
  });

  test('haproxy accepts its configuration', () => {
    expect(() =>
      execFileSync('haproxy', ['-c', '-f', path.join(COMPOSE, 'haproxy.cfg')], { stdio: 'pipe' }),
    ).not.toThrow();
  });
});

describe('systemd', () => {
  const units = readdirSync(SYSTEMD).filter((name) => name.endsWith('.service'));
  const run = existsSync('/usr/bin/systemd-analyze') ? test : test.skip;

  run('accepts the units', () => {
    const files = readdirSync(SYSTEMD)
      .filter((name) => /\.(?:service|timer)$/u.test(name))
      .map((name) => path.join(SYSTEMD, name));
    const { stdout } = {
      stdout: execFileSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' }),
    };
    expect(stdout).toBe('');
  });

  run.each(units)('%s is sandboxed', (unit) => {
    const text = execFileSync(
      'systemd-analyze',
      ['security', '--offline=true', `--threshold=${String(EXPOSURE_MAX * 10)}`, path.join(SYSTEMD, unit)],
      {
        encoding: 'utf8',
      },
    );
    expect(text).toMatch(/Overall exposure level for .*: [01]\.\d/u);
  });

  test.each([
    ['apiserver', 'ORCH_APISERVER_FLAGS'],
    ['controller-manager', 'ORCH_CONTROLLER_MANAGER_FLAGS'],
  ])('%s gets flags that it knows, and certificates of the plan', (name, variable) => {
    const [, flags = ''] = new RegExp(`^${variable}="(.*)"$`, 'mu').exec(read(SYSTEMD, `${name}.env`)) ?? [];
    const words = flags.split(' ');
    expect(words.length).toBeGreaterThan(5);
    expect(unknownFlags([`dist/${name}/main.js`, ...words])).toEqual([]);
    expect(words.flatMap(bundlesIn).filter((bundle) => !bundles().has(bundle))).toEqual([]);
    expect(read(SYSTEMD, `orch-${name}.service`)).toContain(`$${variable}`);
  });
});

test('the image has the tool that restores a backup, and names what it is built on', () => {
  const text = read(DEPLOY, 'Dockerfile');
  expect(text).toMatch(/^COPY --from=etcd \/usr\/local\/bin\/etcdutl /mu);
  expect(text).toContain('org.opencontainers.image.base.name="${BASE_IMAGE}"');
});

function read(...parts: readonly string[]): string {
  return readFileSync(path.join(...parts), 'utf8');
}

function etcdFiles(): readonly string[] {
  return ['etcd-1.yaml', 'etcd-2.yaml', 'etcd-3.yaml'].map((file) => read(COMPOSE, file));
}

/** The certificate bundles whose files a text names. */
function bundlesIn(text: string): readonly string[] {
  return [...text.matchAll(/\/pki\/([a-z-]+)\//gu)].map(([, name = '']) => name);
}

function bundles(): ReadonlySet<string> {
  const named = [...plan.authorities, ...plan.certificates, ...plan.encryptionKeys];
  return new Set([...named.map(({ name }) => name), ...plan.tokenKeys]);
}
