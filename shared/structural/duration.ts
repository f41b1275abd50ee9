import { ownKeyMap } from '../own-key-map';

/**
 * True for a duration as Go's `time.ParseDuration` reads it (`1h30m`, `-1.5s`, `0`), or with a number and the
 * name of a unit anywhere in it (`3 days`), as in go-openapi.
 */
export function isDuration(text: string): boolean {
  return isGoDuration(text) || hasNamedUnit(text);
}

const NANOSECONDS = ownKeyMap<number>({
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
});
const NANOSECONDS_MAX = 2 ** 63;

function isGoDuration(text: string): boolean {
  const unsigned = text.replace(/^[-+]/, '');
  if (unsigned === '0') return true;
  if (unsigned === '') return false;
  let total = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < unsigned.length) {
    const [, amount = '', unit = ''] = PART.exec(unsigned) ?? [];
    if (unit === '') return false;
    total += Number(amount) * (NANOSECONDS.get(unit) ?? 0);
  }
  return total < NANOSECONDS_MAX;
}

/** Sticky, so that a long row of digits without a unit is read once. */
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|[uµμ]s|ms|[smh])/y;

/** Exact names of units. The second list holds prefixes of longer names. */
const UNITS: ReadonlySet<string> = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const LONG_UNITS = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];
const INTEGER_DIGITS_MAX = 18;
/** Matches from the first digit of a row only. Otherwise the row would be read again from each digit. */
const NAMED_UNIT = /(?<!\d)(\d+)\s*([A-Za-zµ]+)/g;

function hasNamedUnit(text: string): boolean {
  let isFound = false;
  for (const [, amount = '', name = ''] of text.matchAll(NAMED_UNIT)) {
    if (amount.length > INTEGER_DIGITS_MAX) return false;
    const unit = name.toLowerCase();
    isFound ||= UNITS.has(unit) || LONG_UNITS.some((long) => unit.startsWith(long));
  }
  return isFound;
}
