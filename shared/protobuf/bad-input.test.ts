import * as fc from 'fast-check';
import { DecodeError, decodeObject } from '../schema/decode';
import { filledObject } from '../schema/testing/samples';
import { messageType } from '../schema/types';
import { decodeProtobuf, PROTOBUF_DEPTH_MAX, PROTOBUF_VALUES_MAX } from './decode';
import { encodeProtobuf } from './encode';
import { unwrapEnvelope, wrapEnvelope } from './envelope';

const pod = messageType('core/v1.Pod');
const filled = encodeProtobuf(pod, filledObject(pod));

function hex(text: string): Buffer {
  return Buffer.from(text.replace(/ /g, ''), 'hex');
}

describe('the envelope', () => {
  test('carries kind, version and object, and ends with the two empty fields Go writes', () => {
    const bytes = wrapEnvelope({ apiVersion: 'v1', kind: 'Pod', raw: Buffer.from('abc') });
    expect(bytes.toString('hex')).toBe('6b3873000a090a0276311203506f6412036162631a002200');
    expect(unwrapEnvelope(bytes)).toEqual({ apiVersion: 'v1', kind: 'Pod', raw: Buffer.from('abc') });
  });

  test.each([
    ['nothing at all', ''],
    ['half the magic', '6b38'],
    ['another magic', '6b387301 0a00'],
    ['JSON', '7b7d'],
    ['a cut envelope', '6b387300 0a09 0a02'],
    ['a length of 100 MB', '6b387300 12 80c2d72f 00'],
    ['a length of 4 GB', '6b387300 12 ffffffff0f'],
    ['a length beyond 64 bits', '6b387300 12 ffffffffffffffffffff01'],
    ['field number 0', '6b387300 00'],
    ['a wire type that does not exist', '6b387300 1f'],
    ['a group that never ends', '6b387300 1b'],
    ['the end of a group that never began', '6b387300 1c'],
  ])('%s is refused', (_what, text) => {
    expect(() => unwrapEnvelope(hex(text))).toThrow(DecodeError);
  });
});

describe('a message', () => {
  test('unknown fields of every wire type are skipped', () => {
    const unknown = hex('e80705 e9070000000000000000 ea0703616263 eb070801ec07 ed0700000000');
    expect(decodeProtobuf(messageType('core/v1.ConfigMap'), unknown)).toEqual({});
  });

  test.each([
    ['a string where a message belongs, too short', '0a01 05'],
    ['a varint where a message belongs', '08 01'],
    ['a length of 100 MB', '0a 80c2d72f'],
    ['a varint without an end', '0a ffffffffffffffffffffff'],
    ['a time beyond year 9999', '0a09 4207 08 ffffffffff7f'],
    ['field set that is no JSON', '0a0a 8a0107 3a05 0a03 7b7b7b'],
  ])('%s is refused and the error has the path', (_what, text) => {
    expect(() => decodeProtobuf(pod, hex(text))).toThrow(DecodeError);
    expect(() => decodeProtobuf(pod, hex(text))).toThrow(/^metadata/);
  });

  test('a truncated message is never accepted as the whole object', () => {
    const whole = decodeProtobuf(pod, filled);
    for (let length = 0; length < filled.length; length += 7) {
      expect(outcomeOf(() => decodeProtobuf(pod, filled.subarray(0, length)))).not.toEqual(whole);
    }
  });

  test('nesting that is too deep is refused', () => {
    let schema: Buffer = Buffer.alloc(0);
    for (let level = 0; level < PROTOBUF_DEPTH_MAX + 1; level += 1) schema = field(28, schema);
    expect(() => decodeProtobuf(messageType('apiextensions/v1.JSONSchemaProps'), schema)).toThrow(
      'nested too deep',
    );
  });

  test('more than PROTOBUF_VALUES_MAX values are refused before they exhaust memory', () => {
    const containers = Buffer.concat(Array.from({ length: PROTOBUF_VALUES_MAX + 1 }, () => hex('1200')));
    expect(() => decodeProtobuf(pod, field(2, containers))).toThrow(/more than/);
  });

  test('the parts of a message are merged', () => {
    const parts = Buffer.concat([
      encodeProtobuf(pod, { metadata: { labels: { a: '1' } } }),
      field(1, field(11, hex('0a0162 120132'))),
    ]);
    const { labels } = decodeProtobuf(pod, parts)['metadata'] as { labels: object };
    expect({ ...labels }).toEqual({ a: '1', b: '2' });
  });
});

/** Returns the result of `read`, or a marker for DecodeError. Other errors are thrown. */
function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError) return 'refused';
    throw error;
  }
}

function field(number: number, bytes: Buffer): Buffer {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

test('arbitrary and corrupted bytes are decoded or refused', () => {
  const attempt = (bytes: Buffer): boolean =>
    outcomeOf(() => decodeObject(pod, decodeProtobuf(pod, unwrapEnvelope(bytes).raw))) !== undefined;
  const whole = wrapEnvelope({ apiVersion: 'v1', kind: 'Pod', raw: filled });
  const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
      const bytes = Buffer.from(whole);
      for (const { at, byte } of changes) bytes[at] = byte;
      expect(attempt(bytes)).toBe(true);
    }),
    { numRuns: 300 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (tail) => {
      expect(attempt(Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0x00]), tail]))).toBe(true);
      expect(attempt(wrapEnvelope({ apiVersion: 'v1', kind: 'Pod', raw: Buffer.from(tail) }))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
