import { isInForce } from '../../shared/api/changes';
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from '../../shared/api/types/apps-v1';
import type { Pod, PodTemplateSpec } from '../../shared/api/types/core-v1';
import { scaledValue } from '../../shared/object/values';
import { asError, startSlowly } from '../pods/pod-control';
import { hasEnded, isAvailable } from '../pods/pod-state';
import { rememberedTemplate } from '../pods/revisions';
import { isBeingDeleted } from '../runtime/owner';
import type { StatefulControl } from './stateful-control';
import type { Slot } from './stateful-pods';
import {
  desiredCount,
  firstOrdinal,
  isRunningAndReady,
  isUnavailable,
  isWanted,
  ordinalOf,
  revisionOfPod,
  slotsOf,
} from './stateful-pods';

export interface StatefulInput {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  /** Of which the pods are that are not updated yet. */
  readonly current: ControllerRevision;
  /** Of which the pods are to be. */
  readonly update: ControllerRevision;
  readonly collisionCount: number | undefined;
  readonly nowMs: number;
  /** Whether several pods may be updated at once, by `maxUnavailable`. */
  readonly allowsMaxUnavailable: boolean;
}

export interface StatefulOutcome {
  readonly status: StatefulSetStatus;
  readonly error: unknown;
}

/** Whether the pass has to end after a step of an ordered set. */
type Step = 'continue' | 'stop';

/** One pass over the pods of a StatefulSet: at most one step for an ordered one (upstream `updateStatefulSet`). */
export class StatefulPass {
  readonly #control: StatefulControl;
  readonly #input: StatefulInput;
  readonly #isOrdered: boolean;
  /** Pods deleted for an update in this pass, which the status no longer counts as current. */
  #replaced = 0;

  constructor(control: StatefulControl, input: StatefulInput) {
    this.#control = control;
    this.#input = input;
    this.#isOrdered = input.set.spec.podManagementPolicy !== 'Parallel';
  }

  /** Returns the status after the pass, and what failed. */
  async run(signal: AbortSignal): Promise<StatefulOutcome> {
    let error: unknown;
    try {
      if (!isBeingDeleted(this.#input.set)) await this.#step(signal);
    } catch (failure) {
      if (signal.aborted) throw failure;
      error = failure;
    }
    return { status: this.#status(), error };
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { set, pods } = this.#input;
    const slots = slotsOf(set, pods);
    const condemned = pods
      .filter((pod) => ordinalOf(pod) >= 0 && !isWanted(ordinalOf(pod), set))
      .sort((a, b) => ordinalOf(b) - ordinalOf(a));
    const firstUnavailable = this.#firstUnavailable(slots, condemned);
    const isEnd =
      (await this.#forAll(slots, async (slot) => this.#keep(slot, signal))) === 'stop' ||
      (await this.#forAll(condemned, async (pod) => {
        await this.#control.conformClaims(pod, signal);
        return 'continue';
      })) === 'stop' ||
      (await this.#forAll(condemned, async (pod) => this.#condemn(pod, firstUnavailable, signal))) === 'stop';
    const isPartial = slots.length < desiredCount(set);
    if (!isEnd && !isPartial && set.spec.updateStrategy.type !== 'OnDelete')
      await this.#update(slots, signal);
  }

  /** One after the other until a step ends the pass, or in batches that grow. */
  async #forAll<T>(items: readonly T[], act: (item: T) => Promise<Step>): Promise<Step> {
    if (this.#isOrdered) {
      for (const item of items) if ((await act(item)) === 'stop') return 'stop';
      return 'continue';
    }
    const { error } = await startSlowly(items.length, async (index) => {
      const item = items[index];
      if (item !== undefined) await act(item);
    });
    if (error !== undefined) throw asError(error);
    return 'continue';
  }

  /** Brings the pod of a wanted ordinal up (upstream `processReplica`). */
  async #keep({ ordinal, pod }: Slot, signal: AbortSignal): Promise<Step> {
    if (pod === undefined) {
      if (!this.#control.hasStaleClaim(ordinal))
        await this.#control.create({ ordinal, ...this.#planOf(ordinal) }, signal);
      return 'stop';
    }
    if (hasEnded(pod)) {
      if (!isBeingDeleted(pod)) await this.#control.delete(pod, signal);
      return 'stop';
    }
    if (pod.status?.phase === 'Pending') await this.#control.createMissingClaims(pod, signal);
    const { minReadySeconds = 0 } = this.#input.set.spec;
    const isUp =
      !isBeingDeleted(pod) && isRunningAndReady(pod) && isAvailable(pod, minReadySeconds, this.#input.nowMs);
    if (this.#isOrdered && !isUp) return 'stop';
    await this.#control.conform(pod, signal);
    return 'continue';
  }

  /** Pods below the partition are made of the current revision (upstream `newVersionedStatefulSetPod`). */
  #planOf(ordinal: number): {
    readonly template: PodTemplateSpec;
    readonly revision: string;
  } {
    const { set, current, update } = this.#input;
    const { type, rollingUpdate } = set.spec.updateStrategy;
    const isRolling = type === 'RollingUpdate';
    const kept =
      rollingUpdate === undefined
        ? isRolling
          ? (set.status?.currentReplicas ?? 0)
          : 0
        : (rollingUpdate.partition ?? 0);
    const revision = ordinal < firstOrdinal(set) + kept ? current : update;
    return {
      template: rememberedTemplate(revision) ?? set.spec.template,
      revision: revision.metadata.name ?? '',
    };
  }

  #firstUnavailable(slots: readonly Slot[], condemned: readonly Pod[]): Pod | undefined {
    const { set, nowMs } = this.#input;
    const slot = slots.find(({ pod }) => isUnavailable(pod, set, nowMs));
    if (slot !== undefined) return slot.pod;
    return condemned.findLast((pod) => isUnavailable(pod, set, nowMs));
  }

  /** Takes a pod down that the set no longer asks for (upstream `processCondemned`). */
  async #condemn(pod: Pod, firstUnavailable: Pod | undefined, signal: AbortSignal): Promise<Step> {
    if (isBeingDeleted(pod)) return this.#isOrdered ? 'stop' : 'continue';
    const { set, nowMs } = this.#input;
    const isUp = isRunningAndReady(pod) && !isUnavailable(pod, set, nowMs);
    if (this.#isOrdered && !isUp && pod !== firstUnavailable) return 'stop';
    await this.#control.delete(pod, signal);
    return 'stop';
  }

  /** Deletes pods of other revisions, which come back with the new one, from the highest ordinal down. */
  async #update(slots: readonly Slot[], signal: AbortSignal): Promise<void> {
    const { set, update, nowMs, allowsMaxUnavailable } = this.#input;
    const { rollingUpdate } = set.spec.updateStrategy;
    const isDue = (pod: Pod | undefined): pod is Pod =>
      pod !== undefined && revisionOfPod(pod) !== update.metadata.name && !isBeingDeleted(pod);
    const targets = slots.slice(rollingUpdate?.partition ?? 0).toReversed();
    if (!allowsMaxUnavailable) {
      for (const { pod } of targets) {
        if (isDue(pod)) return this.#replace(pod, signal);
        if (isUnavailable(pod, set, nowMs)) return undefined;
      }
      return undefined;
    }
    const { maxUnavailable = 1 } = rollingUpdate ?? {};
    const allowed = Math.max(1, scaledValue(maxUnavailable, desiredCount(set), 'down'));
    const unavailable = slots.filter(({ pod }) => isUnavailable(pod, set, nowMs)).length;
    const due = targets.flatMap(({ pod }) => (isDue(pod) ? [pod] : []));
    for (const pod of due.slice(0, Math.max(0, allowed - unavailable))) await this.#replace(pod, signal);
    return undefined;
  }

  async #replace(pod: Pod, signal: AbortSignal): Promise<void> {
    await this.#control.delete(pod, signal);
    this.#replaced += 1;
  }

  /** Counts the pods (upstream `updateStatus` and `completeRollingUpdate`). */
  #status(): StatefulSetStatus {
    const { set, pods, current, update, collisionCount, nowMs } = this.#input;
    const { minReadySeconds = 0, updateStrategy } = set.spec;
    const ready = pods.filter(isRunningAndReady);
    const lasting = pods.filter((pod) => !isBeingDeleted(pod));
    const ofRevision = ({ metadata }: ControllerRevision): number =>
      lasting.filter((pod) => revisionOfPod(pod) === metadata.name).length;
    const [currentRevision, updateRevision] = [current.metadata.name ?? '', update.metadata.name ?? ''];
    const updatedReplicas = ofRevision(update);
    const desired = desiredCount(set);
    const isComplete =
      updateStrategy.type === 'RollingUpdate' &&
      [updatedReplicas, ready.length, pods.length].every((count) => count === desired);
    return {
      ...(set.status?.conditions === undefined ? {} : { conditions: set.status.conditions }),
      observedGeneration: set.metadata.generation ?? 0,
      replicas: pods.length,
      readyReplicas: ready.length,
      availableReplicas: isInForce('minReadyOfStatefulSets')
        ? ready.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length
        : 0,
      currentReplicas: isComplete ? updatedReplicas : ofRevision(current) - this.#replaced,
      updatedReplicas,
      currentRevision: isComplete ? updateRevision : currentRevision,
      updateRevision,
      collisionCount: collisionCount ?? 0,
    };
  }
}
