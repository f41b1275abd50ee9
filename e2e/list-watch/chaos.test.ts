import { eventually, PATIENCE_MS } from '../../shared/testing/eventually';
import type { Body } from '../support/client';
import { configMap, defaultServiceAccount, namespace } from '../support/objects';
import { isFullScale, sized } from '../support/scale';
import { suiteHaSet } from '../support/suite';
import { explained } from '../support/workspace';
import type { Damage } from './chaos/damage';
import { startDamage } from './chaos/damage';
import { informerFaults, ownRelists } from './chaos/informer-faults';
import type { InformerProcess } from './chaos/informer-process';
import { startInformerProcess } from './chaos/informer-process';
import type { InformerTarget } from './chaos/informer-program';
import type { JournalReport } from './chaos/journal';
import { digestOf } from './chaos/journal';
import type { WriteReport } from './chaos/random-writes';
import { writeAtRandom } from './chaos/random-writes';
import { createRandom } from './chaos/seeded-random';
import type { Truth } from './chaos/truth';
import { followTruth } from './chaos/truth';
import { labelSelectorOf, NAMESPACES, pathOf, VIEWS } from './chaos/views';

/** ORCH_E2E_SEED=<the number that a run printed> repeats its random choices. Concurrency stays random. */
const SEED = Number(process.env['ORCH_E2E_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const WRITES = Number(process.env['ORCH_E2E_WRITES'] ?? sized({ full: 200_000, small: 2_000 }));
const WRITERS = 16;
const PROGRESS_EVERY = 20_000;

describe('three replicas behind a balancer, on three etcd members', () => {
  let truth: Truth;
  let damage: Damage;
  const processes: InformerProcess[] = [];
  afterAll(async () => {
    // After a failure the faults must not restart programs that are being stopped.
    await damage?.end().catch(() => undefined);
    for (const each of processes) each.kill();
    await truth?.stop().catch(() => undefined);
  });
  const set = suiteHaSet({
    replicas: 3,
    etcd: 3,
    balancer: true,
    controllerManagers: 0,
    dialect: 'kubernetes',
    extraArgs: ['--cache-check-interval=10s'],
  });

  test(
    'after random writes under kill -9, frozen processes and store restarts every informer equals etcd, and received each change once and in order',
    explained(async () => {
      process.stdout.write(`  seed ${String(SEED)}\n`);
      for (const name of NAMESPACES) {
        expect((await set.of(0).create('/api/v1/namespaces', namespace(name))).status).toBe(201);
        const accounts = `/api/v1/namespaces/${name}/serviceaccounts`;
        expect((await set.of(0).create(accounts, defaultServiceAccount())).status).toBe(201);
      }
      const base = Number((await set.of(0).get('/api/v1/namespaces')).body.metadata?.resourceVersion);
      truth = await followTruth(set.etcd, base);
      await startInformers(base);

      damage = startDamage({
        set,
        random: createRandom(SEED + 1),
        replicaSleepMsMax: sized({ full: 8_000, small: 2_000 }),
        memberSleepMsMax: sized({ full: 6_000, small: 2_000 }),
        pauseMsMax: sized({ full: 3_000, small: 1_000 }),
      });
      const started = performance.now();
      const written = await Promise.race([
        writeAtRandom({
          clients: [...[0, 1, 2].map((index) => set.of(index)), set.client],
          random: createRandom(SEED),
          acknowledged: WRITES,
          concurrency: WRITERS,
          onAcknowledged: (count) => {
            if (count % PROGRESS_EVERY === 0)
              process.stdout.write(`  ${String(count)} writes acknowledged\n`);
          },
        }),
        damage.failed,
      ]);
      await damage.end();
      const seconds = (performance.now() - started) / 1_000;

      const last = await set
        .of(0)
        .create(pathOf({ group: '', version: 'v1', resource: 'configmaps' }, 'chaos-0'), configMap('last'));
      expect(last.status).toBe(201);
      await eventually('the whole history of etcd is read', async () =>
        Promise.resolve(truth.revision() >= Number(last.body.metadata?.resourceVersion)),
      );
      const reports = await finishInformers();
      print({ written, seconds, damage, reports });

      expectStored(written);
      const faults = reports.flatMap((report) => [...informerFaults(report, truth), ...ownRelists(report)]);
      expect(faults).toEqual([]);
      await expectEqualAnswers(reports);
      await expectNoReplicaDiffers();
    }),
  );

  /** Starts our own informers through the balancer and through each replica, and those of the library through one. */
  async function startInformers(base: number): Promise<void> {
    const replicas = set.replicas.map(({ name, kubeconfig }): InformerTarget => ({ name, kubeconfig }));
    const balancer: InformerTarget = { name: 'balancer', kubeconfig: set.kubeconfig };
    const own = VIEWS.flatMap((view) => [...replicas, balancer].map((target) => [view, target] as const));
    const others = VIEWS.flatMap((view, index) =>
      [replicas[index % replicas.length] ?? balancer, balancer].map((target) => [view, target] as const),
    );
    processes.push(await startInformerProcess('own-informers', { pairs: own, base }));
    processes.push(await startInformerProcess('client-node-informers', { pairs: others, base }));
  }

  async function finishInformers(): Promise<readonly JournalReport[]> {
    const versions = Object.fromEntries(VIEWS.map((view) => [view.id, truth.view(view).revisions.newest]));
    const finished = processes.map(async (each) => each.finish({ versions, deadlineMs: PATIENCE_MS }));
    return (await Promise.all(finished)).flat();
  }

  /** Checks that no acknowledged write is missing in the history of etcd. */
  function expectStored({ versions, deletions }: WriteReport): void {
    for (const [resource, acknowledged] of versions) {
      const { revisions } = truth.resource(resource);
      expect([resource, acknowledged.filter((version) => !revisions.has(version))]).toEqual([resource, []]);
      expect(new Set(acknowledged).size).toBe(acknowledged.length);
      expect(truth.resource(resource).deletions).toBeGreaterThanOrEqual(deletions.get(resource)?.size ?? 0);
    }
  }

  /** Checks that each replica lists the objects of the informers, with all fields where these keep all. */
  async function expectEqualAnswers(reports: readonly JournalReport[]): Promise<void> {
    for (const view of VIEWS) {
      const selector = labelSelectorOf(view);
      const query = selector === undefined ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
      const path = `${pathOf(view, view.namespace)}${query}`;
      const answers = await Promise.all([0, 1, 2].map(async (index) => set.of(index).get(path)));
      const [truthful = new Map<string, Body>(), ...others] = answers.map(({ body }) =>
        byUid(body.items ?? []),
      );
      for (const other of others) expect(other).toEqual(truthful);
      for (const { informer, objects } of reports.filter((each) => each.view === view.id)) {
        const differing = objects.filter(({ uid, turn, digest }) => {
          const item = truthful.get(uid);
          if (item === undefined || (item.metadata?.annotations?.['turn'] ?? '') !== turn) return true;
          return digest !== undefined && digest !== digestOf(item);
        });
        expect([informer, view.id, objects.length, differing]).toEqual([
          informer,
          view.id,
          truthful.size,
          [],
        ]);
      }
    }
  }

  /** Checks that no replica has found a difference between its cache and the store. */
  async function expectNoReplicaDiffers(): Promise<void> {
    for (const index of [0, 1, 2]) {
      const checks = async (outcome: string): Promise<number> => {
        const { text } = await set.of(index).get('/metrics');
        const name = `apiserver_watch_cache_checks_total{outcome="${outcome}"`;
        const line = text.split('\n').find((each) => each.startsWith(name));
        return Number((line ?? '').split(' ').at(-1));
      };
      await eventually('the replica has compared its cache', async () => (await checks('equal')) > 0);
      expect(await checks('different')).toBe(0);
    }
  }

  function print(run: {
    readonly written: WriteReport;
    readonly seconds: number;
    readonly damage: Damage;
    readonly reports: readonly JournalReport[];
  }): void {
    const {
      written,
      seconds,
      damage: { done },
      reports,
    } = run;
    const kinds = ['own', 'client-node'].map((kind) => {
      const of = reports.filter(({ informer }) => informer.startsWith(kind));
      const sum = (value: (report: JournalReport) => number): string =>
        String(of.reduce((total, report) => total + value(report), 0));
      return `${sum(() => 1)} ${kind} informers: ${sum(({ events }) => events)} events, ${sum(({ watches }) => watches)} watches, ${sum(({ relists }) => relists.length)} lists after the first`;
    });
    const total = Object.values(written.acknowledged).reduce((sum, count) => sum + count, 0);
    const lines = [
      `${String(total)} writes acknowledged in ${seconds.toFixed(0)} s: ${counts(written.acknowledged)}; ${String(written.refused)} refused, ${String(written.unknown)} of unknown outcome`,
      `damage: ${counts(done)}`,
      ...kinds,
      ...(isFullScale ? [`watches failed with: ${counts(failuresOf(reports))}`] : []),
    ];
    process.stdout.write(lines.map((line) => `  ${line}\n`).join(''));
  }
});

function failuresOf(reports: readonly JournalReport[]): Readonly<Record<string, number>> {
  const all: Record<string, number> = {};
  for (const { failures } of reports) {
    for (const [reason, count] of Object.entries(failures)) all[reason] = (all[reason] ?? 0) + count;
  }
  return all;
}

function counts(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([what, count]) => `${String(count)} × ${what}`)
    .join(', ');
}

function byUid(items: readonly Body[]): ReadonlyMap<string, Body> {
  return new Map(items.map((item) => [item.metadata?.uid ?? '', item]));
}
