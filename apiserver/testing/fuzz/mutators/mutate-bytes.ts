import type { Material, Mutator } from './mutator';
import { INPUT_BYTES_MAX } from './mutator';

/** Changes bytes without knowing what they mean: one to eight changes of the kinds below. */
export const mutateBytes: Mutator = (input, material) => {
  let bytes = input;
  for (let left = 1 + material.random.below(MANY); left > 0; left -= 1) {
    bytes = material.random.pick(CHANGES)(bytes, material);
  }
  return bytes.subarray(0, INPUT_BYTES_MAX);
};

const MANY = 8;
const REPEATS_MAX = 400;
const INTERESTING_BYTES = [0x00, 0x01, 0x20, 0x22, 0x2e, 0x2f, 0x5c, 0x7f, 0x80, 0xc0, 0xed, 0xfe, 0xff];
const INTERESTING_NUMBERS = [
  '0',
  '-0',
  '-1',
  '00',
  '1e309',
  '1E-400',
  '0.1',
  '2147483647',
  '2147483648',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '18446744073709551616',
  '99999999999999999999999999999999999999',
];

interface Range {
  readonly start: number;
  readonly end: number;
}

const CHANGES: readonly Mutator[] = [
  (bytes, { random }) =>
    replaced(bytes, byteAt(bytes, random), [
      (bytes[random.below(bytes.length)] ?? 0) ^ (1 << random.below(8)),
    ]),
  (bytes, { random }) => replaced(bytes, byteAt(bytes, random), [random.pick(INTERESTING_BYTES)]),
  (bytes, { random }) => replaced(bytes, byteAt(bytes, random), [random.below(256)]),
  (bytes, { random }) => replaced(bytes, placeAt(bytes, random), [random.pick(INTERESTING_BYTES)]),
  (bytes, { random }) => replaced(bytes, rangeAt(bytes, random), []),
  (bytes, { random }) => bytes.subarray(0, random.below(bytes.length + 1)),
  (bytes, { random }) => {
    const range = rangeAt(bytes, random);
    return replaced(bytes, placeAt(bytes, random), bytes.subarray(range.start, range.end));
  },
  (bytes, { random }) => {
    const range = rangeAt(bytes, random);
    const piece = bytes.subarray(range.start, range.end);
    const count = Math.min(
      1 + random.below(REPEATS_MAX),
      Math.floor(INPUT_BYTES_MAX / Math.max(piece.length, 1)),
    );
    return replaced(bytes, range, Buffer.concat(Array.from({ length: count }, () => piece)));
  },
  (bytes, { random, other }) => {
    const range = rangeAt(other, random);
    return replaced(bytes, rangeAt(bytes, random), other.subarray(range.start, range.end));
  },
  (bytes, { random, other }) =>
    Buffer.concat([
      bytes.subarray(0, random.below(bytes.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ]),
  (bytes, material) => replaced(bytes, placeAt(bytes, material.random), wordOf(material)),
  (bytes, material) => replaced(bytes, rangeAt(bytes, material.random), wordOf(material)),
  (bytes, { random }) => {
    const digits = [...bytes.toString('latin1').matchAll(/-?\d+(?:\.\d+)?/g)];
    const match = digits.length === 0 ? undefined : random.pick(digits);
    const start = match?.index ?? 0;
    return replaced(
      bytes,
      { start, end: start + (match?.[0].length ?? 0) },
      Buffer.from(random.pick(INTERESTING_NUMBERS)),
    );
  },
];

function wordOf({ random, words }: Material): Buffer {
  return Buffer.from(words.length === 0 ? random.pick(INTERESTING_NUMBERS) : random.pick(words));
}

function replaced(bytes: Buffer, { start, end }: Range, by: Uint8Array | readonly number[]): Buffer {
  return Buffer.concat([bytes.subarray(0, start), Uint8Array.from(by), bytes.subarray(end)]);
}

function byteAt(bytes: Buffer, random: Material['random']): Range {
  const start = random.below(bytes.length);
  return { start, end: Math.min(start + 1, bytes.length) };
}

/** Between two bytes. */
function placeAt(bytes: Buffer, random: Material['random']): Range {
  const start = random.below(bytes.length + 1);
  return { start, end: start };
}

/** Short ones are likelier. */
function rangeAt(bytes: Buffer, random: Material['random']): Range {
  const start = random.below(bytes.length + 1);
  const longest = random.chance(0.7) ? 16 : bytes.length;
  return { start, end: Math.min(bytes.length, start + random.below(longest + 1)) };
}
