import { decodeJson, decodeObject } from '../../../shared/schema/decode';
import { encodeObject } from '../../../shared/schema/encode';
import type { ApiObject } from '../../../shared/object/object';
import type { CustomVersion, Endpoint } from '../../registry/resource';
import { storedVersionOf } from '../../registry/resource';
import { ENCODED_OBJECTS, METADATA_ENDS } from './encoded-cache';

/**
 * An object that is to be written, in the version it is stored in: an entry of the cache, or (`transient`) the result of a write, of
 * which nothing is kept. `bytes` are its JSON from `"metadata":{` to the closing brace of the object.
 */
export interface Source {
  readonly bytes: Buffer;
  readonly transient?: true;
  /** Of an entry, its selectable fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** What `make` makes of the object, kept for the next reader unless the object is transient. */
export function kept(source: Source, id: string, make: () => Buffer): Buffer {
  return source.transient === true ? make() : ENCODED_OBJECTS.get(source, id, make);
}

/** The object's JSON in the version that the endpoint serves, from `"metadata":{` on. */
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

/** The same for a custom resource. Most objects are shown as they are stored; then nothing is kept but that. */
function customBytes({ stored, apiVersion }: Endpoint, source: Source, custom: CustomVersion): Buffer {
  if (stored.custom === undefined || !custom.changesOnRead) return source.bytes;
  const { kind } = stored;
  const { custom: storage } = stored;
  const made = kept(source, `json ${custom.id}`, () => {
    const object = parseSource(source, { kind, apiVersion: storedVersionOf(stored, source.fields) });
    const shown = storage.read(object, apiVersion);
    if (isSameContent(object, shown)) return UNCHANGED;
    const { object: canonical } = decodeObject(stored.type, shown);
    return encodeObject({ ...canonical, kind: undefined, apiVersion: undefined }).subarray(1);
  });
  return made === UNCHANGED ? source.bytes : made;
}

const UNCHANGED = Buffer.alloc(0);

function isSameContent(one: ApiObject, other: ApiObject): boolean {
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name === 'apiVersion' || one[name] === other[name])
  );
}

/** The object as it is stored. */
export function parseSource(
  { bytes }: Source,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): ApiObject {
  const object = decodeJson(Buffer.concat([OPEN, bytes])) as Omit<ApiObject, 'kind' | 'apiVersion'>;
  return { kind, apiVersion, ...object } as ApiObject;
}

/** The length of the beginning of the object's bytes that is the metadata: up to and with its closing brace. */
export function metadataEnd(source: Source): number {
  if (source.transient === true) return findMetadataEnd(source.bytes);
  return METADATA_ENDS.get(source, 'metadata', () => findMetadataEnd(source.bytes));
}

function findMetadataEnd(bytes: Buffer): number {
  let depth = 0;
  for (let index = METADATA_NAME_BYTES; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfString(bytes, index);
    else if (byte === OPEN_BRACE) depth += 1;
    else if (byte === CLOSE_BRACE) {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  throw new Error('an object whose metadata does not end');
}

const OPEN = Buffer.from('{');
const METADATA_NAME_BYTES = '"metadata":'.length;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The index of the quote that ends the string that begins at `start`. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return bytes.length;
}
