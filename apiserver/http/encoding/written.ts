import type { Source } from './source';

const METADATA = Buffer.from('"metadata":{');
const CLOSING_BRACE = 0x7d;

/** The result of a write: the stored bytes with their new resourceVersion spliced in, without encoding the object again. */
export function writtenSource({
  plain,
  revision,
}: {
  readonly plain: Buffer;
  readonly revision: number;
}): Source {
  const at = plain.indexOf(METADATA);
  if (revision === 0) return { bytes: plain.subarray(at), transient: true };
  const inside = at + METADATA.length;
  const separator = plain[inside] === CLOSING_BRACE ? '' : ',';
  const head = Buffer.from(`"metadata":{"resourceVersion":"${String(revision)}"${separator}`);
  return { bytes: Buffer.concat([head, plain.subarray(inside)]), transient: true };
}
