import { setTimeout as delay } from 'node:timers/promises';
import { configMap } from '../../support/objects';
import { eventually } from '../../../shared/testing/eventually';
import { checkRecord } from '../checks/check-epoch';
import type { Finding } from '../checks/finding';
import { prepare, startCandidates } from '../epoch';
import { callEtcd } from '../faults/etcd-call';
import { runList } from '../load/list-client';
import { startLoad } from '../load/load';
import { beginHistory } from '../record/begin-history';
import { viewOfId } from '../record/history';
import type { RunRecord } from '../record/operation';
import { newRecord } from '../record/operation';
import type { Rig } from '../rig';
import type { RunSize } from '../size';
import type { PlantedBug } from './bugs';

export interface PlantedRound {
  readonly rig: Rig;
  /** Undefined: no planted bug. */
  readonly bug: PlantedBug | undefined;
  readonly seed: number;
  /** Increasing: the clients of each round have their own numbers. */
  readonly round: number;
}

const SIZE: RunSize = {
  writers: 6,
  listers: 2,
  watchersPerView: 1,
  allocators: 0,
  candidates: 2,
  allInformers: false,
  faultMsMax: 0,
  pauseMsMax: 0,
  epochMs: 2_500,
  epochsMin: 1,
};

/** Runs load with the faults that expose the bug, then checks the record. */
export async function runPlantedRound({ rig, bug, seed, round }: PlantedRound): Promise<readonly Finding[]> {
  await prepare(rig);
  const { history, truth } = await beginHistory(rig.set.etcd);
  const record = newRecord();
  try {
    if (bug === 'old leader still writes') await letLeadersSleep(rig, record);
    else {
      const { clients, http2Clients } = rig;
      const firstClient = round * SIZE.writers;
      const load = startLoad({
        clients,
        http2Clients,
        record,
        seed: seed + round,
        size: SIZE,
        base: history.base,
        firstClient,
      });
      try {
        await makeTrouble(rig, { bug, record });
      } finally {
        await load.stop();
      }
    }
    const last = await rig.set.of(0).create(COLLECTION, configMap(`last-${String(round)}`));
    const version = Number(last.body.metadata?.resourceVersion);
    await eventually('the history is known', async () => Promise.resolve(truth.revision() >= version));
    return checkRecord(record, history);
  } finally {
    await truth.stop();
  }
}

/** Reconnection bugs appear if connections break while objects change. */
async function makeTrouble(
  { set, links, clients }: Rig,
  { bug, record }: { readonly bug: PlantedBug | undefined; readonly record: RunRecord },
): Promise<void> {
  await delay(SIZE.epochMs / 2);
  if (bug === 'event lost on reconnect' || bug === 'delete dropped at a compaction') {
    for (const name of MEANWHILE) await set.of(0).create(COLLECTION, configMap(name));
    const names = links.names().filter((name) => name.startsWith(`${set.replicas[1]?.name ?? ''} > `));
    for (const name of names) await links.set(name, { kind: 'cut' });
    const [member] = set.etcd.members;
    if (member !== undefined && bug === 'delete dropped at a compaction') {
      const { header } = await callEtcd(member, 'maintenance/status', {});
      // An old version that the replica has seen, so that it need not restart.
      const revision = Math.max(1, Number(header.revision) - COMPACTED_BACK);
      await callEtcd(member, 'kv/compaction', { revision: String(revision) });
    }
    for (const name of MEANWHILE) await set.of(0).delete(`${COLLECTION}/${name}`);
    for (const name of names) await links.set(name, { kind: 'whole' });
    const list = { view: VIEW, replicas: [1], limit: undefined, kind: 'most recent', back: 0 } as const;
    await eventually('the replica lists again', async () => {
      return (await runList(list, { replicas: clients, record, newest: 0 })) === 'done';
    });
  }
  // Watches that end with a bookmark take longer than a round.
  if (bug === 'bookmark too new') await delay(LONG_WATCH_MS);
  await delay(SIZE.epochMs / 2);
}

/** The duration of some watches in milliseconds: watches below two seconds end without a bookmark. */
const LONG_WATCH_MS = 4_000;
const COMPACTED_BACK = 50;
const COLLECTION = '/api/v1/namespaces/chaos-0/configmaps';
/** Deleted while the replica is disconnected. */
const MEANWHILE: readonly string[] = ['meanwhile-0', 'meanwhile-1', 'meanwhile-2'];
/** All config maps. */
const VIEW = viewOfId('configmaps');

/** The leader is frozen for longer than its lease; another takes over, and the first one resumes. */
async function letLeadersSleep(rig: Rig, record: RunRecord): Promise<void> {
  const candidates = startCandidates(rig, SIZE, record);
  try {
    const elections = (): number => record.leaders.filter(({ kind }) => kind === 'elected').length;
    await eventually('one is elected', async () => Promise.resolve(elections() > 0));
    const name = record.leaders.findLast(({ kind }) => kind === 'elected')?.candidate;
    const leader = candidates.find((each) => each.name === name);
    const before = elections();
    leader?.signal('SIGSTOP');
    await eventually('another is elected', async () => Promise.resolve(elections() > before));
    leader?.signal('SIGCONT');
    const woken = record.leaders.length;
    // Its own output, or part of the other's.
    await eventually('all have gone on', async () => Promise.resolve(record.leaders.length > woken + NOTES));
  } finally {
    for (const each of candidates) each.stop();
  }
}

const NOTES = 20;
