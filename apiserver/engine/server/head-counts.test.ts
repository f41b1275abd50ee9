import { FLAG, HTTP2_PREFACE, http2Field, http2Frame, http2Head } from '../../../shared/testing/http2-frames';
import { Http2Wire } from './http2-wire';

const PADDED = 0x8;
const PRIORITY = 0x20;
const PRIORITY_BYTES = Buffer.alloc(5, 0xff);

function head(fields: Buffer, { flags = 0, stream = 1 } = {}): Buffer {
  return http2Frame('headers', { flags: FLAG.endStream | FLAG.endHeaders | flags, stream, payload: fields });
}

/** A length of several bytes, and a value that looks like fields. */
const LONG = Buffer.concat([
  Buffer.from([0, 1, 0x78, 0x7f, 0x80 | 73, 1]),
  Buffer.alloc(127 + 73 + 128, 0x82),
]);
const INDEXED = Buffer.from([0x82, 0x87, 0xff, 0x00]);
const REMEMBERED = Buffer.from([0x41, 1, 0x61, 0x40, 1, 0x78, 1, 0x79, 0x7f, 0x01, 0]);
const NEVER = Buffer.from([0x11, 1, 0x61, 0x1f, 0x05, 1, 0x62]);
const TABLE_SIZE = Buffer.from([0x20, 0x3f, 0xe1, 0x1f]);

/** Reads all that comes at once. */
function open(): Http2Wire {
  return new Http2Wire({ take: () => true });
}

describe('the fields of a header block are counted', () => {
  test.each<[what: string, fields: number, frames: Buffer]>([
    ['in full', 5, head(http2Head('GET', '/', [http2Field('x', 'y')]))],
    ['by their numbers', 3, head(INDEXED)],
    ['that are remembered', 3, head(REMEMBERED)],
    ['that are never remembered', 2, head(NEVER)],
    ['beside the size of the table, which is none', 3, head(Buffer.concat([TABLE_SIZE, INDEXED]))],
    ['with a long value', 4, head(Buffer.concat([LONG, INDEXED]))],
    [
      'in a frame that is filled up and has a weight',
      3,
      head(Buffer.concat([Buffer.from([7]), PRIORITY_BYTES, INDEXED, Buffer.alloc(7, 0x82)]), {
        flags: PADDED | PRIORITY,
      }),
    ],
    [
      'in several frames',
      7,
      Buffer.concat([
        http2Frame('headers', { flags: FLAG.endStream, payload: LONG.subarray(0, 5) }),
        http2Frame('continuation', { payload: LONG.subarray(5, 200) }),
        http2Frame('continuation', {
          flags: FLAG.endHeaders,
          payload: Buffer.concat([LONG.subarray(200), INDEXED, REMEMBERED]),
        }),
      ]),
    ],
    [
      'and not trailers',
      3,
      Buffer.concat([head(INDEXED), http2Frame('data', { payload: INDEXED }), head(REMEMBERED), head(NEVER)]),
    ],
  ])('%s, however the bytes are cut', (_what, fields, frames) => {
    const bytes = Buffer.concat([HTTP2_PREFACE, frames]);
    for (const size of [1, 2, 3, 7, 16, bytes.length]) {
      const wire = open();
      for (let at = 0; at < bytes.length; at += size) wire.add(bytes.subarray(at, at + size));
      expect(wire.heads.isWhole(1, fields)).toBe(true);
    }
    const others = open();
    others.add(bytes);
    expect(others.heads.isWhole(1, fields - 1)).toBe(false);
  });

  test('for each request, and forgotten with it and earlier streams', () => {
    const wire = open();
    wire.add(HTTP2_PREFACE);
    for (const stream of [1, 3, 5]) wire.add(head(INDEXED, { stream }));
    expect(wire.heads.isWhole(3, 3)).toBe(true);
    expect(wire.heads.isWhole(1, 3)).toBe(false);
    expect(wire.heads.isWhole(5, 3)).toBe(true);
  });

  test('unless the bytes are no header block', () => {
    for (const bytes of [Buffer.from([0xff, 0x80, 0x80, 0x80, 0x80, 0x80]), Buffer.from([0x40, 9, 0x61])]) {
      const wire = open();
      wire.add(Buffer.concat([HTTP2_PREFACE, head(bytes)]));
      for (const fields of [0, 1, 2]) expect(wire.heads.isWhole(1, fields)).toBe(false);
    }
  });

  test('up to a limit of blocks without a request', () => {
    const wire = open();
    wire.add(HTTP2_PREFACE);
    for (let at = 0; at < 20_000; at += 1) wire.add(head(INDEXED, { stream: 2 * at + 1 }));
    expect(wire.heads.isFull).toBe(true);
  });
});
