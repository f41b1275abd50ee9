/**
 * `npm run test:nightly -- PART...`: runs parts of the nightly tests, each at most an hour (nightly-parts.json), and ends with one line for each
 * part. Without a part, or with `--list`, it lists them.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
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

const PART_TIMEOUT_MS = 60 * 60_000;

answerHelp(import.meta.url);
const parts = JSON.parse(
  readFileSync(path.join(repositoryRoot, 'deploy', 'local', 'nightly-parts.json'), 'utf8'),
);
const words = process.argv.slice(2);
const names = words.filter((word) => word !== '--list');
const unknown = names.filter((name) => !(name in parts));
if (unknown.length > 0)
  fail(`no such part: ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);

if (names.length === 0 || names.length < words.length) {
  for (const [name, { about, steps }] of Object.entries(parts)) {
    process.stdout.write(`${name}: ${about}\n${steps.map((step) => `    ${step}\n`).join('')}`);
  }
} else {
  requireNode();
  extendPath();
  await ensureInstalled();
  await ensureBuilt();
  const results = [];
  for (const name of names) results.push(await runPart(name));
  for (const { name, failed, minutes } of results) {
    const outcome = failed.length === 0 ? 'passed' : `failed: ${failed.join('; ')}`;
    process.stdout.write(`${name} ${outcome} (${minutes.toFixed(1)} min)\n`);
  }
  process.exitCode = results.every(({ failed }) => failed.length === 0) ? 0 : 1;
}

/** Runs every step, also after one that failed; the part's time is shared by all of them. */
async function runPart(name) {
  const startedAt = performance.now();
  const failed = [];
  for (const step of parts[name].steps) {
    say(`${name}: ${step}`);
    const timeoutMs = Math.max(1, PART_TIMEOUT_MS - (performance.now() - startedAt));
    const { status, signal } = await runProgram('bash', ['-c', `exec ${step}`], { timeoutMs });
    if (signal !== null && signal !== undefined) say(`${name}: ended by ${signal}`);
    if (status !== 0) failed.push(step);
  }
  return { name, failed, minutes: (performance.now() - startedAt) / 60_000 };
}
