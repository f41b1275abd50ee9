import type { CachedResource, Entry } from './entry';
import { atRevision, contentOfStored, entryHead } from '../entry-layout';
import type { WantedMembers } from './pick-json';
import { pickJson, wantedMembers } from './pick-json';
import type { Slab, Slabs } from './slab';

/** An entry whose bytes lie in a slab, or (`slab` undefined) in memory of their own. */
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
  /** What `plain` says, where that is known already; its resourceVersion may be set, which that of `plain` then is not. */
  readonly parsed?: object | undefined;
}

/** From here on only what is looked at is parsed, so that no object holds the loop for long, however many values it has. */
export const PICKED_BYTES_MIN = 16 * 1024;

/**
 * Reads one stored object. Parses it at most once, for labels, fields and uid, and splices its resourceVersion in. The bytes are copied:
 * into `slabs`, or into memory of their own when there are none. Throws when the bytes are no object with metadata.
 */
export function decodeEntry(resource: CachedResource, stored: StoredObject, slabs?: Slabs): CacheEntry {
  const object: unknown = stored.parsed ?? parsedFor(resource, stored.plain);
  const metadata = recordAt(object, 'metadata');
  if (metadata === undefined) throw new Error('the stored value has no metadata');
  const slash = resource.namespaced ? stored.key.indexOf('/') : -1;
  const namespace = slash === -1 ? '' : stored.key.slice(0, slash);
  const name = stored.key.slice(slash + 1);
  const keep = stored.parsed === undefined ? asItIs : copyOfText;
  const uid = metadata['uid'];
  const entry = new CacheEntry(
    {
      key: stored.key,
      namespace,
      name,
      revision: stored.revision,
      labels: labelsOf(metadata['labels'], keep),
      fields: fieldsOf(resource, object, { namespace, name, keep }),
      uid: typeof uid === 'string' ? keep(uid) : '',
    },
    NO_BYTES,
  );
  const { head, tail } = splice(stored, object, metadata);
  if (slabs === undefined) entry.bytes = Buffer.concat([Buffer.from(head, 'latin1'), tail]);
  else slabs.store(entry, head, tail);
  return entry;
}

/** Of a large object only what an entry tells of it. What others have laid out may have to be written anew, and is parsed whole. */
function parsedFor(resource: CachedResource, plain: Buffer): unknown {
  if (plain.length < PICKED_BYTES_MIN || contentOfStored(plain) === undefined) {
    return JSON.parse(plain.toString('utf8'));
  }
  const known = wantedOf.get(resource) ?? wantedMembers([...METADATA_PATHS, ...pathsOf(resource)]);
  wantedOf.set(resource, known);
  return pickedBare(plain, known) ?? JSON.parse(plain.toString('utf8'));
}

/** Undefined for what the codec has not written like this: with a version it has to be written anew, of which the whole is needed. */
function pickedBare(plain: Buffer, wanted: WantedMembers): object | undefined {
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

/** The same object with another resourceVersion, in memory of its own: what a DELETED event carries. */
export function withRevision(entry: Entry, revision: number): Entry {
  return new CacheEntry({ ...entry, revision }, atRevision(entry, revision));
}

const NO_BYTES = Buffer.alloc(0);

/** `head` + `tail` is the object from its metadata on, with the version in front of all other metadata. */
function splice(
  stored: StoredObject,
  object: unknown,
  metadata: Readonly<Record<string, unknown>>,
): { readonly head: string; readonly tail: Buffer } {
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

/** Makes objects that have ordinary fast members and inherit nothing, so that the label `constructor` is absent unless set. */
const PlainMap = createPlainMapClass();

function createPlainMapClass(): new () => Record<string, string> {
  const constructor = function plainMap(): void {};
  constructor.prototype = Object.freeze(Object.create(null));
  return constructor as unknown as new () => Record<string, string>;
}

const NO_LABELS: Readonly<Record<string, string>> = Object.freeze(new PlainMap());

/** How a text out of an object is kept. */
type Keep = (text: string) => string;

const asItIs: Keep = (text) => text;

/** Shorter texts are never kept as a part of another one. */
const SLICE_CHARACTERS_MIN = 13;

/** A text that a client sent may be a part of the whole document, which it would hold in memory for as long as the object is cached. */
const copyOfText: Keep = (text) =>
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
