import { eventually } from '../../../shared/testing/eventually';
import { informerFaults } from '../../list-watch/chaos/informer-faults';
import type { JournalReport } from '../../list-watch/chaos/journal';
import type { Truth } from '../../list-watch/chaos/truth';
import type { ApiClient } from '../../support/client';
import { configMap, namespace } from '../../support/objects';
import { answered } from '../answered';
import { startEnded } from '../faults/perform';
import { QUOTA } from '../load/allocations';
import type { History } from '../record/history';
import type { RunRecord } from '../record/operation';
import type { Rig } from '../rig';
import { checkAddresses, checkQuota } from './allocations';
import type { Finding } from './finding';
import { checkLeaders } from './leaders';
import { checkAges, checkLists } from './lists';
import { checkObjects } from './objects';
import { checkWatches } from './watches';

export interface EpochEvidence {
  readonly rig: Rig;
  readonly record: RunRecord;
  readonly history: History;
  readonly truth: Truth;
  readonly reports: readonly JournalReport[];
}

/** Runs all checks on a record and on the current set. */
export async function checkEpoch({
  rig,
  record,
  history,
  truth,
  reports,
}: EpochEvidence): Promise<readonly Finding[]> {
  return [
    ...checkRecord(record, history),
    ...reports
      .flatMap((report) => informerFaults(report, truth))
      .map((text): Finding => ({ check: 'informers equal the store', text })),
    ...(await checkSelfChecks(rig)),
    ...(await checkControllers(rig)),
  ];
}

/** The checks that need only the record. */
export function checkRecord(record: RunRecord, history: History): readonly Finding[] {
  return [
    ...checkObjects(record.objects, history),
    ...checkAges(record.ages, history),
    ...checkLists(record.lists, record.objects, history),
    ...checkWatches(record.watches, history),
    ...checkLeaders(record.leaders),
    ...checkAddresses(history),
    ...checkQuota(history, [QUOTA]),
  ];
}

/** Replicas compare their caches with the store; none may have found a difference since its start. */
async function checkSelfChecks({ set }: Rig): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [index, { name }] of set.replicas.entries()) {
    const different = await countOf(set.of(index), 'different');
    if (different > 0) {
      const text = `${name} found ${String(different)} times that its cache differs from the store`;
      findings.push({ check: 'replicas find no difference', text });
    }
  }
  return findings;
}

async function countOf(client: ApiClient, outcome: string): Promise<number> {
  const { text } = await answered('/metrics', async () => client.get('/metrics'));
  const name = `apiserver_watch_cache_checks_total{outcome="${outcome}"`;
  const line = text.split('\n').find((each) => each.startsWith(name));
  return Number((line ?? '0').split(' ').at(-1));
}

/** A namespace with content is removed, so one controller-manager leads and works. */
async function checkControllers({ set }: Rig): Promise<readonly Finding[]> {
  if (set.controllerManagers.length === 0) return [];
  const name = `swept-${String(Date.now())}`;
  const path = `/api/v1/namespaces/${name}`;
  const { client } = set;
  const answers = [
    await answered(name, async () => client.create('/api/v1/namespaces', namespace(name))),
    await answered(name, async () => client.create(`${path}/configmaps`, configMap('one'))),
    await answered(name, async () => client.delete(path)),
  ];
  // A repeated call had already succeeded the first time.
  const refused = answers.find(({ status }) => status >= 300 && status !== 404 && status !== 409);
  if (refused !== undefined) return [{ check: 'controllers go on', text: `${path}: ${refused.text}` }];
  try {
    await eventually('the namespace is gone', async () => {
      await startEnded(set.controllerManagers);
      return (await answered(name, async () => client.get(path))).status === 404;
    });
    return [];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [{ check: 'controllers go on', text: `the deleted namespace ${name} does not go: ${why}` }];
  }
}
