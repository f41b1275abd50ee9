/** The answer to a write: the stored bytes with their new resourceVersion spliced in, without encoding the object again. */
export function withResourceVersion(plain: Buffer, revision: number): Buffer {
  if (revision === 0) return Buffer.concat([plain, NEWLINE]);
  const at = plain.indexOf(METADATA) + METADATA.length;
  const separator = plain[at] === CLOSING_BRACE ? '' : ',';
  const version = Buffer.from(`"resourceVersion":"${String(revision)}"${separator}`);
  return Buffer.concat([plain.subarray(0, at), version, plain.subarray(at), NEWLINE]);
}

const METADATA = Buffer.from('"metadata":{');
const CLOSING_BRACE = 0x7d;
const NEWLINE = Buffer.from('\n');
