import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';

import { defined } from '../../defined';
import { StatusError, alreadyExists, conflict, forbidden, notFound } from '../../errors/status-error';
import type { ApiObject } from '../../object/object';
import { apiVersionOf } from '../../object/object';
import { FINALIZER } from '../../names';
import type { DeleteOptions } from '../options';
import type { FakeResource } from './fake-resources';

export interface FakeEvent {
  readonly revision: number;
  readonly resource: FakeResource;
  /** The object before and after; one of them is missing for a create or a delete. */
  readonly before?: ApiObject;
  readonly after?: ApiObject;
}

export interface Place {
  readonly resource: FakeResource;
  readonly namespace: string;
  readonly name: string;
}

/** Objects and events in memory, with the rules of the real API that clients can observe: versions, finalizers, namespaces. */
export class FakeStore {
  /** Emits `events` after every write. */
  readonly changes = new EventEmitter().setMaxListeners(0);
  readonly events: FakeEvent[] = [];
  revision = 1;
  /** Watches from versions below this one are answered with 410. */
  floor = 1;
  /** Whether namespaces must exist and not be terminating for a create. */
  checksNamespaces = true;
  readonly #objects = new Map<string, { readonly place: Place; readonly object: ApiObject }>();

  list(resource: FakeResource, namespace = ''): ApiObject[] {
    return [...this.#objects.values()]
      .filter(
        ({ place }) => place.resource === resource && (namespace === '' || place.namespace === namespace),
      )
      .sort((a, b) => (keyOf(a.place) < keyOf(b.place) ? -1 : 1))
      .map(({ object }) => object);
  }

  /** All objects of a resource as they were at a revision; undefined if that is compacted. */
  listAt(resource: FakeResource, revision: number): ApiObject[] | undefined {
    if (revision < this.floor) return undefined;
    const state = new Map(this.list(resource).map((object) => [nameOf(object), object]));
    for (const event of this.events.toReversed()) {
      if (event.revision <= revision) break;
      if (event.resource !== resource) continue;
      const { before, after } = event;
      if (before !== undefined) state.set(nameOf(before), before);
      else if (after !== undefined) state.delete(nameOf(after));
    }
    return [...state.values()].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  find(place: Place): ApiObject | undefined {
    return this.#objects.get(keyOf(place))?.object;
  }

  get(place: Place): ApiObject {
    const object = this.find(place);
    if (object === undefined) throw notFound(place.resource, place.name);
    return object;
  }

  create(place: Place, object: ApiObject): ApiObject {
    const { resource, namespace, name } = place;
    if (resource.namespaced) this.#checkNamespace(place);
    if (this.find(place) !== undefined) throw alreadyExists(resource, name);
    const isNamespace = resource.resource === 'namespaces';
    return this.#write(place, undefined, {
      ...object,
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: {
        ...object.metadata,
        name,
        ...(resource.namespaced ? { namespace } : {}),
        uid: randomUUID(),
        creationTimestamp: now(),
      },
      ...(isNamespace
        ? { spec: { finalizers: [FINALIZER.namespaceContent] }, status: { phase: 'Active' } }
        : {}),
    });
  }

  update(place: Place, object: ApiObject, subresource = ''): ApiObject {
    const current = this.get(place);
    const { resourceVersion, uid } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(place.resource, place.name, 'the object has been modified');
    }
    if (uid !== undefined && uid !== current.metadata.uid) {
      throw conflict(place.resource, place.name, `Precondition failed: UID in precondition: ${uid}`);
    }
    const next = merged(current, object, subresource);
    if (isFinished(next)) return this.#remove(place);
    if (JSON.stringify(next) === JSON.stringify(current)) return current;
    return this.#write(place, current, next);
  }

  /** Returns the object and whether it is gone. */
  delete(place: Place, options: DeleteOptions): { readonly object: ApiObject; readonly isGone: boolean } {
    const current = this.get(place);
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid !== undefined && uid !== current.metadata.uid) {
      throw conflict(place.resource, place.name, `the UID in the precondition (${uid}) does not match`);
    }
    if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(place.resource, place.name, 'the ResourceVersion in the precondition does not match');
    }
    const finalizers = finalizersAfter(current, options.propagationPolicy);
    const graceSeconds = graceOf(place, current, options.gracePeriodSeconds);
    const next: ApiObject = {
      ...current,
      metadata: {
        ...current.metadata,
        finalizers,
        deletionTimestamp: current.metadata.deletionTimestamp ?? now(),
        deletionGracePeriodSeconds: graceSeconds,
      },
      ...(place.resource.resource === 'namespaces'
        ? { status: { ...(current['status'] as object), phase: 'Terminating' } }
        : {}),
    };
    if (isFinished(next)) return { object: this.#remove(place), isGone: true };
    if (JSON.stringify(next) === JSON.stringify(current)) return { object: current, isGone: false };
    return { object: this.#write(place, current, next), isGone: false };
  }

  /** Removes several objects in one revision, like an expired lease of the store. */
  expire(places: readonly Place[]): void {
    this.revision += 1;
    for (const place of places) this.#dropAt(this.revision, place);
    this.changes.emit('events');
  }

  /** Drops the history: every watch from an older version gets 410. */
  compact(): void {
    this.floor = this.revision;
    this.events.length = 0;
  }

  #remove(place: Place): ApiObject {
    this.revision += 1;
    const last = this.#dropAt(this.revision, place);
    this.changes.emit('events');
    return last;
  }

  #dropAt(revision: number, place: Place): ApiObject {
    const current = this.get(place);
    const last = withVersion(current, revision);
    this.#objects.delete(keyOf(place));
    this.events.push({ revision, resource: place.resource, before: current });
    return last;
  }

  #write(place: Place, before: ApiObject | undefined, next: ApiObject): ApiObject {
    this.revision += 1;
    const after = withVersion(next, this.revision);
    this.#objects.set(keyOf(place), { place, object: after });
    this.events.push({
      revision: this.revision,
      resource: place.resource,
      after,
      ...defined({ before }),
    });
    this.changes.emit('events');
    return after;
  }

  #checkNamespace({ resource, namespace, name }: Place): void {
    if (!this.checksNamespaces) return;
    const namespaces = [...this.#objects.values()].find(
      ({ place }) => place.resource.resource === 'namespaces' && place.name === namespace,
    );
    if (namespaces === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    if (namespaces.object.metadata.deletionTimestamp != null) {
      throw forbidden(
        resource,
        name,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
      );
    }
  }
}

export function badVersion(text: string): StatusError {
  return new StatusError('Expired', `too old resource version: ${text}`);
}

function merged(current: ApiObject, object: ApiObject, subresource: string): ApiObject {
  if (subresource === 'status') return { ...current, status: object['status'] };
  if (subresource === 'finalize') {
    const { finalizers = [] } = (object['spec'] ?? {}) as { finalizers?: readonly string[] };
    return { ...current, spec: { ...(current['spec'] as object), finalizers } };
  }
  const { uid, creationTimestamp, deletionTimestamp, resourceVersion } = current.metadata;
  return {
    ...object,
    apiVersion: current.apiVersion ?? '',
    kind: current.kind ?? '',
    metadata: {
      ...object.metadata,
      uid: uid ?? '',
      resourceVersion: resourceVersion ?? '',
      ...defined({ creationTimestamp, deletionTimestamp }),
    },
    ...('status' in current ? { status: current['status'] } : {}),
  };
}

/** Reports whether nothing holds the object: it is terminating, without finalizers and grace period. */
function isFinished({ metadata, spec }: ApiObject): boolean {
  const held = [
    ...(metadata.finalizers ?? []),
    ...((spec as { finalizers?: readonly string[] } | undefined)?.finalizers ?? []),
  ];
  return (
    metadata.deletionTimestamp != null &&
    held.length === 0 &&
    (metadata.deletionGracePeriodSeconds ?? 0) === 0
  );
}

function finalizersAfter(object: ApiObject, policy: DeleteOptions['propagationPolicy']): readonly string[] {
  const present = object.metadata.finalizers ?? [];
  if (policy === undefined) return present;
  const others = present.filter((each) => each !== FINALIZER.orphan && each !== FINALIZER.foregroundDeletion);
  if (policy === 'Orphan') return [...others, FINALIZER.orphan];
  return policy === 'Foreground' ? [...others, FINALIZER.foregroundDeletion] : others;
}

function graceOf({ resource }: Place, object: ApiObject, asked: number | undefined): number {
  const spec = (object['spec'] ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number };
  if (resource.resource !== 'pods' || spec.nodeName === undefined) return 0;
  return asked ?? spec.terminationGracePeriodSeconds ?? 30;
}

function withVersion(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

function nameOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

function keyOf({ resource, namespace, name }: Place): string {
  return `${resource.group}/${resource.resource}/${namespace}/${name}`;
}

function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z');
}
