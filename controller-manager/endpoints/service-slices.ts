import { RESOURCE } from '../../shared/api/resource-names';
import type { Endpoints, Service } from '../../shared/api/types/core-v1';
import type { EndpointSlice } from '../../shared/api/types/discovery-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { Clock } from '../../shared/concurrency/clock';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import type { Informer } from '../../shared/informer/informer';
import { keyOfObject } from '../../shared/informer/store';
import { deepEqual } from '../../shared/object/clone';
import type { ObjectMeta, OwnerReference } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { WORKLOAD_LABEL } from '../../shared/workload-names';
import { Expectations } from '../pods/expectations';
import { isBeingDeleted } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import type { SlicePlan } from './slice-plan';

const NAME_CHARS_MAX = 253;

interface SliceParts {
  readonly client: Client;
  readonly slices: Informer<EndpointSlice>;
  readonly clock: Clock;
  /** Keys are those of the Services. */
  readonly queue: WorkQueue;
  /** The controller that a label of its slices names. */
  readonly manager: string;
}

export interface SliceWrite extends SlicePlan {
  /** The object that the slices belong to. */
  readonly source: Service | Endpoints;
  /** The slices of which the plan is made. */
  readonly existing: readonly EndpointSlice[];
  /** What the metadata of every slice says; other annotations stay if there are none. */
  readonly metadata: Pick<ObjectMeta, 'labels' | 'annotations'>;
  readonly owner: OwnerReference;
}

/** The EndpointSlices that one controller manages. Slices that change enqueue their Service. */
export class ServiceSlices {
  readonly #parts: SliceParts;
  readonly #expectations: Expectations<EndpointSlice>;

  constructor(parts: SliceParts) {
    const { slices, queue } = parts;
    this.#parts = parts;
    this.#expectations = new Expectations({ ...parts, store: slices.store });
    const enqueueService = (slice: EndpointSlice): void => {
      const name = slice.metadata.labels?.[WORKLOAD_LABEL.serviceName];
      if (name !== undefined && this.#isOwn(slice)) queue.add(`${slice.metadata.namespace ?? ''}/${name}`);
    };
    slices.addHandler({
      onAdd: enqueueService,
      onUpdate: (before, after) => {
        enqueueService(before);
        enqueueService(after);
      },
      onDelete: (slice) => {
        this.#expectations.noteDeleted(slice);
        enqueueService(slice);
      },
    });
  }

  #isOwn({ metadata }: EndpointSlice): boolean {
    return metadata.labels?.[WORKLOAD_LABEL.sliceManagedBy] === this.#parts.manager;
  }

  /** Reports whether the informer shows all earlier writes. A slice that is not seen yet would be made a second time. */
  areSeen(key: string): boolean {
    return this.#expectations.areMet(key);
  }

  /** Forgets a Service that is gone. */
  forget(key: string): void {
    this.#expectations.forget(key);
  }

  /** Returns the slices of the Service of this key that are not being deleted. */
  of(key: string): readonly EndpointSlice[] {
    return this.#parts.slices.store
      .byIndex(INDEX.service, key)
      .filter((slice) => this.#isOwn(slice) && !isBeingDeleted(slice));
  }

  /** Creates slices before it changes and deletes others, so that no endpoint is missing meanwhile (upstream `finalize`). */
  async write(write: SliceWrite, signal: AbortSignal): Promise<void> {
    const { source, existing, metadata, owner } = write;
    const { client } = this.#parts;
    const key = keyOfObject(source);
    const { namespace, name = '' } = source.metadata;
    for (const group of isBeingDeleted(source) ? [] : write.create) {
      const slice = {
        apiVersion: apiVersionOf(RESOURCE.endpointslices),
        kind: 'EndpointSlice',
        metadata: {
          ...metadata,
          generateName: name.length < NAME_CHARS_MAX ? `${name}-` : name,
          ...(namespace === undefined ? {} : { namespace }),
          ownerReferences: [owner],
        },
        ...group,
      };
      this.#expectations.created(key, await client.create(RESOURCE.endpointslices, slice, { signal }));
    }
    const updates = new Map(write.update.map(({ slice, endpoints }) => [slice, endpoints]));
    const removed = new Set(write.remove);
    for (const slice of existing) {
      const isSame = !updates.has(slice) && hasMetadata(slice, write);
      if (removed.has(slice) || isSame) continue;
      const owners = isOwnedBy(slice, owner) ? {} : { ownerReferences: [owner] };
      const changed = {
        ...slice,
        metadata: { ...slice.metadata, ...metadata, ...owners },
        endpoints: updates.get(slice) ?? slice.endpoints,
      };
      await client.update(RESOURCE.endpointslices, changed, { signal });
    }
    await this.delete(key, write.remove, signal);
  }

  async delete(key: string, slices: readonly EndpointSlice[], signal: AbortSignal): Promise<void> {
    for (const slice of slices) {
      const { namespace, name = '', uid = '' } = slice.metadata;
      const preconditions = { uid };
      await this.#parts.client
        .delete(RESOURCE.endpointslices, { namespace, name }, { preconditions }, { signal })
        .catch((error: unknown) => {
          if (!hasCode(error, 404, 409)) throw error;
        });
      this.#expectations.deletes(key, slice);
    }
  }
}

function hasMetadata(
  slice: EndpointSlice,
  { metadata: { labels, annotations }, owner }: SliceWrite,
): boolean {
  const { metadata } = slice;
  return (
    deepEqual(metadata.labels, labels) &&
    (annotations === undefined || deepEqual(metadata.annotations ?? {}, annotations)) &&
    isOwnedBy(slice, owner)
  );
}

function isOwnedBy({ metadata }: EndpointSlice, owner: OwnerReference): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.uid) === true;
}
