import { setTimeout as delay } from 'node:timers/promises';
import { eventually, PATIENCE_MS } from '../../shared/testing/eventually';
import type { InformerProcess } from '../list-watch/chaos/informer-process';
import { startInformerProcess } from '../list-watch/chaos/informer-process';
import type { JournalReport } from '../list-watch/chaos/journal';
import type { Truth } from '../list-watch/chaos/truth';
import { NAMESPACES, VIEWS } from '../list-watch/chaos/views';
import type { HaSet } from '../support/ha-set';
import { configMap, defaultServiceAccount, namespace } from '../support/objects';
import { checkEpoch } from './checks/check-epoch';
import { answered } from './answered';
import type { Finding } from './checks/finding';
import { performFault, startEnded } from './faults/perform';
import type { Fault, FaultKind } from './faults/schedule';
import { QUOTA_NAMESPACE, quotaObject } from './load/allocations';
import type { Candidate } from './load/elected';
import { startCandidate } from './load/elected';
import { runList } from './load/list-client';
import type { Load } from './load/load';
import { startLoad } from './load/load';
import { beginHistory } from './record/begin-history';
import type { History } from './record/history';
import type { RunRecord } from './record/operation';
import { newRecord } from './record/operation';
import type { Rig } from './rig';
import type { RunSize } from './size';

export interface EpochOptions {
  readonly rig: Rig;
  readonly size: RunSize;
  readonly seed: number;
  /** Counts from 0. */
  readonly number: number;
  readonly nextFault: () => Fault;
  readonly say: (text: string) => void;
  /** Called in the middle of the epoch, while clients run. */
  readonly halfway: () => Promise<void>;
}

export interface EpochReport {
  readonly findings: readonly Finding[];
  readonly record: RunRecord;
  readonly history: History;
  readonly faults: FaultCounts;
  readonly load: Pick<Load, 'outcomes' | 'lists' | 'allocations'>;
  readonly informerEvents: number;
}

type FaultCounts = Readonly<Partial<Record<FaultKind, number>>>;

/** The time between two replacements of the store: load and faults, then quiet, then the checks of the record. */
export async function runEpoch(options: EpochOptions): Promise<EpochReport> {
  const { rig, size, seed, number, say } = options;
  await startEnded(rig.set.controllerManagers);
  await prepare(rig);
  const { history, truth, offset } = await beginHistory(rig.set.etcd);
  const record = newRecord();
  const informers: InformerProcess[] = [];
  const candidates: Candidate[] = [];
  try {
    informers.push(...(await startInformers(rig, size, history.base)));
    candidates.push(...startCandidates(rig, size, record));
    const load = startLoad({
      clients: rig.clients,
      http2Clients: rig.http2Clients,
      record,
      seed: seed + number * SEED_STEP,
      size,
      base: history.base,
      firstClient: (number % EPOCHS_DIFFERENT) * size.writers,
    });
    let faults: FaultCounts;
    try {
      faults = await breakThings(options, { history, candidates, offset });
    } finally {
      await load.stop();
    }
    for (const candidate of candidates) candidate.stop();
    say(`epoch ${String(number)}: quiet; ${String(record.objects.length)} answers to check`);
    const reports = await settle(rig, { truth, history, record, informers, number });
    const findings = await checkEpoch({ rig, record, history, truth, reports });
    const informerEvents = reports.reduce((sum, { events }) => sum + events, 0);
    return { findings, record, history, faults, load, informerEvents };
  } finally {
    for (const candidate of candidates) candidate.stop();
    for (const each of informers) each.kill();
    await truth.stop().catch(() => undefined);
  }
}

const SEED_STEP = 100_000;
/** Turns of two epochs may only be equal if the store was replaced between them. */
const EPOCHS_DIFFERENT = 50;
const CREATED: readonly number[] = [201, 409];

/** Creates the namespaces with their objects; existing ones of an older store stay unchanged. */
export async function prepare({ set }: Pick<Rig, 'set'>): Promise<void> {
  const create = async (path: string, body: object): Promise<void> => {
    await eventually(`${path} has what was created`, async () => {
      const answer = await answered(path, async () => set.of(0).create(path, body));
      return CREATED.includes(answer.status);
    });
  };
  for (const name of [...NAMESPACES, QUOTA_NAMESPACE]) {
    await create('/api/v1/namespaces', namespace(name));
    await create(`/api/v1/namespaces/${name}/serviceaccounts`, defaultServiceAccount());
  }
  await create(`/api/v1/namespaces/${QUOTA_NAMESPACE}/resourcequotas`, quotaObject());
  await create(`/api/v1/namespaces/${ELECTION_NAMESPACE}/configmaps`, configMap('led'));
  if (set.controllerManagers.length > 0) await quotaLimits(set);
}

/** A quota has no effect before the controller-manager has computed its usage. */
async function quotaLimits({ client, controllerManagers }: HaSet): Promise<void> {
  await eventually('the quota limits something', async () => {
    await startEnded(controllerManagers);
    const path = `/api/v1/namespaces/${QUOTA_NAMESPACE}/resourcequotas/few`;
    const { body } = await answered(path, async () => client.get(path));
    const { used = {} } = (body.status ?? {}) as { readonly used?: object };
    return Object.keys(used).length > 0;
  });
}

const ELECTION_NAMESPACE = NAMESPACES[0] ?? '';

async function startInformers(rig: Rig, size: RunSize, base: number): Promise<readonly InformerProcess[]> {
  const { kubeconfigs } = rig;
  const through = (index: number): (typeof kubeconfigs)[number] => {
    const target = kubeconfigs[index % kubeconfigs.length];
    if (target === undefined) throw new Error('There is nothing to connect to.');
    return target;
  };
  const one = VIEWS.map((view, index) => [view, through(index)] as const);
  if (!size.allInformers) return [await startInformerProcess('own-informers', { pairs: one, base })];
  const all = VIEWS.flatMap((view) => kubeconfigs.map((target) => [view, target] as const));
  const pairs = [...one, ...VIEWS.map((view, index) => [view, through(index + 1)] as const)];
  return [
    await startInformerProcess('own-informers', { pairs: all, base }),
    await startInformerProcess('client-node-informers', { pairs, base }),
  ];
}

export function startCandidates(rig: Rig, size: RunSize, record: RunRecord): readonly Candidate[] {
  return Array.from({ length: size.candidates }, (_, index) => {
    const name = `candidate-${String(index)}`;
    const kubeconfig = rig.kubeconfigs[index % rig.kubeconfigs.length]?.kubeconfig ?? '';
    return startCandidate({
      name,
      kubeconfig,
      namespace: ELECTION_NAMESPACE,
      ...rig.candidateProcessOf(name),
      onNote: (note) => record.leaders.push(note),
    });
  });
}

interface BreakingParts {
  readonly history: History;
  readonly candidates: readonly Candidate[];
  readonly offset: number;
}

/** Injects faults until the time is over; each begins when the previous one is repaired. */
async function breakThings(
  { rig, size, nextFault, halfway, say, number }: EpochOptions,
  { history, candidates, offset }: BreakingParts,
): Promise<FaultCounts> {
  const done: Partial<Record<FaultKind, number>> = {};
  const startedAt = performance.now();
  let isHalfwayDone = false;
  while (performance.now() - startedAt < size.epochMs) {
    if (!isHalfwayDone && performance.now() - startedAt > size.epochMs / 2) {
      isHalfwayDone = true;
      await halfway();
    }
    const fault = nextFault();
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    say(`epoch ${String(number)}, ${seconds} s: ${fault.kind}`);
    await performFault(fault, {
      set: rig.set,
      links: rig.links,
      candidates,
      clocks: rig.clocks,
      compactable: () => history.revision - offset,
    });
    await startEnded(rig.set.controllerManagers);
    done[fault.kind] = (done[fault.kind] ?? 0) + 1;
    await delay(fault.pauseMs);
  }
  return done;
}

interface Settling {
  readonly truth: Truth;
  readonly history: History;
  readonly record: RunRecord;
  readonly informers: readonly InformerProcess[];
  readonly number: number;
}

/** All clients catch up; then each replica lists each view once more. */
async function settle(
  rig: Rig,
  { truth, history, record, informers, number }: Settling,
): Promise<readonly JournalReport[]> {
  let last = 0;
  await eventually('a last write is acknowledged', async () => {
    const path = `/api/v1/namespaces/${ELECTION_NAMESPACE}/configmaps`;
    const { status, body } = await answered(path, async () =>
      rig.set.of(0).create(path, configMap(`last-${String(number)}-${String(Date.now())}`)),
    );
    last = Number(body.metadata?.resourceVersion);
    return status === 201;
  });
  await eventually("the store's history is known", async () => Promise.resolve(truth.revision() >= last));
  const versions = Object.fromEntries(VIEWS.map((view) => [view.id, truth.view(view).revisions.newest]));
  const reports = await Promise.all(
    informers.map(async (each) => each.finish({ versions, deadlineMs: PATIENCE_MS })),
  );
  for (const view of VIEWS) {
    for (const replica of rig.clients.keys()) {
      const drawn = { view, replicas: [replica], limit: undefined, kind: 'most recent', back: 0 } as const;
      await eventually(`replica ${String(replica)} lists ${view.id}`, async () => {
        const outcome = await runList(drawn, { replicas: rig.clients, record, newest: last });
        return outcome === 'done';
      });
    }
  }
  // The work of the controllers meanwhile.
  await eventually("the store's history is known", async () => {
    const newest = Math.max(...record.lists.map(({ versions: [version = 0] }) => version));
    return Promise.resolve(truth.revision() >= newest && history.revision >= newest);
  });
  return reports.flat();
}
