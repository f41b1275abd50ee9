import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { modulesPath, repositoryRoot } from '../../deploy/local/repository';
import { explained } from '../support/workspace';
import type { PlantedBug } from './planted/bugs';
import { PLANTED_BUG_NAMES, PLANTED_BUGS } from './planted/bugs';
import { runPlantedRound } from './planted/planted-round';
import type { Rig } from './rig';
import { startRig } from './rig';

const PLANT = path.join(repositoryRoot, 'dist', 'e2e', 'robustness', 'planted', 'plant.js');
/** A random round may miss the bug. */
const ROUNDS_MAX = 12;
const SEED = 14;
/** The replica with the bug; the others have none. */
const PLANTED_REPLICA = 1;

describe('two replicas, one of them with a planted bug', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-planted-'));
  const bugFile = path.join(dir, 'bug');
  let rig: Rig;
  let round = 0;

  beforeAll(
    explained(async () => {
      writeFileSync(bugFile, '');
      const sound = { nodeFlags: [], env: {} };
      const planted = {
        nodeFlags: ['--require', PLANT],
        env: { ORCH_PLANTED_BUG_FILE: bugFile },
        program: modulesPath('apiserver'),
      };
      rig = await startRig({
        replicas: 2,
        etcd: 1,
        balancer: false,
        controllerManagers: 0,
        processOf: (name) => (/^(?:apiserver-1|candidate-\d+)$/u.test(name) ? planted : sound),
      });
    }),
  );
  afterAll(async () => {
    await rig?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function plant(bug: PlantedBug | ''): Promise<void> {
    writeFileSync(bugFile, bug);
    await rig.set.replicas[PLANTED_REPLICA]?.restart();
  }

  test(
    'without a bug nothing is found',
    explained(async () => {
      expect(await runPlantedRound({ rig, bug: undefined, seed: SEED, round: round++ })).toEqual([]);
    }),
  );

  test.each(PLANTED_BUG_NAMES)('%s is found, by the checks that are made for it', async (bug) => {
    await explained(async () => {
      await plant(bug);
      const made: readonly string[] = PLANTED_BUGS[bug];
      const seen = new Set<string>();
      // Other checks may also find the bug, and earlier: rounds continue until a check that is listed for it does.
      for (let tries = 0; !made.some((check) => seen.has(check)) && tries < ROUNDS_MAX; tries++) {
        for (const { check } of await runPlantedRound({ rig, bug, seed: SEED, round: round++ }))
          seen.add(check);
      }
      process.stdout.write(`  ${bug}: ${[...seen].join(', ')}\n`);
      expect([bug, made.filter((check) => seen.has(check))]).not.toEqual([bug, []]);
    })();
  });
});
