/**
 * How an object lies in bytes. The store has `{"kind":…,"apiVersion":…,"metadata":{…},…}` without a resourceVersion, as the codec writes it;
 * an entry of the cache has `"metadata":{"resourceVersion":"<revision>",…},…}`. One becomes the other by a splice, here and nowhere else.
 */

/** What an entry of this revision begins with. `content` is what follows in it: the inside of the metadata, from the first member on. */
export function entryHead(revision: number, content: Buffer): string {
  return `${VERSION_HEAD}${String(revision)}"${content[0] === CLOSING_BRACE ? '' : ','}`;
}

/** The inside of the metadata in what the store has, to the end of the object; undefined for what was laid out by somebody else. */
export function contentOfStored(plain: Buffer): Buffer | undefined {
  const layout = STORED_LAYOUT.exec(plain.toString('latin1', 0, LAYOUT_BYTES_MAX));
  return layout === null ? undefined : plain.subarray(layout[0].length);
}

/** What is stored, as an entry of this revision; with revision 0, which nothing is stored at, without a resourceVersion. */
export function entryOfStored(plain: Buffer, revision: number): Buffer {
  const at = plain.indexOf(METADATA);
  if (revision === 0) return plain.subarray(at);
  const content = plain.subarray(at + METADATA.length);
  return Buffer.concat([Buffer.from(entryHead(revision, content), 'latin1'), content]);
}

/** What is stored of an entry. */
export function storedOfEntry(
  { bytes, revision }: Laid,
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
): Buffer {
  const head = `{"kind":"${kind}","apiVersion":"${apiVersion}",${METADATA}`;
  return Buffer.concat([Buffer.from(head), bytes.subarray(contentStart(bytes, revision))]);
}

/** Whether an entry was made from these stored bytes, whatever kind and version they begin with. */
export function isMadeOf({ bytes, revision }: Laid, plain: Buffer): boolean {
  const start = contentStart(bytes, revision);
  const from = plain.length - (bytes.length - start);
  return plain[from - 1] === OPENING_BRACE && plain.compare(bytes, start, bytes.length, from) === 0;
}

/** The same entry with another resourceVersion. */
export function atRevision({ bytes, revision: own }: Laid, revision: number): Buffer {
  const content = bytes.subarray(contentStart(bytes, own));
  return Buffer.concat([Buffer.from(entryHead(revision, content), 'latin1'), content]);
}

/** The same bytes with one more member of the metadata, behind the version. The name needs no escaping. */
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

/** The bytes of an entry, and the version that they begin with. */
interface Laid {
  readonly bytes: Buffer;
  readonly revision: number;
}

const METADATA = '"metadata":{';
const VERSION_HEAD = `${METADATA}"resourceVersion":"`;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** How the codec writes stored objects. Names of kinds and versions are short, so the first bytes tell. */
const STORED_LAYOUT = /^\{"kind":"[^"\\]*","apiVersion":"[^"\\]*","metadata":\{/;
const LAYOUT_BYTES_MAX = 512;

/** Where what is stored begins in an entry: after the version, and the comma where anything comes after it. */
function contentStart(bytes: Buffer, revision: number): number {
  const end = VERSION_HEAD.length + String(revision).length + 1;
  return bytes[end] === COMMA ? end + 1 : end;
}
