import { explained } from '../support/workspace';
import { isFullScale } from '../support/scale';
import { describeRun } from './report';
import { runRobustness } from './run';
import { FULL_SIZE, SMALL_SIZE } from './size';

/** Repeats the random choices of an earlier run: ORCH_E2E_SEED=<the number it printed>. */
const SEED = Number(process.env['ORCH_E2E_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** The small run ends after its second epoch. */
const DURATION_MS = isFullScale ? 20 * 60_000 : 0;

test(
  'responses under faults of all kinds, and after a replacement of the store, are consistent with its history',
  explained(async () => {
    process.stdout.write(`  seed ${String(SEED)}\n`);
    const report = await runRobustness({
      seed: SEED,
      durationMs: DURATION_MS,
      size: isFullScale ? FULL_SIZE : SMALL_SIZE,
      say: () => undefined,
    });
    process.stdout.write(`${describeRun(report).replaceAll(/^/gmu, '  ')}\n`);
    expect(report.findings).toEqual([]);
  }),
);
