/** Prepares a fresh clone: checks the version of Node, installs the npm packages, and builds. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

const NODE_MIN = [20, 19];
export const SOURCE_FOLDERS = ['apiserver', 'controller-manager', 'shared', 'deploy', 'e2e'];
const SOURCE_FILES = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
const SOURCE_FILES_MAX = 20_000;
const BUILD_STAMP = path.join(repositoryRoot, 'dist', '.built');
const INSTALL_STAMP = path.join(repositoryRoot, 'node_modules', '.package-lock.json');
const STEP_TIMEOUT_MS = 10 * 60_000;

/** Exits with an error message when Node is older than the minimum version. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`orch needs Node ${NODE_MIN.join('.')} or newer; this is ${process.versions.node}.`);
}

/** Installs the npm packages when they are missing or older than the lock file. */
export function ensureInstalled() {
  const lockFile = path.join(repositoryRoot, 'package-lock.json');
  if (existsSync(INSTALL_STAMP) && modifiedAt(INSTALL_STAMP) >= modifiedAt(lockFile)) return;
  say('installing npm packages (npm ci)');
  runStep('npm', ['ci', '--no-audit', '--no-fund', '--no-update-notifier']);
}

/** Builds when `dist/` is missing or older than any source. */
export function ensureBuilt() {
  if (existsSync(BUILD_STAMP) && modifiedAt(BUILD_STAMP) >= newestSource()) return;
  say('building (npm run build)');
  runStep('npm', ['run', '--silent', 'build']);
}

/** Marks `dist/` as built from sources that were read no earlier than `startedAt` (milliseconds since 1970). */
export function stampBuild(startedAt) {
  writeFileSync(BUILD_STAMP, `${new Date(startedAt).toISOString()}\n`);
  utimesSync(BUILD_STAMP, startedAt / 1000, startedAt / 1000);
}

/** Runs a program in the repository with the output of this process, and exits when it fails. */
export function runStep(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: repositoryRoot,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: STEP_TIMEOUT_MS,
  });
  if (error !== undefined) fail(`could not run ${command}: ${error.message}`);
  if (status !== 0) fail(`${[command, ...args].join(' ')} failed (exit code ${status}).`, status ?? 1);
}

/** Prints a line of progress with the prefix of the launcher. */
export function say(text) {
  process.stdout.write(`orch: ${text}\n`);
}

/** Prints an error to stderr and exits. */
export function fail(text, exitCode = 1) {
  process.stderr.write(`orch: ${text}\n`);
  process.exit(exitCode);
}

function newestSource() {
  const files = SOURCE_FOLDERS.flatMap((folder) => sourcesBelow(path.join(repositoryRoot, folder)));
  if (files.length > SOURCE_FILES_MAX)
    fail(`more than ${SOURCE_FILES_MAX} source files; is a foreign folder among them?`);
  const lockAndConfig = SOURCE_FILES.map((file) => path.join(repositoryRoot, file));
  return Math.max(...[...files, ...lockAndConfig].map(modifiedAt));
}

function sourcesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$|\.json$/u.test(entry.name))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

function modifiedAt(file) {
  return statSync(file).mtimeMs;
}
