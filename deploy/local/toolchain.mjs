/** Prepares a fresh clone: checks the version of Node, installs the npm packages, and builds. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

const NODE_MIN = [20, 19];
export const SOURCE_FOLDERS = [
  'apiserver',
  'controller-manager',
  'orch',
  'package',
  'shared',
  'deploy',
  'e2e',
];
const SOURCE_FILES = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
const SOURCE_FILES_MAX = 20_000;
const BUILD_STAMP = path.join(repositoryRoot, 'dist', '.built');
const INSTALL_STAMP = path.join(repositoryRoot, 'node_modules', '.package-lock.json');
const STEP_TIMEOUT_MS = 10 * 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const KILL_DELAY_MS = 10_000;

/**
 * Prints the comment at the head of a script and exits if the command line has `--help` or `-h`. A script calls this before it installs or builds
 * anything. `file` is the path or the file URL of the source.
 */
export function answerHelp(file) {
  if (!process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return;
  const [, comment = ''] =
    /^\/\*\*(.*?)\*\//su.exec(readFileSync(new URL(file, import.meta.url), 'utf8')) ?? [];
  process.stdout.write(`${comment.replace(/^ \* ?/gmu, '').trim()}\n`);
  process.exit(0);
}

/** Exits with an error message when Node is older than the minimum version. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`orch needs Node ${NODE_MIN.join('.')} or newer; this is ${process.versions.node}.`);
}

/** Installs the npm packages when they are missing or older than the lock file. */
export async function ensureInstalled() {
  const lockFile = path.join(repositoryRoot, 'package-lock.json');
  if (existsSync(INSTALL_STAMP) && modifiedAt(INSTALL_STAMP) >= modifiedAt(lockFile)) return;
  say('installing npm packages (npm ci)');
  await runStep('npm', ['ci', '--no-audit', '--no-fund', '--no-update-notifier']);
}

/** Builds when `dist/` is missing or older than any source. */
export async function ensureBuilt() {
  if (existsSync(BUILD_STAMP) && modifiedAt(BUILD_STAMP) >= newestSource()) return;
  say('building (npm run build)');
  await runStep(process.execPath, [path.join('deploy', 'local', 'build.mjs')]);
}

/** Marks `dist/` as built from sources that were read no earlier than `startedAt` (milliseconds since 1970). */
export function stampBuild(startedAt) {
  writeFileSync(BUILD_STAMP, `${new Date(startedAt).toISOString()}\n`);
  utimesSync(BUILD_STAMP, startedAt / 1000, startedAt / 1000);
}

/** Runs a program of an npm package in the repository, and exits when it fails. */
export async function runPackage(name, args) {
  await runStep(process.execPath, [path.join(repositoryRoot, 'node_modules', ...name.split('/')), ...args]);
}

/** Runs a program in the repository with the output of this process, and exits when it fails. */
export async function runStep(command, args) {
  const { status, signal, error } = await runProgram(command, args, { timeoutMs: STEP_TIMEOUT_MS });
  if (error !== undefined) fail(`could not run ${command}: ${error.message}`);
  const outcome = signal === null ? `exit code ${status}` : signal;
  if (status !== 0) fail(`${[command, ...args].join(' ')} failed (${outcome}).`, status ?? 1);
}

/**
 * Runs a program in the repository until it ends, in a process group of its own. A signal to this process goes to the whole group, and ends this
 * process when the program has ended: nothing of it keeps running. Resolves to exit code and signal, or to the error of a program that cannot be
 * started. The group is stopped after `timeoutMs`.
 */
export async function runProgram(command, args, { timeoutMs, env = process.env, stdout = 'inherit' }) {
  let child;
  let received;
  let killTimer;
  const stop = (signal) => {
    signalGroup(child.pid, signal);
    killTimer ??= setTimeout(() => signalGroup(child.pid, 'SIGKILL'), KILL_DELAY_MS);
  };
  const onSignal = (signal) => {
    received = signal;
    stop(signal);
  };
  // The signals are handled before the program runs, or one that arrives at once would leave the program running.
  for (const signal of SIGNALS) process.on(signal, onSignal);
  child = spawn(command, args, {
    cwd: repositoryRoot,
    detached: true,
    stdio: ['ignore', stdout, 'inherit'],
    env,
  });
  const timer = setTimeout(() => stop('SIGTERM'), timeoutMs);
  const outcome = await new Promise((resolve) => {
    child.once('error', (error) => resolve({ status: null, signal: null, error }));
    child.once('exit', (status, signal) => resolve({ status, signal }));
  });
  clearTimeout(timer);
  clearTimeout(killTimer);
  for (const signal of SIGNALS) process.off(signal, onSignal);
  if (received !== undefined) process.exit(128 + os.constants.signals[received]);
  return outcome;
}

/** Without effect when the group has ended. */
function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
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
