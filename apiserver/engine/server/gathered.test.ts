import { array, assert, integer, oneof, property } from 'fast-check';
import { Gathered } from './gathered';

test('chunks of any size are joined, and none is overwritten by later ones', () => {
  const size = oneof(integer({ min: 0, max: 20 }), integer({ min: 4_000, max: 40_000 }));
  assert(
    property(array(size, { maxLength: 60 }), (sizes) => {
      const pieces = sizes.map((bytes, at) => Buffer.alloc(bytes, at));
      const gathered = new Gathered();
      for (const piece of pieces) gathered.add(piece);
      expect(gathered.bytes).toBe(sizes.reduce((sum, bytes) => sum + bytes, 0));
      expect(gathered.joined().equals(Buffer.concat(pieces))).toBe(true);
      pieces.forEach((piece, at) => expect(piece.every((byte) => byte === at)).toBe(true));
    }),
  );
});

test('a single chunk is not copied, and small ones are copied together', () => {
  const piece = Buffer.from('alone');
  const one = new Gathered();
  one.add(piece);
  expect(one.joined()).toBe(piece);

  const many = new Gathered();
  const sent = Buffer.alloc(10_000, 'a');
  for (let at = 0; at < sent.length; at += 1) many.add(sent.subarray(at, at + 1));
  sent.fill('b');
  expect(many.joined().toString()).toBe(`b${'a'.repeat(9_999)}`);
});
