import { RESOURCE } from '../../shared/api/resource-names';
import type { ControllerRevision, DaemonSet, StatefulSet } from '../../shared/api/types/apps-v1';
import type { PodTemplateSpec } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode, hasReason } from '../../shared/client/status';
import type { Informer } from '../../shared/informer/informer';
import type { LabelSelector } from '../../shared/meta/labels';
import { matchesLabels } from '../../shared/meta/labels';
import { parseTime } from '../../shared/meta/time';
import { deepEqual } from '../../shared/object/clone';
import type { ResourceOf } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import type { KindOfResource } from '../runtime/owner';
import { isOwnedBy, ownerReferenceTo } from '../runtime/owner';
import { candidatesOf, claimChildren } from './children';
import { sortedKeys, templateHash } from './template-hash';

const PREFIX_CHARS_MAX = 223;
/** Contents of the same hash that are tried in one pass. */
const COLLISIONS_MAX = 20;

/** An object whose templates are remembered in ControllerRevisions. */
export type Revisioned = StatefulSet | DaemonSet;

/** The strategic merge patch that brings the template back; kubectl sends it for an undo (upstream `getPatch`). */
interface RevisionData {
  readonly spec: { readonly template: PodTemplateSpec & { readonly $patch: 'replace' } };
}

/** Returns what a ControllerRevision remembers of an object. Its keys are in order, because clients of upstream compare the bytes. */
export function revisionData({ spec }: Revisioned): RevisionData {
  return sortedKeys({ spec: { template: { $patch: 'replace', ...spec.template } } }) as RevisionData;
}

/** Reports whether the revision remembers the template of the object. */
export function remembers(revision: ControllerRevision, object: Revisioned): boolean {
  return deepEqual(revision.data, revisionData(object));
}

/** Returns the template that a revision remembers; undefined for one with other content. */
export function rememberedTemplate({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const template = (data as Partial<RevisionData> | null)?.spec?.template;
  if (template === undefined) return undefined;
  const { $patch: _patch, ...rest } = template;
  return rest;
}

/** Orders by number, then by age and name. */
export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  const age = ({ metadata }: ControllerRevision): number => parseTime(metadata.creationTimestamp ?? '') ?? 0;
  const named = (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
  return Number(a.revision) - Number(b.revision) || age(a) - age(b) || named;
}

/** An object with revisions, and its resource. */
export interface RevisionParent<T extends Revisioned> {
  readonly client: Client;
  readonly object: T;
  readonly resource: ResourceOf<T> & KindOfResource;
}

/** Returns the revisions of the object in order; it adopts those of its selector that have no owner. */
export async function claimRevisions<T extends Revisioned>(
  { client, object, resource }: RevisionParent<T>,
  {
    revisions,
    selector,
  }: { readonly revisions: Informer<ControllerRevision>; readonly selector: LabelSelector },
  signal: AbortSignal,
): Promise<readonly ControllerRevision[]> {
  const claimed = await claimChildren<T, ControllerRevision>(
    {
      client,
      parent: object,
      parentResource: resource,
      childResource: RESOURCE.controllerrevisions,
      matches: ({ metadata }) => matchesLabels(selector, metadata.labels),
    },
    candidatesOf(revisions, object),
    signal,
  );
  return [...claimed].sort(byRevision);
}

/**
 * Remembers the template of the object. Its name has a hash; another content of the same hash is a collision, after which the hash is made
 * with the next number. Returns the revision and the number of collisions, which belongs into the status.
 */
export async function createRevision<T extends Revisioned>(
  { client, object, resource }: RevisionParent<T>,
  { number, hashLabel }: { readonly number: number; readonly hashLabel: string },
  signal: AbortSignal,
): Promise<{ readonly revision: ControllerRevision; readonly collisionCount: number | undefined }> {
  const { namespace, name = '', annotations } = object.metadata;
  const data = revisionData(object);
  const place = namespace === undefined ? {} : { namespace };
  let { collisionCount } = object.status ?? {};
  for (let tries = 1; ; tries += 1) {
    const hash = templateHash(data, collisionCount);
    const revisionName = `${name.slice(0, PREFIX_CHARS_MAX)}-${hash}`;
    try {
      const revision = await client.create(
        RESOURCE.controllerrevisions,
        {
          apiVersion: apiVersionOf(RESOURCE.controllerrevisions),
          kind: 'ControllerRevision',
          metadata: {
            ...place,
            name: revisionName,
            labels: { ...object.spec.template.metadata.labels, [hashLabel]: hash },
            ...(annotations === undefined ? {} : { annotations }),
            ownerReferences: [ownerReferenceTo(resource, object)],
          },
          data,
          revision: number,
        },
        { signal },
      );
      return { revision, collisionCount };
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists') || tries === COLLISIONS_MAX) throw error;
    }
    const existing = await client.get(
      RESOURCE.controllerrevisions,
      { namespace, name: revisionName },
      { signal },
    );
    if (isOwnedBy(existing, object) && remembers(existing, object))
      return { revision: existing, collisionCount };
    collisionCount = (collisionCount ?? 0) + 1;
  }
}

/** Gives a revision another number: a rollback makes an old one the newest. */
export async function renumber(
  client: Client,
  revision: ControllerRevision,
  number: number,
  signal: AbortSignal,
): Promise<ControllerRevision> {
  if (Number(revision.revision) === number) return revision;
  return client.update(RESOURCE.controllerrevisions, { ...revision, revision: number }, { signal });
}

/** Deletes the revision; one that is gone is a success. */
export async function deleteRevision(
  client: Client,
  { metadata }: ControllerRevision,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name = '', uid = '' } = metadata;
  try {
    await client.delete(
      RESOURCE.controllerrevisions,
      { namespace, name },
      { preconditions: { uid } },
      { signal },
    );
  } catch (error) {
    if (!hasCode(error, 404, 409)) throw error;
  }
}
