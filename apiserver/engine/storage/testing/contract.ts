import { describeGuards } from './contract-guards';
import { describeLists } from './contract-lists';
import { describeModel } from './contract-model';
import { describeRecords } from './contract-records';
import { describeWatches } from './contract-watches';
import { describeWatchesUnderLoad } from './contract-watches-under-load';
import type { BackendSetup } from './suite';
import { createSuite } from './suite';

/**
 * States every promise of `Backend` as a test and checks it on the store that `setup` opens. The store must belong to the suite
 * alone: it compacts, and it reads every revision. `setup` is called once for the suite and once for each test that closes a store.
 * `prefix` is the root of the keys the store serves (`/registry`); the suite writes foreign keys outside of it through the backend.
 * ORCH_E2E_SCALE=full makes the sizes larger; ORCH_CONTRACT_SEED repeats the random runs of a failure.
 */
export function describeBackendContract(name: string, setup: () => Promise<BackendSetup>): void {
  describe(`${name} keeps the promises of a backend`, () => {
    const suite = createSuite(setup);
    describeRecords(suite);
    describeGuards(suite);
    describeLists(suite);
    describeWatches(suite);
    describeWatchesUnderLoad(suite);
    describeModel(suite);
  });
}
