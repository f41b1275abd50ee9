import type { JsonBody } from '../request/audit-trail';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Collects a body; undefined if it is longer than `bytesMax`, which also bounds the memory. */
export async function bodyWithin(body: JsonBody, bytesMax: number): Promise<Buffer | undefined> {
  if (Buffer.isBuffer(body)) return body;
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > bytesMax) return undefined;
    // Copy: a large piece is only valid until the next one is read.
    pieces.push(Buffer.from(piece));
  }
  return Buffer.concat(pieces);
}

/** Converts JSON to one line for the log. Raw line ends occur only between values; in strings they are escaped. */
export function oneLine(json: Buffer): Buffer {
  const end = endOf(json);
  const trimmed = end === json.length ? json : json.subarray(0, end);
  if (!trimmed.includes(NEWLINE) && !trimmed.includes(CARRIAGE_RETURN)) return trimmed;
  const copy = Buffer.from(trimmed);
  for (let at = 0; at < copy.length; at += 1) {
    if (copy[at] === NEWLINE || copy[at] === CARRIAGE_RETURN) copy[at] = SPACE;
  }
  return copy;
}

function endOf(json: Buffer): number {
  let end = json.length;
  while (end > 0 && (json[end - 1] === NEWLINE || json[end - 1] === CARRIAGE_RETURN)) end -= 1;
  return end;
}
