import type { CachedResource, Entry } from './entry';
import { atRevision, contentOfStored, entryHead } from '../entry-layout';
import type { WantedMembers } from './pick-json';
import { pickJson, wantedMembers } from './pick-json';
import type { Slab, Slabs } from './slab';

/** An entry whose bytes are in a slab, or in their own memory if `slab` is undefined. */
export class CacheEntry implements Entry {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  readonly uid: string;
  bytes: Buffer;
  slab: Slab | undefined = undefined;

  constructor(from: Omit<Entry, 'bytes'>, bytes: Buffer) {
    this.key = from.key;
    this.namespace = from.namespace;
    this.name = from.name;
    this.revision = from.revision;
    this.labels = from.labels;
    this.fields = from.fields;
    this.uid = from.uid;
    this.bytes = bytes;
  }
}

export interface StoredObject {
  /** Relative to the resource's prefix. */
  readonly key: string;
  /** The object's JSON as it was written. */
  readonly plain: Buffer;
  readonly revision: number;
  /** The parsed form of `plain`, if it is known. Its resourceVersion may be set even though that of `plain` is not. */
  readonly parsed?: object | undefined;
  /** What was decoded from the same bytes before, if they have the layout of the codec. */
  readonly known?: EntryFacts | undefined;
}

/** What an entry has from the content of its object. */
export type EntryFacts = Pick<Entry, 'labels' | 'fields' | 'uid'>;

/**
 * What was decoded from values that a store returns again as the same bytes: those of snapshots in memory. Entries of the map go with the
 * bytes.
 */
export type DecodedValues = WeakMap<Buffer, EntryFacts>;

/** From this size on only the needed members are parsed, so that a large object does not block the event loop. */
export const PICKED_BYTES_MIN = 16 * 1024;

/**
 * Decodes one stored object. Parses it at most once, for labels, fields and uid, and splices its resourceVersion in. Copies the bytes into
 * `slabs`, or into new memory if absent. Throws when the bytes are not an object with metadata.
 */
export function decodeEntry(resource: CachedResource, stored: StoredObject, slabs?: Slabs): CacheEntry {
  const { known } = stored;
  const content = known === undefined ? undefined : contentOfStored(stored.plain);
  if (known !== undefined && content !== undefined) {
    const entry = new CacheEntry(
      { ...placeOf(resource, stored.key), revision: stored.revision, ...known },
      NO_BYTES,
    );
    return withBytes(entry, { head: entryHead(stored.revision, content), tail: content }, slabs);
  }
  const object: unknown = stored.parsed ?? parseForEntry(resource, stored.plain);
  const metadata = recordAt(object, 'metadata');
  if (metadata === undefined) throw new Error('the stored value has no metadata');
  const place = placeOf(resource, stored.key);
  const keep = stored.parsed === undefined ? keepText : copyText;
  const uid = metadata['uid'];
  const entry = new CacheEntry(
    {
      ...place,
      revision: stored.revision,
      labels: labelsOf(metadata['labels'], keep),
      fields: fieldsOf(resource, object, { ...place, keep }),
      uid: typeof uid === 'string' ? keep(uid) : '',
    },
    NO_BYTES,
  );
  return withBytes(entry, splice(stored, object, metadata), slabs);
}

function placeOf(resource: CachedResource, key: string): Pick<Entry, 'key' | 'namespace' | 'name'> {
  const slash = resource.namespaced ? key.indexOf('/') : -1;
  return { key, namespace: slash === -1 ? '' : key.slice(0, slash), name: key.slice(slash + 1) };
}

function withBytes(entry: CacheEntry, { head, tail }: Spliced, slabs: Slabs | undefined): CacheEntry {
  if (slabs === undefined) entry.bytes = Buffer.concat([Buffer.from(head, 'latin1'), tail]);
  else slabs.store(entry, head, tail);
  return entry;
}

/** Parses only the needed members of a large object. An object in another layout is parsed whole, because it has to be serialized again. */
function parseForEntry(resource: CachedResource, plain: Buffer): unknown {
  if (plain.length < PICKED_BYTES_MIN || contentOfStored(plain) === undefined) {
    return JSON.parse(plain.toString('utf8'));
  }
  const known = wantedOf.get(resource) ?? wantedMembers([...METADATA_PATHS, ...pathsOf(resource)]);
  wantedOf.set(resource, known);
  return pickWithoutVersion(plain, known) ?? JSON.parse(plain.toString('utf8'));
}

/** Undefined if the codec did not write the bytes: a stored resourceVersion means that the object has to be serialized again. */
function pickWithoutVersion(plain: Buffer, wanted: WantedMembers): object | undefined {
  try {
    const picked = pickJson(plain, wanted) as { readonly metadata?: { readonly resourceVersion?: unknown } };
    return picked.metadata?.resourceVersion === undefined ? picked : undefined;
  } catch {
    return undefined;
  }
}

const METADATA_PATHS: readonly string[] = ['metadata.labels', 'metadata.uid', 'metadata.resourceVersion'];
const wantedOf = new WeakMap<CachedResource, WantedMembers>();

function pathsOf({ fieldPaths, fieldSources = {} }: CachedResource): readonly string[] {
  return fieldPaths.flatMap((path) => fieldSources[path] ?? [path]);
}

/** A copy of the object with another resourceVersion, for DELETED events. */
export function withRevision(entry: Entry, revision: number): Entry {
  return new CacheEntry({ ...entry, revision }, atRevision(entry, revision));
}

const NO_BYTES = Buffer.alloc(0);

/** `head` + `tail` is the object from its metadata on, with the resourceVersion as first member of the metadata. */
interface Spliced {
  readonly head: string;
  readonly tail: Buffer;
}

function splice(stored: StoredObject, object: unknown, metadata: Readonly<Record<string, unknown>>): Spliced {
  const content = contentOfStored(stored.plain);
  const isBare = stored.parsed !== undefined || metadata['resourceVersion'] === undefined;
  if (content !== undefined && isBare) {
    return { head: entryHead(stored.revision, content), tail: content };
  }
  const {
    kind: _kind,
    apiVersion: _apiVersion,
    metadata: _metadata,
    ...rest
  } = object as Record<string, unknown>;
  const { resourceVersion: _version, ...others } = metadata;
  const written =
    JSON.stringify(others).slice(1) +
    (Object.keys(rest).length === 0 ? '}' : `,${JSON.stringify(rest).slice(1)}`);
  const tail = Buffer.from(written, 'utf8');
  return { head: entryHead(stored.revision, tail), tail };
}

function recordAt(value: unknown, member: string): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const found = (value as Record<string, unknown>)[member];
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined;
}

/** Objects with fast properties and no prototype members, safe against prototype pollution: the label `constructor` is absent unless set. */
const PlainMap = createPlainMapClass();

function createPlainMapClass(): new () => Record<string, string> {
  const constructor = function plainMap(): void {};
  constructor.prototype = Object.freeze(Object.create(null));
  return constructor as unknown as new () => Record<string, string>;
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze(new PlainMap());

/** How a string of an object is kept. */
type Keep = (text: string) => string;

const keepText: Keep = (text) => text;

/** V8 copies shorter strings instead of slicing. */
const SLICE_CHARACTERS_MIN = 13;

/** A string of a parsed request may be a slice of the whole document, and would keep it in memory. */
const copyText: Keep = (text) =>
  text.length < SLICE_CHARACTERS_MIN ? text : (JSON.parse(JSON.stringify(text)) as string);

function labelsOf(labels: unknown, keep: Keep): Readonly<Record<string, string>> {
  if (typeof labels !== 'object' || labels === null) return NO_LABELS;
  const copy = new PlainMap();
  for (const [name, value] of Object.entries(labels))
    if (typeof value === 'string') copy[keep(name)] = keep(value);
  return copy;
}

function fieldsOf(
  resource: CachedResource,
  object: unknown,
  { namespace, name, keep }: { readonly namespace: string; readonly name: string; readonly keep: Keep },
): Readonly<Record<string, string>> {
  const fields = new PlainMap();
  fields['metadata.name'] = name;
  fields['metadata.namespace'] = namespace;
  for (const path of resource.fieldPaths) {
    const sources = resource.fieldSources?.[path];
    fields[path] = keep(sources === undefined ? valueAt(object, path) : firstValueAt(object, sources));
  }
  return fields;
}

function firstValueAt(object: unknown, paths: readonly string[]): string {
  for (const path of paths) {
    const value = valueAt(object, path);
    if (value !== '') return value;
  }
  return '';
}

/** An absent field selects like the empty string; numbers and booleans like their text. */
function valueAt(object: unknown, path: string): string {
  let value: unknown = object;
  for (const member of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, member)) return '';
    value = (value as Record<string, unknown>)[member];
  }
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
