import type { ReplicaSet } from '../../shared/api/types/apps-v1';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { WORKLOAD_ANNOTATION } from '../../shared/workload-names';
import type { DeploymentState } from './deployment-state';
import { hasEnded } from '../pods/pod-state';
import { isBeingDeleted } from '../runtime/owner';
import {
  allSets,
  deploymentStatusOf,
  isComplete,
  msUntilDeadline,
  pausedConditions,
  rolloutStatusOf,
} from './deployment-status';
import {
  annotatedCount,
  byCreation,
  desiredReplicas,
  isRollingUpdate,
  isSaturated,
  maxUnavailable,
  newSetReplicas,
  proportionalSizes,
  sumOf,
} from './replica-counts';
import {
  annotationsAfterRollback,
  hasTemplate,
  lastRevision,
  parseRevision,
  revisionOf,
  withoutHash,
} from './revisions';

/** One pass over a Deployment: at most one step forward, after which the informers bring the next pass (upstream `syncDeployment`). */
export class Rollout {
  readonly #state: DeploymentState;
  readonly #podsOf: (set: ReplicaSet) => readonly Pod[];

  constructor(state: DeploymentState, podsOf: (set: ReplicaSet) => readonly Pod[]) {
    this.#state = state;
    this.#podsOf = podsOf;
  }

  /** Returns when to come back for the progress deadline. Throws errors of the server, conflicts among them. */
  async run(signal: AbortSignal): Promise<Requeue | undefined> {
    if (isBeingDeleted(this.#state.deployment)) {
      await this.#state.syncCurrentSet(signal);
      await this.#state.writeStatus(
        deploymentStatusOf(this.#state.deployment, this.#state.sets, this.#state.statusBasis()),
        signal,
      );
      return undefined;
    }
    const conditions = pausedConditions(this.#state.deployment, this.#state.now());
    if (conditions !== undefined)
      await this.#state.writeStatus({ ...this.#state.deployment.status, conditions }, signal);
    const { metadata, spec } = this.#state.deployment;
    const rollbackTo = parseRevision(metadata.annotations?.[WORKLOAD_ANNOTATION.rollbackTo] ?? '');
    if (spec.paused === true) await this.#resize(signal);
    else if (rollbackTo !== undefined) await this.#rollBack(rollbackTo, signal);
    else if (await this.#isScaled(signal)) await this.#resize(signal);
    else if (spec.strategy.type === 'Recreate') await this.#recreate(signal);
    else if (isRollingUpdate(this.#state.deployment)) await this.#roll(signal);
    const waitMs = msUntilDeadline(this.#state.deployment, this.#state.now());
    return waitMs === undefined || spec.paused === true ? undefined : { requeueAfterMs: waitMs };
  }

  /** Scales the new set up, or else the old ones down, by as much as surge and availability allow. */
  async #roll(signal: AbortSignal): Promise<void> {
    const current = await this.#state.ensureCurrentSet(signal);
    const isStep =
      (await this.#growCurrentSet(current, signal)) || (await this.#shrinkOldSets(current, signal));
    if (!isStep && isComplete(this.#state.deployment, this.#state.deployment.status))
      await this.#state.deleteOldSets(signal);
    await this.#writeRolloutStatus(signal);
  }

  async #growCurrentSet(current: ReplicaSet, signal: AbortSignal): Promise<boolean> {
    const [size, desired] = [desiredReplicas(current), desiredReplicas(this.#state.deployment)];
    if (size === desired) return false;
    // Pods that an old set has yet to delete count as well: otherwise there would be more than the surge for a moment.
    const total = sumOf(this.#state.sets.old, presentReplicas) + size;
    return this.#state.scale(
      current,
      size > desired ? desired : newSetReplicas(this.#state.deployment, total, size),
      signal,
    );
  }

  /** Unhealthy pods of old sets go first; then as many as there are more available pods than needed. */
  async #shrinkOldSets(current: ReplicaSet, signal: AbortSignal): Promise<boolean> {
    const minAvailable = desiredReplicas(this.#state.deployment) - maxUnavailable(this.#state.deployment);
    const unavailable = desiredReplicas(current) - (current.status?.availableReplicas ?? 0);
    const mayGo = sumOf(allSets(this.#state.sets), desiredReplicas) - minAvailable - unavailable;
    const active = (): readonly ReplicaSet[] =>
      this.#state.sets.old.filter((set) => desiredReplicas(set) > 0);
    if (active().length === 0 || mayGo <= 0) return false;
    const cleaned = await this.#shrink(
      active(),
      { most: mayGo, of: (set) => desiredReplicas(set) - (set.status?.availableReplicas ?? 0) },
      signal,
    );
    const available = sumOf([...active(), current], lastingReplicas);
    const scaled = await this.#shrink(
      active(),
      { most: available - minAvailable, of: desiredReplicas },
      signal,
    );
    return cleaned + scaled > 0;
  }

  async #shrink(
    sets: readonly ReplicaSet[],
    { most, of }: { readonly most: number; readonly of: (set: ReplicaSet) => number },
    signal: AbortSignal,
  ): Promise<number> {
    let removed = 0;
    for (const set of [...sets].sort(byCreation)) {
      const count = Math.min(most - removed, of(set));
      if (count <= 0) continue;
      await this.#state.scale(set, desiredReplicas(set) - count, signal);
      removed += count;
    }
    return removed;
  }

  /** Waits until all old pods are gone before it creates the new set. */
  async #recreate(signal: AbortSignal): Promise<void> {
    await this.#state.syncCurrentSet(signal);
    let isStep = false;
    for (const set of this.#state.sets.old.filter((each) => desiredReplicas(each) > 0))
      isStep = (await this.#state.scale(set, 0, signal)) || isStep;
    if (!isStep && !this.#hasOldPods()) {
      const current = await this.#state.ensureCurrentSet(signal);
      await this.#state.scale(current, desiredReplicas(this.#state.deployment), signal);
      if (isComplete(this.#state.deployment, this.#state.deployment.status))
        await this.#state.deleteOldSets(signal);
    }
    await this.#writeRolloutStatus(signal);
  }

  #hasOldPods(): boolean {
    const { old } = this.#state.sets;
    if (sumOf(old, ({ status }) => status?.replicas) > 0) return true;
    return old.some((set) => this.#podsOf(set).some((pod) => !hasEnded(pod)));
  }

  /** Reports whether the size of the Deployment changed since its sets were last scaled. */
  async #isScaled(signal: AbortSignal): Promise<boolean> {
    await this.#state.syncCurrentSet(signal);
    const desired = desiredReplicas(this.#state.deployment);
    return this.#activeSets().some((set) => {
      const annotated = annotatedCount(set, WORKLOAD_ANNOTATION.desiredReplicas);
      return annotated !== undefined && annotated !== desired;
    });
  }

  #activeSets(): readonly ReplicaSet[] {
    return allSets(this.#state.sets).filter((set) => desiredReplicas(set) > 0);
  }

  /** Brings all sets to the size of the Deployment, in proportion; nothing is rolled out (upstream `sync`). */
  async #resize(signal: AbortSignal): Promise<void> {
    await this.#state.syncCurrentSet(signal);
    await this.#scaleAll(signal);
    if (this.#state.deployment.spec.paused === true) await this.#state.deleteOldSets(signal);
    await this.#state.writeStatus(
      deploymentStatusOf(this.#state.deployment, this.#state.sets, this.#state.statusBasis()),
      signal,
    );
  }

  async #scaleAll(signal: AbortSignal): Promise<void> {
    const { current, old } = this.#state.sets;
    const active = this.#activeSets();
    if (active.length <= 1) {
      const only = active[0] ?? current ?? [...old].sort(byCreation).at(-1);
      if (only !== undefined) await this.#state.scale(only, desiredReplicas(this.#state.deployment), signal);
    } else if (isSaturated(this.#state.deployment, current)) {
      for (const set of active.filter((each) => each !== current)) await this.#state.scale(set, 0, signal);
    } else if (isRollingUpdate(this.#state.deployment)) {
      const sizes = proportionalSizes(this.#state.deployment, active);
      for (const [name, size] of sizes) {
        const set = active.find(({ metadata }) => metadata.name === name);
        if (set !== undefined) await this.#state.scale(set, size, signal, { isForced: true });
      }
    }
  }

  /** Goes back to the template of a revision; 0 is the last one. The annotation that asks for it is removed in any case. */
  async #rollBack(revision: bigint, signal: AbortSignal): Promise<void> {
    await this.#state.ensureCurrentSet(signal);
    const sets = allSets(this.#state.sets);
    const wanted = revision === 0n ? lastRevision(sets) : revision;
    const target = wanted === 0n ? undefined : sets.find((set) => revisionOf(set) === wanted);
    const { [WORKLOAD_ANNOTATION.rollbackTo]: _rollbackTo, ...rest } =
      this.#state.deployment.metadata.annotations ?? {};
    if (target === undefined) {
      const message =
        revision === 0n ? 'Unable to find last revision.' : 'Unable to find the revision to rollback to.';
      this.#state.report('Warning', 'DeploymentRollbackRevisionNotFound', message);
      await this.#state.update({ annotations: rest }, signal);
      return;
    }
    const { name = '' } = this.#state.deployment.metadata;
    if (hasTemplate(target, this.#state.deployment.spec.template)) {
      const message = `The rollback revision contains the same template as current deployment ${JSON.stringify(name)}`;
      this.#state.report('Warning', 'DeploymentRollbackTemplateUnchanged', message);
      await this.#state.update({ annotations: rest }, signal);
      return;
    }
    const { [WORKLOAD_ANNOTATION.rollbackTo]: _again, ...annotations } = annotationsAfterRollback(
      this.#state.deployment,
      target,
    );
    await this.#state.update({ annotations, template: withoutHash(target.spec.template) }, signal);
    const message = `Rolled back deployment ${JSON.stringify(name)} to revision ${String(wanted)}`;
    this.#state.report('Normal', 'DeploymentRollback', message);
  }

  async #writeRolloutStatus(signal: AbortSignal): Promise<void> {
    await this.#state.writeStatus(
      rolloutStatusOf(this.#state.deployment, this.#state.sets, this.#state.statusBasis()),
      signal,
    );
  }
}

/** Pods that the set has or is about to have. */
function presentReplicas(set: ReplicaSet): number {
  return Math.max(desiredReplicas(set), set.status?.replicas ?? 0);
}

/** Available pods of which the set is not about to delete any. */
function lastingReplicas(set: ReplicaSet): number {
  return Math.min(desiredReplicas(set), set.status?.availableReplicas ?? 0);
}
