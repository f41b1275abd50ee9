import { decodeJson, decodeObject } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import type { KindType } from '../../../shared/schema/types';
import type { ApiObject } from '../../../shared/object/object';
import type { CustomVersion, Endpoint } from '../registry/resource';
import { storedVersionOf } from '../registry/resource';
import { endOfValue } from '../watch-cache/state/pick-json';
import { ENCODED_OBJECTS, METADATA_ENDS } from './encoded-cache';

/**
 * An object to encode, in its stored version: a cache entry, or (`transient`) the result of a write, whose encodings
 * are not cached. `bytes` are its JSON from `"metadata":{` to the closing brace of the object.
 */
export interface Source {
  readonly bytes: Buffer;
  readonly transient?: true;
  /** The selectable fields of an entry. */
  readonly fields?: Readonly<Record<string, string>>;
  /** Already in the endpoint’s version, without fields unknown to it. */
  readonly isShown?: true;
  /** The link, where objects are shown with one. */
  readonly selfLink?: string;
}

/** Returns the result of `make`, cached for the next reader unless the object is transient. */
export function kept(source: Source, id: string, make: () => Buffer): Buffer {
  return source.transient === true ? make() : ENCODED_OBJECTS.get(source, id, make);
}

/** Returns the object’s JSON in the endpoint’s version, from `"metadata":{` on. */
export function versionedBytes(endpoint: Endpoint, source: Source): Buffer {
  const { conversion, row, apiVersion, type, custom } = endpoint;
  if (custom !== undefined) return customBytes(endpoint, source, custom);
  if (conversion === undefined) return source.bytes;
  return kept(source, `json ${apiVersion} ${row.kind}`, () => {
    const { stored } = endpoint;
    const converted = conversion.fromHub(parseSource(source, stored));
    const { object } = decodeObject(type, { ...converted, kind: row.kind, apiVersion });
    return encodeObject({ ...object, kind: undefined, apiVersion: undefined }).subarray(1);
  });
}

/** The same for a custom resource. Most objects are shown as stored; then only that fact is cached. */
function customBytes({ stored, apiVersion }: Endpoint, source: Source, custom: CustomVersion): Buffer {
  if (stored.custom === undefined || !custom.changesOnRead || source.isShown === true) return source.bytes;
  const { kind } = stored;
  const { custom: storage } = stored;
  const made = kept(source, `json ${custom.id}`, () => {
    const object = parseSource(source, { kind, apiVersion: storedVersionOf(stored, source.fields) });
    const shown = storage.read(object, apiVersion);
    if (isSameContent(object, shown)) return UNCHANGED;
    return bytesOf(shown, stored.type);
  });
  return made === UNCHANGED ? source.bytes : made;
}

/** Encodes an object as the bytes of a {@link Source}. */
export function bytesOf(object: ApiObject, type: KindType): Buffer {
  const { object: canonical } = decodeObject(type, object);
  return encodeObject({ ...canonical, kind: undefined, apiVersion: undefined }).subarray(1);
}

const UNCHANGED = Buffer.alloc(0);

function isSameContent(one: ApiObject, other: ApiObject): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name === 'apiVersion' || one[name] === other[name])
  );
}

/** Parses the stored object. */
export function parseSource(
  { bytes }: Source,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): ApiObject {
  const object = decodeJson(Buffer.concat([OPEN, bytes])) as Omit<ApiObject, 'kind' | 'apiVersion'>;
  return { kind, apiVersion, ...object } as ApiObject;
}

/** Returns the length of the metadata at the beginning of the bytes, with its closing brace. */
export function metadataEnd(source: Source): number {
  if (source.transient === true) return endOfValue(source.bytes, METADATA_NAME_BYTES);
  return METADATA_ENDS.get(source, 'metadata', () => endOfValue(source.bytes, METADATA_NAME_BYTES));
}

const OPEN = Buffer.from('{');
const METADATA_NAME_BYTES = '"metadata":'.length;
