import type { ApiObject } from '../../shared/meta/object';
import { decodeJson, decodeObject } from '../../shared/schema/decode';
import { encodeObject } from '../../shared/schema/encode';
import type { StoredRecord } from '../storage/backend';
import type { Transformer } from '../storage/transformer';
import type { Entry } from '../watch/entry';
import type { StoredResource } from './resource';
import { withoutMetadata } from './metadata';
import type { Current } from './write';

/**
 * The stored form of an object is its canonical JSON in the hub version, without resourceVersion: the store's revision is the
 * version. It always begins with `{"kind":…,"apiVersion":…,"metadata":{`, so that readers can splice instead of parsing.
 */
export function encodeForStorage(resource: StoredResource, object: ApiObject): Buffer {
  const { object: canonical } = decodeObject(resource.type, {
    ...withoutMetadata(object, 'resourceVersion'),
    kind: resource.kind,
    apiVersion: resource.apiVersion,
  });
  return encodeObject(canonical);
}

const ENTRY_HEAD = '"metadata":{"resourceVersion":"';

/** The current object from the cache's bytes. */
export function currentOfEntry(resource: StoredResource, entry: Entry): Current {
  const tailStart = ENTRY_HEAD.length + String(entry.revision).length + '",'.length;
  const head = `{"kind":"${resource.kind}","apiVersion":"${resource.apiVersion}","metadata":{`;
  const plain = Buffer.concat([Buffer.from(head), entry.bytes.subarray(tailStart)]);
  return { object: parse(plain, entry.revision), plain, revision: entry.revision, stale: false };
}

/** The current object from a record of the store. */
export function currentOfRecord(transformer: Transformer, record: StoredRecord): Current {
  const { plain, stale } = transformer.fromStorage(record.key, record.value);
  return { object: parse(plain, record.revision), plain, revision: record.revision, stale };
}

function parse(plain: Buffer, revision: number): ApiObject {
  const object = decodeJson(plain) as ApiObject;
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}
