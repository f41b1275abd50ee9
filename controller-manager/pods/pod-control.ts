import { RESOURCE } from '../../shared/api/resource-names';
import type { Pod, PodSpec, PodTemplateSpec } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode, hasReason } from '../../shared/client/status';
import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { ObjectMeta, Sent } from '../../shared/object/object';
import type { ReportEvent } from '../runtime/event-recorder';
import type { KindOfResource } from '../runtime/owner';
import { ownerReferenceTo } from '../runtime/owner';

const NAME_CHARS_MAX = 253;
const CREATIONS_AT_ONCE_MAX = 64;

/** The object whose pods are made, and on which their events are recorded. */
export interface PodParent {
  readonly resource: KindOfResource;
  readonly object: { readonly metadata: ObjectMeta };
}

/** Creates and deletes the pods of a workload, with upstream's events about it (`RealPodControl`). */
export class PodControl {
  readonly #client: Client;
  readonly #reportEvent: ReportEvent;

  constructor({ client, report }: { readonly client: Client; readonly report: ReportEvent }) {
    this.#client = client;
    this.#reportEvent = report;
  }

  /** Creates the pod in the namespace of its parent. Throws the error of the server, of which the parent has an event. */
  async create(parent: PodParent, pod: Sent<Pod>, signal: AbortSignal): Promise<Pod> {
    try {
      const created = await this.#client.create(RESOURCE.pods, pod, { signal });
      this.#report(parent, ['Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name ?? ''}`]);
      return created;
    } catch (error) {
      if (!signal.aborted && !isNamespaceTerminating(error))
        this.#report(parent, ['Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`]);
      throw error;
    }
  }

  /** Deletes this pod and no other of its name. A pod that is gone is a success without an event. */
  async delete(parent: PodParent, { metadata }: Pod, signal: AbortSignal): Promise<void> {
    const { namespace, name = '', uid = '' } = metadata;
    try {
      await this.#client.delete(RESOURCE.pods, { namespace, name }, { preconditions: { uid } }, { signal });
      this.#report(parent, ['Normal', 'SuccessfulDelete', `Deleted pod: ${name}`]);
    } catch (error) {
      // A conflict: the pod of this uid is gone and another one has its name.
      if (hasCode(error, 404, 409)) return;
      if (!signal.aborted)
        this.#report(parent, ['Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`]);
      throw error;
    }
  }

  #report(parent: PodParent, [type, reason, message]: readonly ['Normal' | 'Warning', string, string]): void {
    this.#reportEvent(parent, { type, reason, message });
  }
}

/** Returns the pod that the template of a parent describes, named after the parent by the server (`GetPodFromTemplate`). */
export function podFromTemplate(
  template: PodTemplateSpec,
  { resource, object }: PodParent,
): Sent<Pod> & { readonly metadata: ObjectMeta; readonly spec: PodSpec } {
  const { namespace, name = '' } = object.metadata;
  // A template without metadata has none in JSON.
  const { labels, annotations, finalizers } = (template.metadata as ObjectMeta | undefined) ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: name.length < NAME_CHARS_MAX ? `${name}-` : name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [ownerReferenceTo(resource, object)],
    },
    spec: template.spec,
  };
}

/**
 * Runs `act` up to `count` times in batches that double while all succeed, so that a quota that refuses all pods is asked once and not a
 * hundred times. Returns the successes, and the first error; the rest is then skipped. Upstream: `slowStartBatch`.
 */
export async function startSlowly(
  count: number,
  act: (index: number) => Promise<void>,
): Promise<{ readonly successes: number; readonly error?: unknown }> {
  let successes = 0;
  let begun = 0;
  for (let size = Math.min(count, 1); size > 0; size = Math.min(2 * size, count - begun)) {
    const batch = Array.from({ length: size }, (_each, index) => begun + index);
    begun += size;
    try {
      await forEachLimited(batch, CREATIONS_AT_ONCE_MAX, async (index) => {
        await act(index);
        successes += 1;
      });
    } catch (error) {
      return { successes, error };
    }
  }
  return { successes };
}

/** Reports whether a creation failed because its namespace is being deleted: every other one would fail as well. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!hasReason(error, 'Forbidden')) return false;
  return (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
