import { Writer } from 'protobufjs';
import { METHODS } from './codec';

const HEADER_FIELD = 10;

function headerBytes(write: (writer: Writer) => void): Buffer {
  const inner = Writer.create();
  write(inner);
  return Buffer.from(Writer.create().uint32(HEADER_FIELD).bytes(inner.finish()).finish());
}

test.each([
  [[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 'ffffffffffffffff'],
  [[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], '8000000000000001'],
  [[0x80, 0x80, 0x80, 0x80, 0x10], '100000000'],
  [[0xff, 0xff, 0xff, 0xff, 0x0f], '0ffffffff'],
  [[0x80, 0x80, 0x80, 0x80, 0x80, 0x01], '800000000'],
  [[0x80, 0x01], '80'],
])('an id of 64 bits keeps all of them', (bytes, text) => {
  const message = Buffer.from([HEADER_FIELD, bytes.length + 1, 0x08, ...bytes]);
  const { clusterId } = METHODS.compact.decode(message).header;
  expect(BigInt(`0x${clusterId}`)).toBe(BigInt(`0x${text}`));
});

test.each([1, 127, 128, 2 ** 31, 2 ** 32 + 5, 2 ** 48, 2 ** 49 + 3, Number.MAX_SAFE_INTEGER])(
  'the revision %d is read exactly',
  (revision) => {
    const message = headerBytes((writer) => writer.uint32(24).int64(revision));
    expect(METHODS.compact.decode(message).header.revision).toBe(revision);
  },
);

test('a negative number is read as one', () => {
  const message = headerBytes((writer) => writer.uint32(24).int64(-1));
  expect(METHODS.compact.decode(message).header.revision).toBe(-1);
});

test('a message that ends in the middle of a number is refused', () => {
  expect(() => METHODS.compact.decode(Buffer.from([HEADER_FIELD, 2, 0x18, 0x80]))).toThrow(RangeError);
});

test('a number of more than ten bytes is refused', () => {
  const bytes = [...Buffer.alloc(10, 0x80), 0x01];
  const message = Buffer.from([HEADER_FIELD, bytes.length + 1, 0x08, ...bytes]);
  expect(() => METHODS.compact.decode(message)).toThrow(RangeError);
});

test('tags and lengths of several bytes are read, and a length beyond the end is refused', () => {
  const value = Buffer.alloc(300, 'v');
  const kv = Writer.create().uint32(10).string('k').uint32(800).int64(1).uint32(42).bytes(value).finish();
  const message = Buffer.from(Writer.create().uint32(18).bytes(kv).finish());
  expect(METHODS.range.decode(message).kvs[0]?.value).toEqual(value);
  expect(() => METHODS.range.decode(message.subarray(0, -1))).toThrow(RangeError);
});

test('an empty value is an empty Buffer, and an unknown field is skipped', () => {
  const kv = Writer.create().uint32(10).string('k').uint32(48).int64(9).finish();
  const message = Buffer.from(Writer.create().uint32(18).bytes(kv).finish());
  const [read] = METHODS.range.decode(message).kvs;
  expect(Buffer.isBuffer(read?.value)).toBe(true);
  expect(read?.key).toEqual(Buffer.from('k'));
  expect(read?.version).toBe(0);
});
