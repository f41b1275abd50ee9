import { canonicalMicroTime, canonicalTime, formatMicroTime, formatTime, parseTime } from './time';

test.each([
  ['2021-04-08T16:31:21Z', '2021-04-08T16:31:21Z'],
  ['2021-04-08T16:31:21.987654Z', '2021-04-08T16:31:21Z'],
  ['2021-04-08T01:31:21+02:00', '2021-04-07T23:31:21Z'],
  ['2021-12-31T23:59:59-00:01', '2022-01-01T00:00:59Z'],
  ['0050-01-01T00:30:00+01:00', '0049-12-31T23:30:00Z'],
  ['2020-02-29T00:00:00Z', '2020-02-29T00:00:00Z'],
  ['2021-04-08T5:31:21,5Z', '2021-04-08T05:31:21Z'],
  ['2021-04-08T5:31:21+24:60', '2021-04-07T04:31:21Z'],
])('the time %s is formatted as %s', (text, canonical) => {
  expect(canonicalTime(text)).toBe(canonical);
});

test.each([
  '',
  '2021-04-08',
  '2021-04-08 16:31:21Z',
  '2021-04-08T16:31:21',
  '2021-02-29T00:00:00Z',
  '2021-13-01T00:00:00Z',
  '2021-01-01T24:00:00Z',
  '2021-01-01T00:00:60Z',
  '9999-12-31T23:59:59-01:00',
  '2021-04-08T16:31:21Z and more',
  '2021-04-08t16:31:21Z',
  '2021-04-08T16:31:21z',
  '2021-04-08T16:31:21.Z',
  '2021-04-08T16:31:21+25:00',
  '2021-04-08T16:31:21+0100',
])('%p is an invalid time', (text) => {
  expect(canonicalTime(text)).toBeUndefined();
});

test('the first second of year 1 is the zero time', () => {
  expect(canonicalTime('0001-01-01T00:00:00Z')).toBeNull();
  expect(canonicalMicroTime('0001-01-01T00:00:00.000000Z')).toBeNull();
});

test.each([
  ['2021-04-08T18:31:21.012345+02:00', '2021-04-08T16:31:21.012345Z'],
  ['2021-04-08T16:31:21Z', '2021-04-08T16:31:21.000000Z'],
  ['2021-04-08T16:31:21.123Z', '2021-04-08T16:31:21.123000Z'],
  ['2021-04-08T16:31:21.123456999Z', '2021-04-08T16:31:21.123456Z'],
  ['2021-04-08T16:31:21,1Z', '2021-04-08T16:31:21.100000Z'],
  ['0001-01-01T00:00:00Z', null],
])('the time with microseconds %s is formatted as %s', (text, canonical) => {
  expect(canonicalMicroTime(text)).toBe(canonical);
});

test('times round-trip with the precision of their type', () => {
  const moment = Date.UTC(2021, 3, 8, 16, 31, 21, 987);
  expect(formatTime(moment)).toBe('2021-04-08T16:31:21Z');
  expect(formatMicroTime(moment)).toBe('2021-04-08T16:31:21.987000Z');
  expect(formatMicroTime(-1)).toBe('1969-12-31T23:59:59.999000Z');
  expect(parseTime('2021-04-08T16:31:21.987Z')).toBe(moment);
  expect(parseTime('yesterday')).toBeUndefined();
});
