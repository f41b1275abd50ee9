import { RESOURCE } from '../../shared/api/resource-names';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Condition } from '../../shared/api/types/meta-v1';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../shared/api/types/policy-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { keyOfObject } from '../../shared/informer/store';
import { matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import { formatTime, parseTime } from '../../shared/meta/time';
import { deepEqual } from '../../shared/object/clone';
import type { Int64 } from '../../shared/object/values';
import { scaledValue } from '../../shared/object/values';
import { selectorReader } from '../pods/children';
import { messageOf } from '../pods/pod-control';
import { hasEnded, isReady } from '../pods/pod-state';
import type { ControllerContext } from '../runtime/controller';
import { hasFeature } from '../runtime/controller-options';
import type { ReportEvent } from '../runtime/event-recorder';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { isBeingDeleted } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import { ExpectedPodCounter, UnknownScaleError } from './expected-pods';

/** How long an evicted pod counts as disrupted before its deletion is seen. */
const DELETION_TIMEOUT_MS = 120_000;
/** How long a pod may say that it is about to be disrupted without being deleted. */
const STALE_CONDITION_MS = 120_000;
const WORKERS = 5;
const BUDGET = { ...RESOURCE.poddisruptionbudgets, kind: 'PodDisruptionBudget' };
const POD = { ...RESOURCE.pods, kind: 'Pod' };
const DISRUPTION_TARGET = 'DisruptionTarget';

/** Keeps the status of PodDisruptionBudgets, by which the server allows evictions. */
export async function runDisruption(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  const { log, client, informers, options, createQueue } = context;
  const [queue, stalePods] = [createQueue(), createQueue()];
  const recorder = new EventRecorder({ client, clock, log });
  const report = recorder.reporterFor('controllermanager');
  const budgets = informers.of(RESOURCE.poddisruptionbudgets);
  const pods = informers.of(RESOURCE.pods);
  const selectorOf = selectorReader(({ spec }: PodDisruptionBudget) => toLabelSelector(spec.selector));
  const enqueue = (budget: PodDisruptionBudget): void => queue.add(keyOfObject(budget));
  budgets.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after) });
  const enqueueMatching = (pod: Pod): void => {
    const found = budgets.store
      .byIndex(INDEX.namespace, pod.metadata.namespace ?? '')
      .filter((budget) => matchesLabels(selectorOf(budget), pod.metadata.labels));
    found.forEach(enqueue);
    if (found.length > 1) reportSeveral(report, pod, found);
  };
  const hasConditions = hasFeature(options, 'PodDisruptionConditions');
  const noteTarget = (pod: Pod): void => {
    const waitMs = hasConditions ? msUntilStale(pod, clock.now()) : undefined;
    if (waitMs !== undefined) stalePods.addAfter(keyOfObject(pod), waitMs);
  };
  pods.addHandler({
    onAdd: (pod) => {
      enqueueMatching(pod);
      noteTarget(pod);
    },
    onUpdate: (before, after) => {
      if (!deepEqual(before.metadata.labels, after.metadata.labels)) enqueueMatching(before);
      enqueueMatching(after);
      noteTarget(after);
    },
    onDelete: enqueueMatching,
  });
  const counter = new ExpectedPodCounter(context);
  const podsOf = (budget: PodDisruptionBudget): readonly Pod[] =>
    pods.store
      .byIndex(INDEX.namespace, budget.metadata.namespace ?? '')
      .filter(({ metadata }) => matchesLabels(selectorOf(budget), metadata.labels));
  const controller = new BudgetController({ client, report, counter, clock, podsOf });
  const loop = { workers: WORKERS, log };
  await Promise.all([
    runInformedLoop(
      {
        ...loop,
        recorder,
        informers: [budgets, pods, ...counter.informers],
        queue,
        reconcile: async (key, stop) => controller.reconcile(budgets.store.get(key), stop),
      },
      signal,
    ),
    runInformedLoop(
      {
        ...loop,
        informers: [pods],
        queue: stalePods,
        reconcile: async (key, stop) => withdrawTarget({ client, clock }, pods.store.get(key), stop),
      },
      signal,
    ),
  ]);
}

function reportSeveral(report: ReportEvent, pod: Pod, budgets: readonly PodDisruptionBudget[]): void {
  const { namespace = '', name = '' } = pod.metadata;
  const chosen = JSON.stringify(budgets[0]?.metadata.name);
  const message = `Pod ${JSON.stringify(namespace)}/${JSON.stringify(name)} matches multiple PodDisruptionBudgets.  Chose ${chosen} arbitrarily.`;
  report(
    { resource: POD, object: pod },
    { type: 'Warning', reason: 'MultiplePodDisruptionBudgets', message },
  );
}

interface BudgetParts {
  readonly client: Client;
  readonly report: ReportEvent;
  readonly counter: ExpectedPodCounter;
  readonly clock: Clock;
  readonly podsOf: (budget: PodDisruptionBudget) => readonly Pod[];
}

class BudgetController {
  readonly #parts: BudgetParts;

  constructor(parts: BudgetParts) {
    this.#parts = parts;
  }

  async reconcile(
    budget: PodDisruptionBudget | undefined,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    if (budget === undefined) return undefined;
    try {
      return await this.#sync(budget, signal);
    } catch (error) {
      if (signal.aborted || hasCode(error, 409)) throw error;
      // An eviction that may be wrong is not allowed.
      const condition = {
        type: 'DisruptionAllowed',
        status: 'False',
        reason: 'SyncFailed',
        message: messageOf(error),
        ...observed(budget.status?.observedGeneration),
      };
      const status = { ...zeroStatus(budget.status), disruptionsAllowed: 0 };
      await this.#write(budget, withAllowed(status, condition, this.#parts.clock.now()), signal);
      // Upstream tries a failed request again at its next resync; there is none here.
      if (!(error instanceof UnknownScaleError)) throw error;
      return undefined;
    }
  }

  async #sync(budget: PodDisruptionBudget, signal: AbortSignal): Promise<Requeue | undefined> {
    const { clock, podsOf } = this.#parts;
    const pods = podsOf(budget);
    if (pods.length === 0) this.#report(budget, 'Normal', 'NoPods', 'No matching pods found');
    const { expectedPods, desiredHealthy } = await this.#expect(budget, pods, signal);
    const nowMs = clock.now();
    const { disruptedPods, recheckMs } = this.#disruptedPods(budget, pods, nowMs);
    const healthy = pods.filter(
      (pod) => !isBeingDeleted(pod) && !Object.hasOwn(disruptedPods, pod.metadata.name ?? '') && isReady(pod),
    );
    const allowed = expectedPods <= 0 ? 0 : Math.max(0, healthy.length - desiredHealthy);
    const { generation = 0 } = budget.metadata;
    const status = {
      ...zeroStatus(budget.status),
      currentHealthy: healthy.length,
      desiredHealthy,
      expectedPods,
      disruptionsAllowed: allowed,
      disruptedPods,
      observedGeneration: generation,
    };
    const condition = {
      type: 'DisruptionAllowed',
      status: allowed > 0 ? 'True' : 'False',
      reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      observedGeneration: generation,
    };
    await this.#write(budget, withAllowed(status, condition, nowMs), signal);
    return recheckMs === undefined ? undefined : { requeueAfterMs: recheckMs };
  }

  /** Returns how many pods there should be, and how many of them healthy (upstream `getExpectedPodCount`). */
  async #expect(
    budget: PodDisruptionBudget,
    pods: readonly Pod[],
    signal: AbortSignal,
  ): Promise<Pick<PodDisruptionBudgetStatus, 'expectedPods' | 'desiredHealthy'>> {
    const { minAvailable, maxUnavailable, selector } = budget.spec;
    if (maxUnavailable === undefined && typeof minAvailable !== 'string')
      return minAvailable === undefined
        ? { expectedPods: 0, desiredHealthy: 0 }
        : { expectedPods: pods.length, desiredHealthy: minAvailable };
    try {
      const { count, unmanaged } = await this.#parts.counter.count(pods, signal);
      if (unmanaged.length > 0) {
        const message = `Pods selected by this PodDisruptionBudget (selector: ${JSON.stringify(selector)}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.`;
        this.#report(budget, 'Warning', 'UnmanagedPods', message);
      }
      const desiredHealthy =
        maxUnavailable === undefined
          ? scaledValue(minAvailable, count, 'up')
          : Math.max(0, count - scaledValue(maxUnavailable, count, 'up'));
      return { expectedPods: count, desiredHealthy };
    } catch (error) {
      if (signal.aborted) throw error;
      const message = `Failed to calculate the number of expected pods: ${messageOf(error)}`;
      this.#report(budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
      throw error;
    }
  }

  /** Returns the evicted pods that are not deleted yet, and the milliseconds until the first of them counts as available again. */
  #disruptedPods(
    budget: PodDisruptionBudget,
    pods: readonly Pod[],
    nowMs: number,
  ): { readonly disruptedPods: Readonly<Record<string, string>>; readonly recheckMs: number | undefined } {
    const before = budget.status?.disruptedPods ?? {};
    const kept: [string, string][] = [];
    let recheckMs: number | undefined;
    for (const pod of pods) {
      const { name = '', namespace = '' } = pod.metadata;
      const time = Object.hasOwn(before, name) ? before[name] : undefined;
      if (isBeingDeleted(pod) || time === undefined || time === null) continue;
      const leftMs = (parseTime(time) ?? 0) + DELETION_TIMEOUT_MS - nowMs;
      if (leftMs < 0) {
        const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
        const about = { resource: POD, object: pod };
        this.#parts.report(about, { type: 'Warning', reason: 'NotDeleted', message });
        continue;
      }
      kept.push([name, time]);
      recheckMs = Math.min(recheckMs ?? leftMs, leftMs);
    }
    // A millisecond more, because a time that has just come is not past yet.
    return {
      disruptedPods: Object.fromEntries(kept),
      recheckMs: recheckMs === undefined ? undefined : recheckMs + 1,
    };
  }

  async #write(
    budget: PodDisruptionBudget,
    status: PodDisruptionBudgetStatus,
    signal: AbortSignal,
  ): Promise<void> {
    if (deepEqual(normalized(budget.status), normalized(status))) return;
    await this.#parts.client.updateStatus(RESOURCE.poddisruptionbudgets, { ...budget, status }, { signal });
  }

  #report(object: PodDisruptionBudget, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#parts.report({ resource: BUDGET, object }, { type, reason, message });
  }
}

function zeroStatus(status: PodDisruptionBudgetStatus | undefined): PodDisruptionBudgetStatus {
  return { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0, ...status };
}

function observed(generation: Int64 | undefined): Pick<Condition, 'observedGeneration'> {
  return generation === undefined ? {} : { observedGeneration: generation };
}

/** Sets the condition, in its place (`SetStatusCondition`). */
function withAllowed(
  status: PodDisruptionBudgetStatus,
  condition: Omit<Condition, 'lastTransitionTime'>,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const { conditions = [] } = status;
  const current = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime =
    current?.status === condition.status ? current.lastTransitionTime : formatTime(nowMs);
  const next = { ...condition, lastTransitionTime };
  return {
    ...status,
    conditions:
      current === undefined
        ? [...conditions, next]
        : conditions.map((each) => (each === current ? next : each)),
  };
}

/** The server leaves an empty map out. */
function normalized({ disruptedPods = {}, ...rest }: Partial<PodDisruptionBudgetStatus> = {}): object {
  return { ...rest, disruptedPods };
}

/** Returns how long a pod that is not deleted may still say that it is about to be; undefined if it does not say so. */
function msUntilStale(pod: Pod, nowMs: number): number | undefined {
  const condition = pod.status?.conditions?.find(({ type }) => type === DISRUPTION_TARGET);
  if (isBeingDeleted(pod) || hasEnded(pod) || condition?.status !== 'True') return undefined;
  if (condition.reason === 'TerminationByKubelet') return undefined;
  return Math.max(0, (parseTime(condition.lastTransitionTime ?? '') ?? 0) + STALE_CONDITION_MS - nowMs);
}

/** Takes back what a pod says that was not deleted in time (upstream `syncStalePodDisruption`). */
async function withdrawTarget(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  pod: Pod | undefined,
  signal: AbortSignal,
): Promise<Requeue | undefined> {
  const waitMs = pod && msUntilStale(pod, clock.now());
  if (pod === undefined || waitMs === undefined) return undefined;
  if (waitMs > 0) return { requeueAfterMs: waitMs };
  const time = formatTime(clock.now());
  const conditions = (pod.status?.conditions ?? []).map((each) =>
    each.type === DISRUPTION_TARGET
      ? { type: each.type, status: 'False', lastProbeTime: null, lastTransitionTime: time }
      : each,
  );
  await client.updateStatus(RESOURCE.pods, { ...pod, status: { ...pod.status, conditions } }, { signal });
  return undefined;
}
