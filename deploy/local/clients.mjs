/**
 * `node deploy/local/clients.mjs`: brings the clients of other projects below `.tools/`, runs all of them against the server, and records in
 * `e2e/clients/results.json` and in the README which versions work.
 */
import path from 'node:path';
import process from 'node:process';
import { CLIENT_TOOL, ensurePrograms, ensureTools, TOOL, UNZIP } from './packages.mjs';
import {
  answerHelp,
  ensureBuilt,
  ensureInstalled,
  repositoryRoot,
  requireNode,
  runProgram,
  runStep,
  say,
} from './toolchain.mjs';

const SUITE = 'e2e/clients/clients.test.ts';
const TIMEOUT_MS = 50 * 60_000;

answerHelp(import.meta.url);
requireNode();
await ensureInstalled();
await ensureBuilt();
ensurePrograms([UNZIP]);
for (const title of ensureTools([TOOL.kubectl, TOOL.helm, ...Object.values(CLIENT_TOOL)]))
  say(`no ${title}: clients that need it are skipped by name`);
const jest = path.join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
const { status } = await runProgram(process.execPath, [jest, '--runInBand', SUITE], {
  env: { ...process.env, ORCH_CLIENTS: 'record' },
  timeoutMs: TIMEOUT_MS,
});
await runStep(process.execPath, ['deploy/local/works-with.mjs']);
process.exitCode = status ?? 1;
