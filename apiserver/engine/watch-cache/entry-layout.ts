/**
 * The byte layouts of an object. The store holds `{"kind":…,"apiVersion":…,"metadata":{…},…}` without a resourceVersion, as the codec writes
 * it. A cache entry holds `"metadata":{"resourceVersion":"<revision>",…},…}`. Only this file converts between the two, by a splice.
 */

/** The first bytes of an entry of this revision. `content` is the rest: the metadata after its opening brace, and all that follows. */
export function entryHead(revision: number, content: Buffer): string {
  return `${VERSION_HEAD}${String(revision)}"${content[0] === CLOSING_BRACE ? '' : ','}`;
}

/** The stored bytes from the first member of the metadata to the end of the object; undefined if another writer chose another layout. */
export function contentOfStored(plain: Buffer): Buffer | undefined {
  const layout = STORED_LAYOUT.exec(plain.toString('latin1', 0, LAYOUT_BYTES_MAX));
  return layout === null ? undefined : plain.subarray(layout[0].length);
}

/** Converts stored bytes to an entry of this revision. Revision 0 means an object that is not stored: it gets no resourceVersion. */
export function entryOfStored(plain: Buffer, revision: number): Buffer {
  const at = plain.indexOf(METADATA);
  if (revision === 0) return plain.subarray(at);
  const content = plain.subarray(at + METADATA.length);
  return Buffer.concat([Buffer.from(entryHead(revision, content), 'latin1'), content]);
}

/** Converts an entry to stored bytes. */
export function storedOfEntry({ bytes, revision }: EntryBytes, form: StoredForm): Buffer {
  return Buffer.concat([Buffer.from(storedHead(form)), bytes.subarray(contentStart(bytes, revision))]);
}

/** Whether the codec wrote the stored bytes in this version. */
export function isStoredAs(plain: Buffer, form: StoredForm): boolean {
  const head = storedHead(form);
  return plain.toString('latin1', 0, head.length) === head;
}

interface StoredForm {
  readonly kind: string;
  readonly apiVersion: string;
}

function storedHead({ kind, apiVersion }: StoredForm): string {
  return `{"kind":"${kind}","apiVersion":"${apiVersion}",${METADATA}`;
}

/** Whether an entry was made from these stored bytes, regardless of their kind and apiVersion. */
export function isMadeOf({ bytes, revision }: EntryBytes, plain: Buffer): boolean {
  const start = contentStart(bytes, revision);
  const from = plain.length - (bytes.length - start);
  return plain[from - 1] === OPENING_BRACE && plain.compare(bytes, start, bytes.length, from) === 0;
}

/** The same entry with another resourceVersion. */
export function atRevision({ bytes, revision: own }: EntryBytes, revision: number): Buffer {
  const content = bytes.subarray(contentStart(bytes, own));
  return Buffer.concat([Buffer.from(entryHead(revision, content), 'latin1'), content]);
}

/** Adds one member to the metadata, after the resourceVersion. The name must not need escaping. */
export function withMember(bytes: Buffer, name: string, value: string): Buffer {
  const version = versionIn(bytes);
  const at = version === undefined ? METADATA.length : VERSION_HEAD.length + version.length + 1;
  const before = version === undefined ? '' : ',';
  const after = version !== undefined || bytes[at] === CLOSING_BRACE ? '' : ',';
  const member = Buffer.from(`${before}"${name}":${JSON.stringify(value)}${after}`);
  return Buffer.concat([bytes.subarray(0, at), member, bytes.subarray(at)]);
}

/** The resourceVersion of an entry's bytes; undefined for those of an object that was not stored. */
export function versionIn(bytes: Buffer): string | undefined {
  if (bytes.toString('latin1', 0, VERSION_HEAD.length) !== VERSION_HEAD) return undefined;
  return bytes.toString('latin1', VERSION_HEAD.length, bytes.indexOf(QUOTE, VERSION_HEAD.length));
}

/** The bytes of an entry, and the revision in them. */
interface EntryBytes {
  readonly bytes: Buffer;
  readonly revision: number;
}

const METADATA = '"metadata":{';
const VERSION_HEAD = `${METADATA}"resourceVersion":"`;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The layout that the codec writes. Names of kinds and versions are short, so the first bytes are enough to match. */
const STORED_LAYOUT = /^\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{/;
const LAYOUT_BYTES_MAX = 512;

/** The index of the first stored member in an entry: after the resourceVersion and its comma, if any. */
function contentStart(bytes: Buffer, revision: number): number {
  const end = VERSION_HEAD.length + String(revision).length + 1;
  return bytes[end] === COMMA ? end + 1 : end;
}
