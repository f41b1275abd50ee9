/**
 * `npm test`: brings what is missing, builds, runs the unit project and then the e2e project, and ends with one line of counts.
 * `--unit` or `--e2e` runs one of the two, `--loaded` does so while busy loops hold all cores twice over; any other word goes to jest
 * (`npm test -- --unit shared/patch`).
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { startBusyLoops } from './busy-loops.mjs';
import { ensurePrograms, ensureTools, PROGRAM, TOOL } from './packages.mjs';
import { ensureBuilt, ensureInstalled, fail, repositoryRoot, requireNode, say } from './toolchain.mjs';

const PROJECTS = ['unit', 'e2e'];
const PROGRESS_REPORTER = path.join(repositoryRoot, 'deploy', 'local', 'progress-reporter.cjs');
/** On two cores. Unit suites wait for etcd and for deadlines as much as they work; those of real programs start many processes each. */
const WORKERS = { unit: '3', e2e: '2' };
/** Ends what hangs. A slow machine takes its time. */
const PROJECT_TIMEOUT_MS = 120 * 60_000;
const LOADED = '--loaded';

const words = process.argv.slice(2);
const chosen = PROJECTS.filter((project) => words.includes(`--${project}`));
const jestWords = words.filter((word) => word !== LOADED && !PROJECTS.includes(word.replace(/^--/u, '')));

requireNode();
const missing = ensurePrograms([
  PROGRAM.etcd,
  PROGRAM.etcdctl,
  PROGRAM.balancer,
  PROGRAM.redis,
  PROGRAM.openssl,
]);
if (missing.length > 0)
  say(`missing, so that their tests cannot pass: ${missing.join(', ')} (Debian packages)`);
for (const title of ensureTools(Object.values(TOOL))) say(`no ${title}: its tests are skipped by name`);
ensureInstalled();
ensureBuilt();

const load = words.includes(LOADED) ? startBusyLoops() : undefined;
if (load !== undefined) say(`${load.count} busy loops hold the machine`);
const total = { passed: 0, failed: 0, skipped: 0 };
let isClean = true;
for (const project of chosen.length > 0 ? chosen : PROJECTS) {
  const { counts, exitCode } = await runProject(project);
  for (const key of Object.keys(total)) total[key] += counts[key];
  isClean &&= exitCode === 0;
}
await load?.end();
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exitCode = isClean && total.failed === 0 ? 0 : 1;

async function runProject(project) {
  say(`running the ${project} tests`);
  const folder = mkdtempSync(path.join(tmpdir(), 'orch-test-'));
  const outputFile = path.join(folder, 'result.json');
  try {
    const exitCode = await runJest([
      '--selectProjects',
      project,
      '--maxWorkers',
      WORKERS[project],
      '--passWithNoTests',
      `--reporters=${PROGRESS_REPORTER}`,
      '--json',
      `--outputFile=${outputFile}`,
      ...jestWords,
    ]);
    return { counts: readCounts(outputFile), exitCode };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Jest's own JSON goes to the file; what people read is on stderr. */
function runJest(args) {
  const program = path.join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: repositoryRoot,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: PROJECT_TIMEOUT_MS,
  });
  const forward = (signal) => child.kill(signal);
  process.once('SIGINT', forward).once('SIGTERM', forward);
  return new Promise((resolve) => {
    child.once('error', (error) => fail(`could not run jest: ${error.message}`));
    child.once('exit', (code, signal) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      if (signal !== null) say(`jest ended by ${signal}`);
      resolve(code ?? 1);
    });
  });
}

/** A suite that could not run at all counts as one failed test; so does a jest that wrote no result. */
function readCounts(outputFile) {
  if (!existsSync(outputFile)) return { passed: 0, failed: 1, skipped: 0 };
  const result = JSON.parse(readFileSync(outputFile, 'utf8'));
  return {
    passed: result.numPassedTests,
    failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
    skipped: result.numPendingTests + result.numTodoTests,
  };
}
