import { RESOURCE } from '../../shared/api/resource-names';
import type { StatefulSet } from '../../shared/api/types/apps-v1';
import type { PersistentVolumeClaim, Pod } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode, hasReason } from '../../shared/client/status';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import type { Sent } from '../../shared/object/object';
import { PARENT } from '../pods/children';
import type { Expectations } from '../pods/expectations';
import { asError, messageOf } from '../pods/pod-control';
import type { ReportEvent } from '../runtime/event-recorder';
import { isBeingDeleted } from '../runtime/owner';
import { hasOtherController, isClaimOfEarlierPod, ownersOfClaim } from './claim-owners';
import { claimsOf, conformed, newStatefulPod, ordinalOf } from './stateful-pods';
import type { PodPlan } from './stateful-pods';

export interface StatefulParts {
  readonly client: Client;
  readonly report: ReportEvent;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly expectations: Expectations<Pod>;
  /** Whether pods have a label with their ordinal. */
  readonly hasIndexLabel: boolean;
}

type Verb = 'create' | 'update' | 'delete';

/** Creates, updates and deletes the pods and claims of a StatefulSet, with upstream's events about it (`StatefulPodControl`). */
export class StatefulControl {
  readonly #parts: StatefulParts;
  readonly #set: StatefulSet;

  constructor(parts: StatefulParts, set: StatefulSet) {
    this.#parts = parts;
    this.#set = set;
  }

  /** Creates the claims of the pod and then the pod. */
  async create(plan: Omit<PodPlan, 'hasIndexLabel'>, signal: AbortSignal): Promise<void> {
    const { client, expectations, hasIndexLabel } = this.#parts;
    const wanted = newStatefulPod(this.#set, { ...plan, hasIndexLabel });
    const { name = '' } = wanted.metadata;
    let pod: Pod;
    try {
      await this.#createClaims(plan.ordinal, name, signal);
      pod = await client.create(RESOURCE.pods, wanted, { signal });
      expectations.created(keyOfObject(this.#set), pod);
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) this.#reportPod('create', name, error, signal);
      throw error;
    }
    await this.#updateClaimsOrReport(pod, signal);
    this.#reportPod('create', name, undefined, signal);
  }

  /** Reports whether a claim of this pod is about to be deleted with an earlier pod of its name. */
  hasStaleClaim(ordinal: number): boolean {
    const name = `${this.#set.metadata.name ?? ''}-${String(ordinal)}`;
    return this.#claimsOf(ordinal).some(
      ({ claim }) => claim !== undefined && isClaimOfEarlierPod(claim, { set: this.#set }, name),
    );
  }

  /** Creates the claims that a pending pod waits for. */
  async createMissingClaims(pod: Pod, signal: AbortSignal): Promise<void> {
    await this.#createClaims(ordinalOf(pod), pod.metadata.name ?? '', signal);
    await this.#updateClaimsOrReport(pod, signal);
  }

  /** Gives the pod the labels and volumes that belong to its identity, and its claims the owners of the retention policy. */
  async conform(pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, hasIndexLabel } = this.#parts;
    const { name = '' } = pod.metadata;
    const wanted = conformed(pod, this.#set, hasIndexLabel);
    try {
      if (wanted.spec !== pod.spec) await this.#createClaims(ordinalOf(pod), name, signal);
      await this.#updateClaims(pod, signal);
      if (wanted === pod) return;
      await client.update(RESOURCE.pods, wanted, { signal });
    } catch (error) {
      this.#reportPod('update', name, error, signal);
      throw error;
    }
    this.#reportPod('update', name, undefined, signal);
  }

  /** Gives the claims of a pod that is scaled down their owners. */
  async conformClaims(pod: Pod, signal: AbortSignal): Promise<void> {
    await this.#updateClaims(pod, signal);
  }

  async delete(pod: Pod, signal: AbortSignal): Promise<void> {
    const { client, expectations } = this.#parts;
    const key = keyOfObject(this.#set);
    const { namespace, name = '', uid = '' } = pod.metadata;
    expectations.deletes(key, pod);
    try {
      await client.delete(RESOURCE.pods, { namespace, name }, { preconditions: { uid } }, { signal });
    } catch (error) {
      expectations.keeps(key, pod);
      // A conflict: the pod of this uid is gone and another one has its name.
      if (!hasCode(error, 404, 409)) {
        this.#reportPod('delete', name, error, signal);
        throw error;
      }
    }
    this.#reportPod('delete', name, undefined, signal);
  }

  #claimsOf(ordinal: number): readonly {
    readonly wanted: Sent<PersistentVolumeClaim>;
    readonly claim: PersistentVolumeClaim | undefined;
  }[] {
    const { claims } = this.#parts;
    return [...claimsOf(this.#set, ordinal).values()].map((wanted) => ({
      wanted,
      claim: claims.store.get(keyOfObject(wanted)),
    }));
  }

  async #createClaims(ordinal: number, pod: string, signal: AbortSignal): Promise<void> {
    const failures: Error[] = [];
    for (const { wanted, claim } of this.#claimsOf(ordinal)) {
      const { name = '' } = wanted.metadata;
      if (claim !== undefined) {
        if (isBeingDeleted(claim)) failures.push(new Error(`pvc ${name} is being deleted`));
        continue;
      }
      try {
        await this.#parts.client.create(RESOURCE.persistentvolumeclaims, wanted, { signal });
        this.#reportClaim(name, pod, undefined);
      } catch (error) {
        if (signal.aborted) throw error;
        // The next pass sees the claim, which may be an old one that is being deleted.
        if (!hasReason(error, 'AlreadyExists')) this.#reportClaim(name, pod, error);
        const cause = asError(error);
        failures.push(new Error(`failed to create PVC ${name}: ${cause.message}`, { cause }));
      }
    }
    const [only] = failures;
    if (failures.length > 1)
      throw new AggregateError(failures, failures.map(({ message }) => message).join(', '));
    if (only !== undefined) throw only;
  }

  async #updateClaimsOrReport(pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.#updateClaims(pod, signal);
    } catch (error) {
      this.#reportPod('update', pod.metadata.name ?? '', error, signal);
      throw error;
    }
  }

  async #updateClaims(pod: Pod, signal: AbortSignal): Promise<void> {
    const owners = { set: this.#set, pod };
    for (const { claim } of this.#claimsOf(ordinalOf(pod))) {
      if (claim === undefined) continue;
      const { name = '' } = claim.metadata;
      if (hasOtherController(claim, owners)) {
        const message = `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`;
        this.#report('Warning', 'ConflictingController', message);
      }
      const ownerReferences = ownersOfClaim(claim, owners);
      if (ownerReferences === undefined) continue;
      const changed = { ...claim, metadata: { ...claim.metadata, ownerReferences } };
      try {
        await this.#parts.client.update(RESOURCE.persistentvolumeclaims, changed, { signal });
      } catch (error) {
        const what = `could not update claim ${name} for delete policy ownerRefs`;
        throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
      }
    }
  }

  #reportPod(verb: Verb, pod: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const what = `${capitalized(verb)} Pod ${pod} in StatefulSet ${this.#set.metadata.name ?? ''}`;
    if (error === undefined) this.#report('Normal', `Successful${capitalized(verb)}`, `${what} successful`);
    else this.#report('Warning', `Failed${capitalized(verb)}`, `${what} failed error: ${messageOf(error)}`);
  }

  #reportClaim(claim: string, pod: string, error: unknown): void {
    const end = `Pod ${pod} in StatefulSet ${this.#set.metadata.name ?? ''}`;
    if (error === undefined)
      this.#report('Normal', 'SuccessfulCreate', `Create Claim ${claim} ${end} success`);
    else
      this.#report(
        'Warning',
        'FailedCreate',
        `Create Claim ${claim} for ${end} failed error: ${messageOf(error)}`,
      );
  }

  #report(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#parts.report({ resource: PARENT.statefulSets, object: this.#set }, { type, reason, message });
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
