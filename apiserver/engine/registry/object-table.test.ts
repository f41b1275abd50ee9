import { Age, humanDuration } from './object-table';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

test.each([
  [-2 * SECOND, '<invalid>'],
  [-1.5 * SECOND, '0s'],
  [0, '0s'],
  [119.9 * SECOND, '119s'],
  [2 * MINUTE, '2m'],
  [9 * MINUTE + 59 * SECOND, '9m59s'],
  [10 * MINUTE + 5 * SECOND, '10m'],
  [179 * MINUTE, '179m'],
  [3 * HOUR, '3h'],
  [7 * HOUR + 59 * MINUTE, '7h59m'],
  [8 * HOUR + 30 * MINUTE, '8h'],
  [47 * HOUR, '47h'],
  [2 * DAY, '2d'],
  [7 * DAY + 23 * HOUR, '7d23h'],
  [8 * DAY + 23 * HOUR, '8d'],
  [2 * YEAR - DAY, '729d'],
  [2 * YEAR, '2y'],
  [5 * YEAR + 324 * DAY, '5y324d'],
  [8 * YEAR + 40 * DAY, '8y'],
])('%d ms read as %s', (durationMs, text) => {
  expect(humanDuration(durationMs)).toBe(text);
});

test('the age of something without a time is unknown, and microseconds count', () => {
  const now = Date.parse('2026-01-01T00:01:00Z');
  expect(new Age(null).text(now)).toBe('<unknown>');
  expect(new Age('yesterday').text(now)).toBe('<unknown>');
  expect(new Age('2026-01-01T00:00:00Z').text(now)).toBe('60s');
  expect(new Age('2026-01-01T00:00:59.500000Z').text(now)).toBe('0s');
});
