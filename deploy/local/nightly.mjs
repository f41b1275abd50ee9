/**
 * `npm run test:nightly -- PART...`: runs parts of the nightly tests, each at most an hour (nightly-parts.json), and ends with one line for each
 * part. Without a part it lists them.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { extendPath } from './packages.mjs';
import { ensureBuilt, ensureInstalled, fail, repositoryRoot, requireNode, say } from './toolchain.mjs';

const PART_TIMEOUT_MS = 60 * 60_000;

const parts = JSON.parse(
  readFileSync(path.join(repositoryRoot, 'deploy', 'local', 'nightly-parts.json'), 'utf8'),
);
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in parts));
if (unknown.length > 0)
  fail(`no such part: ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);

if (names.length === 0) {
  for (const [name, { about, steps }] of Object.entries(parts)) {
    process.stdout.write(`${name}: ${about}\n${steps.map((step) => `    ${step}\n`).join('')}`);
  }
} else {
  requireNode();
  extendPath();
  ensureInstalled();
  ensureBuilt();
  const results = names.map(runPart);
  for (const { name, failed, minutes } of results) {
    const outcome = failed.length === 0 ? 'passed' : `failed: ${failed.join('; ')}`;
    process.stdout.write(`${name} ${outcome} (${minutes.toFixed(1)} min)\n`);
  }
  process.exitCode = results.every(({ failed }) => failed.length === 0) ? 0 : 1;
}

/** Runs every step, also after one that failed; the part's time is shared by all of them. */
function runPart(name) {
  const startedAt = performance.now();
  const failed = parts[name].steps.filter((step) => {
    say(`${name}: ${step}`);
    const timeout = Math.max(1, PART_TIMEOUT_MS - (performance.now() - startedAt));
    const { status, signal } = spawnSync('bash', ['-c', `exec ${step}`], {
      cwd: repositoryRoot,
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout,
    });
    if (signal !== null) say(`${name}: ended by ${signal}`);
    return status !== 0;
  });
  return { name, failed, minutes: (performance.now() - startedAt) / 60_000 };
}
