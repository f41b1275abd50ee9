import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { decodeJson, decodeObject } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import { graftUnknownFields, hasUnknownFields } from '../../../shared/schema/unknown-fields';
import type { StoredRecord } from '../storage/backend';
import { valueOf } from '../storage/backend';
import type { Entry } from '../watch-cache/state/entry';
import { inHubForm } from '../watch-cache/state/entry';
import { isMadeOf, storedOfEntry } from '../watch-cache/entry-layout';
import type { StoredResource } from './resource';
import { storedVersionOf } from './resource';
import { withoutMetadata } from './metadata';
import type { Current, Encoded } from './write';

/**
 * The stored form of an object is its canonical JSON in the hub version, without resourceVersion: the store's revision is the
 * version. It always begins with `{"kind":…,"apiVersion":…,"metadata":{`, so that readers can splice instead of parsing.
 */
export function encodeForStorage(resource: StoredResource, object: ApiObject, current?: Current): Encoded {
  const { custom, strategy, kind, apiVersion } = resource;
  const bare = { ...withoutMetadata(object, 'resourceVersion'), kind, apiVersion };
  const { object: canonical } = decodeObject(
    resource.type,
    custom?.keep(bare) ?? strategy.toStorable?.(bare) ?? bare,
  );
  if (current?.newer !== undefined) return withNewerFields(resource, canonical, current);
  return { object: canonical, plain: encodeObject(canonical) };
}

/**
 * A change would lose fields that a later release has stored: the item of the list they belong to is unknown
 * after the change.
 */
export class NewerFieldsLostError extends Error {
  readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    super(`a later release has stored fields of ${paths.join(', ')}, which the change would lose`);
    this.name = 'NewerFieldsLostError';
    this.paths = paths;
  }
}

/** An unchanged object keeps the bytes that the later release wrote. */
function withNewerFields(
  { type }: StoredResource,
  canonical: ApiObject,
  { newer = canonical, plain }: Current,
): Encoded {
  const stored = withoutMetadata(newer, 'resourceVersion');
  const { object, lost } = graftUnknownFields(type, canonical, stored);
  if (lost.length > 0) throw new NewerFieldsLostError(lost);
  return { object, plain: deepEqual(object, stored) ? plain : encodeObject(object), hasNewer: true };
}

/**
 * The current object as this release knows it. Fields of a later release are set aside: no rule sees them,
 * no client can remove them, and encoding restores them.
 */
export function asKnown(resource: StoredResource, current: Current): Current {
  const { type, custom } = resource;
  const { object } = current;
  const isKnown = current.isKnown === true || custom !== undefined;
  if (isKnown || !hasUnknownFields(type, object)) return current;
  return { ...current, object: decodeObject(type, object).object, newer: object };
}

/** The stored form of an object that was read. */
export function plainOf(object: ApiObject): Buffer {
  return encodeObject(withoutMetadata(object, 'resourceVersion'));
}

/**
 * The current object of a custom resource as its definition shows it, in the version in which objects are
 * stored.
 */
export function asDefined({ custom, apiVersion }: StoredResource, current: Current): Current {
  if (custom === undefined) return current;
  return { ...current, object: custom.read(current.object, apiVersion) };
}

/**
 * Whether the entry holds this very object. The revision alone does not suffice: it may repeat after a
 * restore of the store.
 */
export function isOfEntry({ plain, revision }: Current, entry: Entry): boolean {
  return revision === entry.revision && isMadeOf(entry, plain);
}

/** The current object from the cache's bytes. */
export function currentOfEntry(resource: StoredResource, entry: Entry): Current {
  const { kind } = resource;
  const plain = storedOfEntry(entry, { kind, apiVersion: storedVersionOf(resource, entry.fields) });
  return { object: parse(plain, entry.revision), plain, revision: entry.revision };
}

/** The current object after it was written. */
export function currentOfWritten({
  object,
  plain,
  revision,
  hasNewer = false,
}: Encoded & { readonly revision: number }): Current {
  return { object: withVersion(object, revision), plain, revision, isKnown: !hasNewer };
}

/**
 * Decodes the current object from a record of the store. Throws StorageError `corrupt` if the record cannot
 * be read.
 */
export function currentOfRecord(resource: Pick<StoredResource, 'toHubForm'>, record: StoredRecord): Current {
  const plain = inHubForm(resource, valueOf(record));
  const { revision, stale = false } = record;
  return { object: parse(plain, revision), plain, revision, stale };
}

function parse(plain: Buffer, revision: number): ApiObject {
  return withVersion(decodeJson(plain) as ApiObject, revision);
}

function withVersion(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
