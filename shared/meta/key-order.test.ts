import { array, assert, constantFrom, property } from 'fast-check';
import { compareKeys } from './key-order';

test('keys are ordered by their UTF-8 bytes', () => {
  const character = constantFrom(
    'a',
    '-',
    '/',
    'é',
    '\uD7FF',
    '\uE000',
    '\uFFFD',
    '\u{10000}',
    '\u{1F600}',
    '\u{10FFFF}',
  );
  const text = array(character, { maxLength: 4 }).map((characters) => characters.join(''));
  assert(
    property(text, text, (a, b) => {
      expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
