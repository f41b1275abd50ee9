/** Programs that npm does not bring: Debian's etcd, haproxy and openssl, and a second kubectl kept apart from the one on PATH. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { repositoryRoot, say } from './toolchain.mjs';

/** A program, and the Debian package that brings it. */
export const PROGRAM = {
  etcd: { names: ['etcd'], debianPackage: 'etcd-server' },
  balancer: { names: ['haproxy', 'nginx'], debianPackage: 'haproxy' },
  openssl: { names: ['openssl'], debianPackage: 'openssl' },
};

const KUBECTL_FOLDER = path.join(repositoryRoot, '.tools', 'kubectl-1.20');
const APT_TIMEOUT_MS = 5 * 60_000;
const EXTRA_PATH = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

let isListUpdated = false;

/** Adds the system folders where Debian puts daemons, which a plain user's PATH often lacks. */
export function extendPath() {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  process.env.PATH = [...folders, ...EXTRA_PATH.filter((folder) => !folders.includes(folder))].join(
    path.delimiter,
  );
}

/** Installs what is missing of `programs` where that is possible here; returns the Debian packages that are still missing. */
export function ensurePrograms(programs) {
  extendPath();
  const missing = programs.filter((program) => !isOnPath(program));
  if (missing.length === 0) return [];
  if (canInstall()) install(missing.map((program) => program.debianPackage));
  return missing.filter((program) => !isOnPath(program)).map((program) => program.debianPackage);
}

/** Unpacks Debian's kubectl below `.tools/`, so that a newer kubectl on PATH stays as it is; returns whether it is there. */
export function ensureOldKubectl() {
  const program = path.join(KUBECTL_FOLDER, 'usr', 'bin', 'kubectl');
  if (existsSync(program)) return true;
  if (!hasCommand('apt-get') || !hasCommand('dpkg')) return false;
  say('unpacking kubectl 1.20 below .tools/');
  const folder = mkdtempSync(path.join(tmpdir(), 'orch-kubectl-'));
  if (isRoot()) updateList();
  run('apt-get', ['download', 'kubernetes-client'], folder);
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  if (archive !== undefined) {
    mkdirSync(KUBECTL_FOLDER, { recursive: true });
    run('dpkg', ['-x', path.join(folder, archive), KUBECTL_FOLDER], folder);
  }
  rmSync(folder, { recursive: true, force: true });
  return existsSync(program);
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

/** A failure shows in what is missing afterwards; its output is printed so that the reason can be read. */
function run(command, args, cwd) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const result = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: APT_TIMEOUT_MS });
  if (result.status !== 0) say(`${command} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
}
