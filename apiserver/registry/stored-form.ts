import type { ApiObject } from '../../shared/object/object';
import { decodeJson, decodeObject } from '../../shared/schema/decode';
import { encodeObject } from '../../shared/schema/encode';
import type { StoredRecord } from '../storage/backend';
import { valueOf } from '../storage/backend';
import type { Entry } from '../cache/state/entry';
import { isMadeOf, storedOfEntry } from '../cache/entry-layout';
import type { StoredResource } from './resource';
import { storedVersionOf } from './resource';
import { withoutMetadata } from './metadata';
import type { Current, Encoded } from './write';

/**
 * The stored form of an object is its canonical JSON in the hub version, without resourceVersion: the store's revision is the
 * version. It always begins with `{"kind":…,"apiVersion":…,"metadata":{`, so that readers can splice instead of parsing.
 */
export function encodeForStorage(resource: StoredResource, object: ApiObject): Encoded {
  const { custom, strategy, kind, apiVersion } = resource;
  const bare = { ...withoutMetadata(object, 'resourceVersion'), kind, apiVersion };
  const { object: canonical } = decodeObject(
    resource.type,
    custom?.keep(bare) ?? strategy.keeps?.(bare) ?? bare,
  );
  return { object: canonical, plain: encodeObject(canonical) };
}

/** The current object of a custom resource as its definition shows it, in the version in which objects are stored now. */
export function asDefined({ custom, apiVersion }: StoredResource, current: Current): Current {
  if (custom === undefined) return current;
  const { object, stale = false } = current;
  const isOfOther = object.apiVersion !== apiVersion;
  return { ...current, object: custom.read(object, apiVersion), stale: stale || isOfOther };
}

/** True when this is the very object that the entry holds: a revision alone may come again after a store was put back. */
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
}: Encoded & { readonly revision: number }): Current {
  return { object: withVersion(object, revision), plain, revision };
}

/** The current object from a record of the store. Throws StorageError `corrupt` where that cannot be read. */
export function currentOfRecord(record: StoredRecord): Current {
  const plain = valueOf(record);
  const { revision, stale = false } = record;
  return { object: parse(plain, revision), plain, revision, stale };
}

function parse(plain: Buffer, revision: number): ApiObject {
  return withVersion(decodeJson(plain) as ApiObject, revision);
}

function withVersion(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
