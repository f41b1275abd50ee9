import * as fc from 'fast-check';
import {
  keepBodyWithin,
  keepJsonWithin,
  keepStoredWithin,
  keepValuesWithin,
  LOOP_BOUNDS,
  TooLargeHereError,
} from './loop-bounds';

const { valuesMax, storedBytesMax, bodyBytesMax } = LOOP_BOUNDS;
const BYTES = 100_000;

/** A list in a map, of so many values with the two. */
const holding = (values: number): object => ({ list: Array.from({ length: values - 2 }, () => null) });

test('values are counted in lists and maps, however deep, and keys are not', () => {
  const nested = { a: [{ b: { c: [1, 'x', null] } }], d: {} };
  const bounds = (max: number): typeof LOOP_BOUNDS => ({ ...LOOP_BOUNDS, valuesMax: max });
  expect(() => keepValuesWithin(bounds(9), nested, BYTES)).not.toThrow();
  expect(() => keepValuesWithin(bounds(8), nested, BYTES)).toThrow(TooLargeHereError);
});

test('as many values as there may be are within the bounds, and one more is not', () => {
  expect(() => keepValuesWithin(LOOP_BOUNDS, holding(valuesMax), BYTES)).not.toThrow();
  expect(() => keepValuesWithin(LOOP_BOUNDS, holding(valuesMax + 1), BYTES)).toThrow(TooLargeHereError);
});

test('values are not counted if the bytes are too few, or without bounds', () => {
  expect(() => keepValuesWithin(LOOP_BOUNDS, holding(valuesMax + 1), valuesMax * 2)).not.toThrow();
  expect(() => keepValuesWithin(undefined, holding(valuesMax + 1), BYTES)).not.toThrow();
  expect(() => keepBodyWithin(undefined, BYTES * BYTES, 'yaml')).not.toThrow();
  expect(() => keepStoredWithin(undefined, BYTES * BYTES)).not.toThrow();
});

test('a value parsed from JSON is refused at the same number of values, wherever they are', () => {
  const objects = fc.jsonValue({ maxDepth: 6 });
  const refused = (keep: typeof keepJsonWithin, value: unknown, max: number): boolean => {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    try {
      keep({ ...LOOP_BOUNDS, valuesMax: max }, value, bytes);
      return false;
    } catch (error) {
      if (error instanceof TooLargeHereError) return true;
      throw error;
    }
  };
  fc.assert(
    fc.property(objects, fc.array(fc.integer()), fc.nat({ max: 60 }), (object, list, max) => {
      for (const value of [object, { object, list }, [list, object]]) {
        expect(refused(keepJsonWithin, value, max)).toBe(refused(keepValuesWithin, value, max));
      }
    }),
  );
});

test('many values after long strings are found', () => {
  const value = { text: 'é'.repeat(5_000), list: holding(valuesMax) };
  const bytes = Buffer.byteLength(JSON.stringify(value));
  expect(() => keepJsonWithin(LOOP_BOUNDS, value, bytes)).toThrow(TooLargeHereError);
  expect(() => keepJsonWithin(LOOP_BOUNDS, { ...value, list: holding(valuesMax - 2) }, bytes)).not.toThrow();
});

test.each([
  ['empty texts', Array.from({ length: valuesMax }, () => '')],
  ['short names', Object.fromEntries(Array.from({ length: valuesMax }, (_, index) => [`${index}`, 0]))],
])('no more bytes are accounted for than exist: %s', (_, value) => {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  expect(() => keepJsonWithin(LOOP_BOUNDS, value, bytes)).toThrow(TooLargeHereError);
});

test('a body and a stored object have as many bytes as the bounds say', () => {
  for (const syntax of ['json', 'yaml', 'protobuf'] as const) {
    expect(() => keepBodyWithin(LOOP_BOUNDS, bodyBytesMax[syntax], syntax)).not.toThrow();
    expect(() => keepBodyWithin(LOOP_BOUNDS, bodyBytesMax[syntax] + 1, syntax)).toThrow(TooLargeHereError);
  }
  expect(() => keepStoredWithin(LOOP_BOUNDS, storedBytesMax)).not.toThrow();
  expect(() => keepStoredWithin(LOOP_BOUNDS, storedBytesMax + 1)).toThrow(TooLargeHereError);
});
