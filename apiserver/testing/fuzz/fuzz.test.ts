import path from 'node:path';
import { seededRandom } from '../../../shared/testing/random';
import { keptInputs } from './corpus';
import { runTarget } from './run-target';
import { TARGETS } from './targets';

const CORPUS = path.join(__dirname, 'corpus');
/** A fixed seed; `npm run fuzz` explores further. */
const SEED = 20_210_408;

test.each(TARGETS.map((target) => [target.name, target] as const))(
  '%s: every corpus input and its mutations are decoded or refused',
  async (_name, target) => {
    const { check, close } = await target.open();
    try {
      const kept = keptInputs(path.join(CORPUS, target.corpus));
      expect(kept).not.toEqual([]);
      const goesOn = (tried: number): boolean => tried < target.runs;
      const { findings } = await runTarget(target, check, {
        kept,
        random: seededRandom(SEED),
        goesOn,
        findingsMax: 5,
      });
      expect(
        findings.map(({ origin, input, problem }) => `${origin}: ${input.toString('latin1')}\n${problem}`),
      ).toEqual([]);
    } finally {
      await close?.();
    }
  },
);
