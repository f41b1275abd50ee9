/**
 * True for a duration as Go reads it (`1h30m`, `-1.5s`, `0`), or with a number and the name of a unit anywhere in it (`3 days`), as
 * go-openapi does.
 */
export function isDuration(text: string): boolean {
  return isGoDuration(text) || hasNamedUnit(text);
}

const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const NANOSECONDS_MAX = 2 ** 63;

function isGoDuration(text: string): boolean {
  const unsigned = text.replace(/^[-+]/, '');
  if (unsigned === '0') return true;
  if (unsigned === '') return false;
  let total = 0;
  let next = 0;
  for (const [part, amount = '', unit = ''] of unsigned.matchAll(/(\d+\.?\d*|\.\d+)(ns|[uµμ]s|ms|[smh])/g)) {
    total += Number(amount) * (NANOSECONDS[unit] ?? 0);
    next += part.length;
  }
  // Nothing may stand between the parts, so that their lengths add up to the whole.
  return next === unsigned.length && total < NANOSECONDS_MAX;
}

/** Exact names of units; those in the second list are beginnings of longer names. */
const UNITS: ReadonlySet<string> = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const LONG_UNITS = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];
const INTEGER_DIGITS_MAX = 18;

function hasNamedUnit(text: string): boolean {
  let isFound = false;
  for (const [, amount = '', name = ''] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (amount.length > INTEGER_DIGITS_MAX) return false;
    const unit = name.toLowerCase();
    isFound ||= UNITS.has(unit) || LONG_UNITS.some((long) => unit.startsWith(long));
  }
  return isFound;
}
