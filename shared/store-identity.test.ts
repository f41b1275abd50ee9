import { encodeStoreIdentity, offsetAbove, offsetOfRestore, parseStoreIdentity } from './store-identity';

const NOW_MS = Date.UTC(2026, 0, 1);

test('a record is read as written, and an invalid one is reported with its error', () => {
  const record = { id: 'a', offset: 3_000_000_000 };
  expect(parseStoreIdentity(encodeStoreIdentity(record))).toEqual(record);
  for (const [text, problem] of [
    ['x', 'is no JSON'],
    ['null', 'lacks its id'],
    ['{"id":"","offset":1}', 'lacks its id'],
    ['{"id":"a","offset":-1}', 'or its offset'],
  ] as const)
    expect(parseStoreIdentity(Buffer.from(text))).toMatchObject({
      problem: expect.stringContaining(problem) as string,
    });
});

test('a replaced store starts at a round number above everything seen', () => {
  expect(offsetAbove(5)).toBe(1_000_000_000);
  expect(offsetAbove(1_000_000_005)).toBe(2_000_000_000);
});

test('a restore is above what was seen, and above a restore of the same backup a second before', () => {
  const first = offsetOfRestore(5, NOW_MS);
  expect(offsetOfRestore(5, NOW_MS + 1_000)).toBe(first + 1_000_000);
  expect(offsetOfRestore(first + 5, NOW_MS)).toBeGreaterThan(first + 5);
  // Another hundred years of microseconds are left before numbers lose their last digit.
  expect(Number.isSafeInteger(offsetOfRestore(5, NOW_MS + 100 * 365 * 86_400_000))).toBe(true);
});
