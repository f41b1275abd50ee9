/**
 * `node deploy/local/node-versions.mjs 22 24 26`: runs end-to-end suites with programs, launcher and tests on other versions of Node, which the
 * npm package `node` brings below `.tools/`. Ends with one line for each version.
 */
import path from 'node:path';
import process from 'node:process';
import { ensureNode, ensureTools, VITEST } from './packages.mjs';
import { extendPath } from './tool-path.cjs';
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

/** The package works in CommonJS and ES modules, the programs start, kubectl works, and watches resume on another replica. */
const SUITES = [
  'e2e/package.test.ts',
  'e2e/start.test.ts',
  'e2e/kubectl.test.ts',
  'e2e/list-watch/replicas.test.ts',
];
const TIMEOUT_MS = 20 * 60_000;
/** Test files of each runner that start control planes of the package. */
const PACKAGE_FILES = 50;

answerHelp(import.meta.url);
const versions = process.argv.slice(2);
if (versions.length === 0) fail('name the major versions of Node to run');
requireNode();
extendPath();
await ensureInstalled();
await ensureBuilt();
const vitest = ensureTools([VITEST]).length === 0 ? path.join(VITEST.folder, VITEST.programs[0]) : undefined;
const results = [];
for (const major of versions) results.push(await runOn(major));
process.stdout.write(`${results.join('\n')}\n`);
process.exitCode = results.every((line) => line.endsWith('passed')) ? 0 : 1;

async function runOn(major) {
  const folder = ensureNode(major);
  if (folder === undefined) return `Node ${major}: cannot be installed here`;
  say(`running ${SUITES.length} suites on Node ${major}`);
  const jest = path.join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status } = await runProgram(path.join(folder, 'node'), [jest, '--runInBand', ...SUITES], {
    env: {
      ...process.env,
      PATH: `${folder}${path.delimiter}${process.env.PATH}`,
      ORCH_PACKAGE_FILES: String(PACKAGE_FILES),
      ...(vitest === undefined ? {} : { ORCH_VITEST: vitest }),
    },
    timeoutMs: TIMEOUT_MS,
  });
  return `Node ${major}: ${status === 0 ? 'passed' : 'failed'}`;
}
