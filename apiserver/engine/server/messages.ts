import type { MessageFraming } from '../request/exchange';

const NEWLINE = 0x0a;
const LENGTH_BYTES = 4;

/** Splits a piece of a stream, which holds whole frames, into its messages. Throws if the piece ends inside a frame. */
export function messagesOf(piece: Buffer, framing: MessageFraming): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < piece.length;) {
    const { from, to } = framing === 'lines' ? line(piece, at) : prefixed(piece, at);
    if (to > piece.length) throw new Error('a piece of a stream ends inside a frame');
    messages.push(piece.subarray(from, to));
    at = to;
  }
  return messages;
}

interface Extent {
  readonly from: number;
  readonly to: number;
}

/** A line with its newline, as the Go server sends it. */
function line(piece: Buffer, at: number): Extent {
  const end = piece.indexOf(NEWLINE, at);
  return { from: at, to: end < 0 ? Infinity : end + 1 };
}

function prefixed(piece: Buffer, at: number): Extent {
  const from = at + LENGTH_BYTES;
  return { from, to: from > piece.length ? Infinity : from + piece.readUInt32BE(at) };
}
