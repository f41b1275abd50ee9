import { FLAG, HTTP2_PREFACE, http2Frame, http2Head, uint32 } from '../../../shared/testing/http2-frames';
import { HeadTurns } from './head-turns';
import { Http2Wire } from './http2-wire';

/** Turns that come when the test says so. */
function turns(perTurn: number): { readonly heads: HeadTurns; readonly next: () => void } {
  let waiting: (() => void) | undefined;
  const nextTurn = (callback: () => void): void => {
    waiting = callback;
  };
  return { heads: new HeadTurns({ perTurn, nextTurn }), next: () => waiting?.() };
}

function get(stream: number): Buffer {
  return http2Frame('headers', {
    flags: FLAG.endHeaders | FLAG.endStream,
    stream,
    payload: http2Head('GET', '/'),
  });
}

const reset = (stream: number): Buffer => http2Frame('reset', { stream, payload: uint32(8) });

/** The parts of `bytes` that are read in one turn each. */
function partsOf(wire: Http2Wire, bytes: Buffer, next: () => void): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; next()) {
    const end = wire.add(bytes, at) ?? bytes.length;
    parts.push(bytes.subarray(at, end));
    at = end;
  }
  return parts;
}

const headsIn = (bytes: Buffer): number =>
  bytes.toString('latin1').split(http2Head('GET', '/').toString('latin1')).length - 1;

test('of many requests in one read, few are read per turn, each with its reset', () => {
  const { heads, next } = turns(2);
  const streams = [1, 3, 5, 7, 9];
  const bytes = Buffer.concat([HTTP2_PREFACE, ...streams.flatMap((each) => [get(each), reset(each)])]);
  const parts = partsOf(new Http2Wire(heads), bytes, next);
  expect(Buffer.concat(parts)).toEqual(bytes);
  expect(parts.map(headsIn)).toEqual([2, 2, 1]);
  // A part ends where the next head begins: a reset comes with what it resets.
  expect(parts.map((part) => streams.filter((each) => part.includes(reset(each))).length)).toEqual([2, 2, 1]);
});

test('connections share a turn, and each reads at least one header block', () => {
  const { heads, next } = turns(1);
  const wires = [1, 2, 3].map(() => new Http2Wire(heads));
  const bytes = Buffer.concat([HTTP2_PREFACE, get(1), get(3)]);
  const ends = wires.map((wire) => wire.add(bytes) ?? 0);
  expect(ends.map((end) => headsIn(bytes.subarray(0, end)))).toEqual([1, 1, 1]);
  next();
  expect(wires.map((wire, at) => wire.add(bytes, ends[at]))).toEqual([
    bytes.length,
    bytes.length,
    bytes.length,
  ]);
});

test('bodies are read whatever the number of header blocks', () => {
  const { heads } = turns(1);
  const wire = new Http2Wire(heads);
  wire.add(Buffer.concat([HTTP2_PREFACE, get(1)]));
  const content = http2Frame('data', { stream: 3, payload: Buffer.alloc(1_000) });
  expect(wire.add(content)).toBe(content.length);
});
