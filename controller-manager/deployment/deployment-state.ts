import { RESOURCE } from '../../shared/api/resource-names';
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '../../shared/api/types/apps-v1';
import type { PodTemplateSpec } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode, hasReason } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import { WORKLOAD_ANNOTATION, WORKLOAD_LABEL } from '../../shared/workload-names';
import { deepEqual } from '../../shared/object/clone';
import type { Sent } from '../../shared/object/object';
import { PARENT } from '../pods/children';
import { isNamespaceTerminating, messageOf } from '../pods/pod-control';
import { templateHash } from '../pods/template-hash';
import type { ReportEvent } from '../runtime/event-recorder';
import { isBeingDeleted, isOwnedBy, ownerReferenceTo } from '../runtime/owner';
import type { DeploymentSets, StatusBasis } from './deployment-status';
import { conditionsOfSet } from './deployment-status';
import { desiredReplicas, newSetReplicas, sumOf } from './replica-counts';
import {
  byRevision,
  currentSetAnnotations,
  hasTemplate,
  maxRevision,
  sizeAnnotations,
  splitSets,
  withoutHash,
} from './revisions';

const INT32_MAX = 2 ** 31 - 1;
const NAME_CHARS_MAX = 253;

export interface DeploymentParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly report: ReportEvent;
  /** Whether the status counts the pods that are being deleted. */
  readonly reportsTerminating: boolean;
}

/** A Deployment and its ReplicaSets during one pass, and the writes to them, each on the result of the one before. */
export class DeploymentState {
  readonly #parts: DeploymentParts;
  deployment: Deployment;
  sets: DeploymentSets;

  /** @param sets The ReplicaSets that the Deployment owns. */
  constructor(
    parts: DeploymentParts,
    { deployment, sets }: { readonly deployment: Deployment; readonly sets: readonly ReplicaSet[] },
  ) {
    this.#parts = parts;
    this.deployment = deployment;
    this.sets = splitSets(deployment, sets);
  }

  now(): number {
    return this.#parts.clock.now();
  }

  statusBasis(): StatusBasis {
    return { nowMs: this.now(), reportsTerminating: this.#parts.reportsTerminating };
  }

  /** Writes the size of a set, and the sizes of the Deployment to its annotations. Returns whether the size changed. */
  async scale(
    set: ReplicaSet,
    replicas: number,
    signal: AbortSignal,
    { isForced = false }: { readonly isForced?: boolean } = {},
  ): Promise<boolean> {
    const before = desiredReplicas(set);
    const annotations = { ...set.metadata.annotations, ...sizeAnnotations(this.deployment) };
    if (before === replicas && (!isForced || deepEqual(annotations, set.metadata.annotations))) return false;
    const scaled = await this.#parts.client.update(
      RESOURCE.replicasets,
      { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } },
      { signal },
    );
    this.#replace(set, scaled);
    if (before === replicas) return false;
    const direction = before < replicas ? 'up' : 'down';
    this.report(
      'Normal',
      'ScalingReplicaSet',
      `Scaled ${direction} replica set ${set.metadata.name ?? ''} from ${String(before)} to ${String(replicas)}`,
    );
    return true;
  }

  #replace(before: ReplicaSet, after: ReplicaSet): void {
    const { current, old } = this.sets;
    const put = (set: ReplicaSet): ReplicaSet => (set.metadata.uid === before.metadata.uid ? after : set);
    this.sets = { current: current === undefined ? undefined : put(current), old: old.map(put) };
  }

  /** Keeps annotations and revision of the current set and of the Deployment, if there is such a set. */
  async syncCurrentSet(signal: AbortSignal): Promise<ReplicaSet | undefined> {
    const { current, old } = this.sets;
    if (current === undefined) return undefined;
    const annotations = currentSetAnnotations(this.deployment, current, maxRevision(old) + 1n);
    const { minReadySeconds = 0 } = this.deployment.spec;
    if (
      !deepEqual(annotations, current.metadata.annotations ?? {}) ||
      (current.spec.minReadySeconds ?? 0) !== minReadySeconds
    ) {
      const updated = await this.#parts.client.update(
        RESOURCE.replicasets,
        {
          ...current,
          metadata: { ...current.metadata, annotations },
          spec: { ...current.spec, minReadySeconds },
        },
        { signal },
      );
      this.#replace(current, updated);
    }
    const message = `Found new replica set ${JSON.stringify(current.metadata.name)}`;
    const conditions = conditionsOfSet(this.deployment, { kind: 'found', message }, this.now());
    await this.#writeRevision(annotations[WORKLOAD_ANNOTATION.deploymentRevision] ?? '', conditions, signal);
    return this.sets.current;
  }

  /** Returns the current set, creating it if it does not exist (upstream `getNewReplicaSet`). */
  async ensureCurrentSet(signal: AbortSignal): Promise<ReplicaSet> {
    const known = await this.syncCurrentSet(signal);
    if (known !== undefined) return known;
    const wanted = this.#newSet();
    const { name = '' } = wanted.metadata;
    let created: ReplicaSet;
    try {
      created = await this.#parts.client.create(RESOURCE.replicasets, wanted, { signal });
      const size = desiredReplicas(created);
      if (size > 0)
        this.report('Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${String(size)}`);
    } catch (error) {
      created = await this.#existingSet(name, error, signal);
    }
    this.sets = { ...this.sets, current: created };
    const message = `Created new replica set ${JSON.stringify(name)}`;
    const conditions = conditionsOfSet(this.deployment, { kind: 'created', message }, this.now());
    await this.#writeRevision(
      created.metadata.annotations?.[WORKLOAD_ANNOTATION.deploymentRevision] ?? '',
      conditions,
      signal,
    );
    return created;
  }

  #newSet(): Sent<ReplicaSet> {
    const { metadata, spec, status } = this.deployment;
    const { old } = this.sets;
    const hash = templateHash(withoutHash(spec.template), status?.collisionCount);
    const labels = { ...spec.template.metadata.labels, [WORKLOAD_LABEL.podTemplateHash]: hash };
    const base = (metadata.name ?? '').slice(0, NAME_CHARS_MAX - hash.length - 1);
    return {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${base}-${hash}`,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        labels,
        annotations: currentSetAnnotations(this.deployment, undefined, maxRevision(old) + 1n),
        ownerReferences: [ownerReferenceTo(PARENT.deployments, this.deployment)],
      },
      spec: {
        replicas: newSetReplicas(this.deployment, sumOf(old, desiredReplicas), 0),
        minReadySeconds: spec.minReadySeconds ?? 0,
        selector: {
          ...spec.selector,
          matchLabels: { ...spec.selector?.matchLabels, [WORKLOAD_LABEL.podTemplateHash]: hash },
        },
        template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
      },
    };
  }

  /** Handles a failed creation: the set may exist because the cache is late, and another one may have the same hash. */
  async #existingSet(name: string, error: unknown, signal: AbortSignal): Promise<ReplicaSet> {
    if (signal.aborted || isNamespaceTerminating(error)) throw error;
    const { status, metadata, spec } = this.deployment;
    if (!hasReason(error, 'AlreadyExists')) {
      const message = `Failed to create new replica set ${JSON.stringify(name)}: ${messageOf(error)}`;
      const conditions = conditionsOfSet(this.deployment, { kind: 'createFailed', message }, this.now());
      this.report('Warning', 'ReplicaSetCreateError', message);
      await this.writeStatus({ ...status, conditions }, signal);
      throw error;
    }
    const { namespace } = metadata;
    const existing = await this.#parts.client.get(RESOURCE.replicasets, { namespace, name }, { signal });
    if (isOwnedBy(existing, this.deployment) && hasTemplate(existing, spec.template)) return existing;
    await this.writeStatus({ ...status, collisionCount: (status?.collisionCount ?? 0) + 1 }, signal);
    throw error;
  }

  /** Deletes the oldest sets without pods beyond the history limit. */
  async deleteOldSets(signal: AbortSignal): Promise<void> {
    const { revisionHistoryLimit = INT32_MAX } = this.deployment.spec;
    const alive = this.sets.old.filter((set) => !isBeingDeleted(set));
    const surplus = alive.length - revisionHistoryLimit;
    if (revisionHistoryLimit === INT32_MAX || surplus <= 0) return;
    for (const set of [...alive].sort(byRevision).slice(0, surplus)) {
      const { namespace, name = '', uid = '', generation = 0 } = set.metadata;
      const isSeen = Number(set.status?.observedGeneration ?? 0) >= Number(generation);
      if ((set.status?.replicas ?? 0) !== 0 || desiredReplicas(set) !== 0 || !isSeen) continue;
      try {
        const preconditions = { uid };
        await this.#parts.client.delete(
          RESOURCE.replicasets,
          { namespace, name },
          { preconditions },
          { signal },
        );
      } catch (error) {
        if (!hasCode(error, 404, 409)) throw error;
      }
    }
  }

  async update(
    {
      annotations,
      template,
    }: {
      readonly annotations: Readonly<Record<string, string>>;
      readonly template?: PodTemplateSpec;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const { metadata, spec } = this.deployment;
    this.deployment = await this.#parts.client.update(
      RESOURCE.deployments,
      {
        ...this.deployment,
        metadata: { ...metadata, annotations },
        spec: template === undefined ? spec : { ...spec, template },
      },
      { signal },
    );
  }

  /** Keeps the revision of the current set in the annotation of the Deployment, which the status subresource may change. */
  async #writeRevision(
    revision: string,
    conditions: readonly DeploymentCondition[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { metadata, status } = this.deployment;
    const annotations = { ...metadata.annotations, [WORKLOAD_ANNOTATION.deploymentRevision]: revision };
    const isRevised = metadata.annotations?.[WORKLOAD_ANNOTATION.deploymentRevision] !== revision;
    const next = conditions === undefined ? { ...status } : { ...status, conditions };
    if (!isRevised && deepEqual(conditions ?? [], status?.conditions ?? [])) return;
    this.deployment = { ...this.deployment, metadata: { ...metadata, annotations } };
    await this.#putStatus(next, signal);
  }

  async writeStatus(status: DeploymentStatus, signal: AbortSignal): Promise<void> {
    if (!deepEqual(normalized(status), normalized(this.deployment.status)))
      await this.#putStatus(status, signal);
  }

  async #putStatus(status: DeploymentStatus, signal: AbortSignal): Promise<void> {
    this.deployment = await this.#parts.client.updateStatus(
      RESOURCE.deployments,
      { ...this.deployment, status },
      { signal },
    );
  }

  report(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const resource = PARENT.deployments;
    this.#parts.report({ resource, object: this.deployment }, { type, reason, message });
  }
}

/** The server leaves out counts that are 0 and empty lists. */
function normalized(status: DeploymentStatus = {}): object {
  return Object.fromEntries(
    Object.entries(status).filter(
      ([, value]) => value !== 0 && !(Array.isArray(value) && value.length === 0),
    ),
  );
}
