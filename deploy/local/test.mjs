/**
 * `npm test` and its tiers: installs what is missing, builds, runs the suites of a tier (test-tiers.json), and ends with one line of counts.
 *
 *     --tier everyday|rest|all   everyday if not given
 *     --unit, --e2e              only the suites that start no process of ours, or only the others
 *     --loaded                   runs while busy loops use all cores twice
 *     --repeat N                 runs the suites N times; counts are the sums
 *     --minutes N                begins no further round after N minutes
 *     --share N                  runs one of N shares of the suites, another one each day
 *
 *     --list                     prints the suites and runs none of them
 *
 * Any other word goes to jest, which then runs the suites whose paths match, whatever their tier (`npm test -- shared/patch`).
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startBusyLoops } from './busy-loops.mjs';
import { ensureNode, ensurePrograms, ensureTools, PROGRAM, TOOL } from './packages.mjs';
import { listSuites, writeGroups } from './test-suites.mjs';
import {
  answerHelp,
  ensureBuilt,
  ensureInstalled,
  fail,
  repositoryRoot,
  requireNode,
  runProgram,
  say,
} from './toolchain.mjs';

const TIERS_BY_WORD = { everyday: ['everyday'], rest: ['rest'], all: ['everyday', 'rest'] };
const PROGRESS_REPORTER = path.join(repositoryRoot, 'deploy', 'local', 'progress-reporter.cjs');
/** On two cores: suites wait for processes and deadlines about a third of their time. */
const WORKERS = '3';
/** The version that `e2e/node-version.test.ts` starts; others run nightly. */
const NODE_TESTED = '24';
/** Stops a run that hangs. A slow machine takes its time. */
const RUN_TIMEOUT_MS = 120 * 60_000;

answerHelp(import.meta.url);
const { options, jestWords } = parseWords(process.argv.slice(2));
const tiers = TIERS_BY_WORD[options.tier];
if (tiers === undefined)
  fail(`unknown tier ${String(options.tier)}; there are ${Object.keys(TIERS_BY_WORD).join(', ')}`);

if (options.list) {
  for (const { file } of listChosenSuites()) process.stdout.write(`${file}\n`);
  process.exit(0);
}

requireNode();
const missing = ensurePrograms(Object.values(PROGRAM));
if (missing.length > 0)
  say(`missing, so that their tests cannot pass: ${missing.join(', ')} (Debian packages)`);
for (const title of ensureTools(Object.values(TOOL))) say(`no ${title}: its tests are skipped by name`);
if (ensureNode(NODE_TESTED) === undefined) say(`no Node ${NODE_TESTED}: its tests are skipped by name`);
await ensureInstalled();
await ensureBuilt();

const load = options.loaded ? startBusyLoops() : undefined;
if (load !== undefined) say(`${load.count} busy loops use the machine`);
const total = { passed: 0, failed: 0, skipped: 0 };
let isClean = true;
const rounds = Number(options.repeat);
const startedAt = performance.now();
for (let round = 1; round <= rounds; round++) {
  if ((performance.now() - startedAt) / 60_000 > Number(options.minutes)) {
    say(`the time is up after ${round - 1} of ${rounds} rounds`);
    break;
  }
  if (rounds > 1) say(`round ${round} of ${rounds}`);
  const { counts, exitCode } = await runSuites();
  for (const key of Object.keys(total)) total[key] += counts[key];
  isClean &&= exitCode === 0;
}
await load?.end();
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
process.exitCode = isClean && total.failed === 0 ? 0 : 1;

/** Words that are not ours are jest's, in their order. */
function parseWords(words) {
  const own = {
    tier: { type: 'string', default: 'everyday' },
    unit: { type: 'boolean', default: false },
    e2e: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    loaded: { type: 'boolean', default: false },
    repeat: { type: 'string', default: '1' },
    minutes: { type: 'string', default: 'Infinity' },
    share: { type: 'string', default: '1' },
  };
  const { values, tokens } = parseArgs({ args: words, strict: false, tokens: true, options: own });
  const jest = tokens.flatMap((token) => {
    if (token.kind === 'positional') return [token.value];
    if (token.kind !== 'option' || token.name in own) return [];
    return [token.value === undefined ? token.rawName : `${token.rawName}=${token.value}`];
  });
  return { options: values, jestWords: jest };
}

async function runSuites() {
  const folder = mkdtempSync(path.join(tmpdir(), 'orch-test-'));
  const outputFile = path.join(folder, 'result.json');
  try {
    const exitCode = await runJest([
      ...chooseSuites(),
      '--maxWorkers',
      WORKERS,
      '--passWithNoTests',
      `--reporters=${PROGRESS_REPORTER}`,
      '--json',
      `--outputFile=${outputFile}`,
    ]);
    return { counts: readCounts(outputFile), exitCode };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The words of the command line that select unit or end-to-end suites; none selects both. */
function listKinds() {
  return ['unit', 'e2e'].filter((kind) => options[kind]);
}

function listChosenSuites() {
  const kinds = listKinds();
  const day = Math.floor(Date.now() / 86_400_000);
  return listSuites().filter(
    ({ tier, isUnit }, index) =>
      tiers.includes(tier) &&
      (kinds.length === 0 || kinds.includes(isUnit ? 'unit' : 'e2e')) &&
      (index - day) % Number(options.share) === 0,
  );
}

/** The arguments of jest that choose the suites. */
function chooseSuites() {
  const kinds = listKinds();
  if (jestWords.length > 0) {
    // Jest takes the words that follow `--selectProjects` as projects, so that they come first.
    return [...jestWords, ...(kinds.length === 0 ? [] : ['--selectProjects', ...kinds])];
  }
  const suites = listChosenSuites();
  const { configFile, groupsFile, files } = writeGroups(suites);
  say(`running ${suites.length} suites (${tiers.join(' and ')}) in ${files.length} files`);
  process.env.ORCH_TEST_GROUPS = groupsFile;
  return ['--config', configFile, '--runTestsByPath', ...files];
}

/** Jest's own JSON goes to the file; what people read is on stderr. */
async function runJest(args) {
  const program = path.join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status, signal, error } = await runProgram(process.execPath, [program, ...args], {
    stdout: 'ignore',
    timeoutMs: RUN_TIMEOUT_MS,
  });
  if (error !== undefined) fail(`could not run jest: ${error.message}`);
  if (signal !== null) say(`jest ended by ${signal}`);
  return status ?? 1;
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
