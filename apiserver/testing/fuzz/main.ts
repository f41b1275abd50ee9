import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Random } from '../../../shared/testing/random';
import { seededRandom } from '../../../shared/testing/random';
import type { KeptInput } from './corpus';
import { keptInputs } from './corpus';
import { BlockCoverage } from './coverage';
import { growthOf } from './growth';
import { minimized } from './minimize';
import type { Finding } from './run-target';
import { problemOf, runTarget } from './run-target';
import type { Check, Target } from './target';
import { TARGETS } from './targets';
import { startWatchdog } from './watchdog';

/**
 * `npm run fuzz`: explores further than the tests. README.md in this folder describes its use. deploy/local/fuzz.mjs starts it in the root of the
 * repository.
 */

const CORPUS = path.join('apiserver', 'testing', 'fuzz', 'corpus');
const WORK = path.join('.orch', 'fuzz');
const MINUTE_MS = 60_000;
const FINDINGS_MAX = 10;
/** Inputs with new coverage up to this length are kept for the next run. */
const KEPT_BYTES_MAX = 8_192;

void main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      target: { type: 'string', multiple: true, default: [] },
      input: { type: 'string' },
      growth: { type: 'boolean', default: false },
    },
  });
  const targets = TARGETS.filter(({ name }) => values.target.length === 0 || values.target.includes(name));
  if (targets.length === 0) throw new Error(`the targets are ${TARGETS.map(({ name }) => name).join(', ')}`);
  if (values.input !== undefined) {
    await replay(targets, values.input);
    return;
  }
  const seed = Number(values.seed);
  const sliceMs = (Number(values.minutes) * MINUTE_MS) / targets.length;
  say(`${String(targets.length)} targets, ${values.minutes} minutes, seed ${String(seed)}`);
  let found = 0;
  for (const target of targets) {
    found += await runOne(target, {
      random: seededRandom(seed),
      untilMs: Date.now() + sliceMs,
      growth: values.growth,
    });
  }
  say(found === 0 ? 'nothing was found' : `${String(found)} findings, in ${path.join(WORK, 'findings')}`);
  process.exitCode = found === 0 ? 0 : 1;
}

interface Slice {
  readonly random: Random;
  readonly untilMs: number;
  readonly growth: boolean;
}

/** The number of findings of one target. */
async function runOne(target: Target, { random, untilMs, growth }: Slice): Promise<number> {
  const lastInput = path.join(WORK, 'last-input');
  mkdirSync(WORK, { recursive: true });
  const { check, close } = await target.open();
  const coverage = new BlockCoverage();
  const watchdog = startWatchdog(lastInput);
  const watched: Check = (input) => {
    watchdog.tick(input);
    return check(input);
  };
  const reached = path.join(WORK, 'reached', target.name);
  const kept = [...keptInputs(path.join(CORPUS, target.corpus)), ...keptInputs(reached)];
  const guidedUntilMs = (Date.now() + untilMs) / 2;
  const goesOn = (): boolean => {
    if (!growth && Date.now() > guidedUntilMs) coverage.end();
    return Date.now() < untilMs;
  };
  try {
    if (growth) return await searchGrowth(target, watched, { kept, random, goesOn, coverage });
    const outcome = await runTarget(target, watched, {
      kept,
      random,
      goesOn,
      reach: coverage,
      findingsMax: FINDINGS_MAX,
    });
    keep(reached, outcome.added);
    say(
      `${target.name}: ${String(outcome.tried)} inputs, ${String(outcome.added.length)} of them new, ${String(coverage.size)} blocks, ${String(outcome.findings.length)} findings`,
    );
    for (const finding of outcome.findings) report(await minimized(watched, finding));
    return outcome.findings.length;
  } finally {
    coverage.end();
    await watchdog.end();
    await close?.();
  }
}

async function searchGrowth(
  target: Target,
  check: Check,
  {
    kept,
    random,
    goesOn,
    coverage,
  }: {
    readonly kept: readonly KeptInput[];
    readonly random: Random;
    readonly goesOn: () => boolean;
    readonly coverage: BlockCoverage;
  },
): Promise<number> {
  const inputs = [...kept.map(({ bytes }) => bytes), ...((await target.made?.()) ?? [])];
  let tried = 0;
  let found = 0;
  while (goesOn() && found < FINDINGS_MAX) {
    tried += 1;
    const growth = await growthOf(check, random.pick(inputs), { random, coverage, target });
    if (growth === undefined) continue;
    found += 1;
    const problem = `work grows faster than the input: blocks ${growth.blocks.join(', ')}; CPU ${growth.cpuMs.map((ms) => ms.toFixed(1)).join(', ')} ms`;
    report({ target: target.name, input: growth.input, origin: 'growth', problem });
  }
  say(`${target.name}: ${String(tried)} inputs grown, ${String(found)} steeper than they should be`);
  return found;
}

async function replay(targets: readonly Target[], file: string): Promise<void> {
  for (const target of targets) {
    const { check, close } = await target.open();
    const [input] = keptInputs(path.dirname(file)).filter(({ name }) => name === path.basename(file));
    const problem = await problemOf(check, input?.bytes ?? readFileSync(file));
    say(`${target.name}: ${problem ?? 'all holds'}`);
    await close?.();
    if (problem !== undefined) process.exitCode = 1;
  }
}

function keep(folder: string, inputs: readonly KeptInput[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { bytes } of inputs)
    if (bytes.length <= KEPT_BYTES_MAX) writeFileSync(path.join(folder, hashOf(bytes)), bytes);
}

function report({ target, input, origin, problem }: Finding): void {
  const folder = path.join(WORK, 'findings');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${target}-${hashOf(input)}`);
  writeFileSync(file, input);
  say(
    `\n${file} (${String(input.length)} bytes, from ${origin})\n${input.toString('utf8').slice(0, 500)}\n${problem}\n`,
  );
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
