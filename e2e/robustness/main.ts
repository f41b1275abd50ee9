/**
 * `npm run robustness`: runs all verbs under faults of all kinds; see README.md.
 *
 *     --minutes N  how long clients and faults run; 10 if not given
 *     --seed S     what is drawn, so that a run can be repeated; a random one if not given, and printed
 *     --small      the sizes of npm test
 *     --out DIR    where the record of an epoch with violations is written; .robustness if not given
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { EpochReport } from './epoch';
import { describeEpoch, describeRun } from './report';
import { runRobustness } from './run';
import { FULL_SIZE, SMALL_SIZE } from './size';

const MINUTES = 10;
const SEEDS = 2 ** 31;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      small: { type: 'boolean', default: false },
      out: { type: 'string', default: '.robustness' },
    },
  });
  const minutes = Number(values.minutes ?? MINUTES);
  const seed = Number(values.seed ?? Math.floor(Math.random() * SEEDS));
  if (!(minutes > 0) || !Number.isSafeInteger(seed))
    throw new Error('--minutes must be a positive number, and --seed an integer');
  const startedAt = performance.now();
  const say = (text: string): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stdout.write(`${String(seconds).padStart(6)} s  ${text}\n`);
  };
  say(`seed ${String(seed)}, ${String(minutes)} minutes`);
  const report = await runRobustness({
    seed,
    durationMs: minutes * 60_000,
    size: values.small ? SMALL_SIZE : FULL_SIZE,
    say,
    onEpoch: (epoch, number) => {
      say(`epoch ${String(number)}: ${describeEpoch(epoch)}`);
      if (epoch.findings.length === 0) return;
      const dir = path.join(values.out, `seed-${String(seed)}-epoch-${String(number)}`);
      writeEvidence(dir, epoch);
      say(`what was recorded: ${dir}`);
    },
  });
  process.stdout.write(`\nseed ${String(seed)}, ${String(minutes)} minutes\n${describeRun(report)}\n`);
  return report.findings.length === 0 ? 0 : 1;
}

/** Writes files with one JSON document per line, for `grep` and `jq`. */
function writeEvidence(dir: string, { findings, record, history }: EpochReport): void {
  mkdirSync(dir, { recursive: true });
  const files = {
    findings,
    objects: record.objects,
    ages: record.ages,
    lists: record.lists,
    watches: record.watches,
    leaders: record.leaders,
    history: history.changes,
  };
  for (const [name, rows] of Object.entries(files)) {
    writeFileSync(path.join(dir, `${name}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
}

main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
