/**
 * Quantities: a decimal number with an SI suffix (`500m`, `2k`), a binary suffix (`1.5Gi`) or an exponent
 * (`1e3`). Parsing, rounding and formatting follow resource.Quantity of v1.21, so that equal input gives equal
 * text.
 */

export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

export interface Quantity {
  /** The value is `unscaled` × 10^`scale`, exactly. */
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
}

export const ZERO_QUANTITY: Quantity = { unscaled: 0n, scale: 0, format: 'decimal' };

/** Longest accepted text, which bounds arithmetic on untrusted input. */
const QUANTITY_CHARS_MAX = 256;
/** Largest accepted exponent, for the same reason. */
const EXPONENT_MAX = 400;
/** The smallest unit is nano; smaller amounts are rounded away from zero. */
const NANO = -9;
/** More digits may not fit an int64, to whose maximum binary values are capped. */
const INT64_DIGITS = 18;
const INT64_MAX = 2n ** 63n - 1n;

const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?((?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?)$/;
/** Matches canonical text: a small integer that needs no other suffix. */
const PLAIN_DECIMAL = /^[1-9]\d{0,2}[mkMGTPE]?$/;
const PLAIN_BINARY = /^[1-9]\d{0,2}[KMGT]i$/;

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Result of parsing a quantity. */
export interface ReadQuantity {
  readonly quantity: Quantity;
  /** The value fits 64 bits without rounding. */
  readonly exact: boolean;
  /** Upstream returns some text unchanged although its own rules would format it differently (`1.500`). */
  readonly verbatim: boolean;
}

/** Parses a quantity; undefined for invalid text. */
export function parseQuantity(text: string): Quantity | undefined {
  return parse(text)?.quantity;
}

/** Parses a quantity with the details of its text; undefined for invalid text. */
export function readQuantity(text: string): ReadQuantity | undefined {
  return parse(text);
}

/**
 * Returns the text as the API formats it (`0.5` becomes `500m`, `1024Mi` becomes `1Gi`), or undefined for
 * invalid text.
 */
export function canonicalQuantity(text: string): string | undefined {
  if (PLAIN_DECIMAL.test(text) || PLAIN_BINARY.test(text)) return text;
  const parsed = parse(text);
  if (parsed === undefined) return undefined;
  return parsed.verbatim ? text : formatQuantity(parsed.quantity);
}

/** Formats a value as canonical text. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.unscaled === 0n) return '0';
  return quantity.format === 'binary' ? formatBinary(quantity) : formatDecimal(quantity);
}

/** Compares two quantities: negative if `a` is smaller, positive if it is larger, else zero. */
export function compareQuantity(a: Quantity, b: Quantity): number {
  const scale = Math.min(a.scale, b.scale);
  const difference = rescale(a, scale) - rescale(b, scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Adds two quantities, in the format of `a` unless `a` is zero. */
export function addQuantity(a: Quantity, b: Quantity): Quantity {
  const scale = Math.min(a.scale, b.scale);
  return {
    unscaled: rescale(a, scale) + rescale(b, scale),
    scale,
    format: a.unscaled === 0n ? b.format : a.format,
  };
}

/** Subtracts `b` from `a`, in the format of `a` unless `a` is zero. */
export function subtractQuantity(a: Quantity, b: Quantity): Quantity {
  return addQuantity(a, { ...b, unscaled: -b.unscaled });
}

function parse(text: string): ReadQuantity | undefined {
  if (text.length > QUANTITY_CHARS_MAX) return undefined;
  const match = NUMBER.exec(text);
  // A suffix, a sign or a point without digits is zero, but empty text is invalid.
  if (match === null || text === '') return undefined;
  const [, sign = '', whole = '', denominator = '', suffix = ''] = match;
  const unit = unitOf(suffix);
  if (unit === undefined) return undefined;
  const digits = whole.replace(/^0+(?=\d)/, '').padStart(1, '0') + denominator;
  const magnitude = BigInt(digits);
  const parts = { magnitude, digits, places: denominator.length, ...unit };
  const exact = withinInt64(parts);
  // Upstream reads a suffix without digits as zero, but not where it needs more than 64 bits.
  if (exact === undefined && whole + denominator === '') return undefined;
  const value = exact ?? rounded(parts);
  const unscaled = sign === '-' ? -value.unscaled : value.unscaled;
  return {
    quantity: { ...value, unscaled },
    exact: exact !== undefined,
    verbatim: exact !== undefined && isVerbatim(parts, exact.scale),
  };
}

interface Unit {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

interface Parts extends Unit {
  readonly magnitude: bigint;
  /** Digits without the point; before it without leading zeros, but at least one. */
  readonly digits: string;
  /** Number of digits after the point. */
  readonly places: number;
}

function unitOf(suffix: string): Unit | undefined {
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'binary' };
  const decimal = DECIMAL_SUFFIXES.indexOf(suffix);
  if (decimal >= 0) return { base: 10, exponent: decimal * 3 + NANO, format: 'decimal' };
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) <= EXPONENT_MAX ? { base: 10, exponent, format: 'exponent' } : undefined;
}

/** Returns the value if it fits 64 bits without rounding, else undefined. */
function withinInt64(parts: Parts): Quantity | undefined {
  const { base, digits, exponent, magnitude, places, format } = parts;
  if (base === 10) {
    const scale = exponent - places;
    return digits.length <= INT64_DIGITS && scale >= NANO
      ? { unscaled: magnitude, scale, format }
      : undefined;
  }
  // A binary digit is about 0.3 decimal digits.
  if (places > 0 || 15 - digits.length - Math.trunc((exponent * 3) / 10) - 1 < 0) return undefined;
  const unscaled = magnitude << BigInt(exponent);
  return unscaled <= INT64_MAX ? { unscaled, scale: 0, format } : undefined;
}

function rounded(parts: Parts): Quantity {
  const { base, exponent, magnitude, places } = parts;
  const unscaled = base === 2 ? magnitude << BigInt(exponent) : magnitude;
  let value: Quantity = {
    unscaled,
    scale: base === 2 ? -places : exponent - places,
    format: parts.format,
  };
  if (value.scale < NANO) {
    const divisor = 10n ** BigInt(NANO - value.scale);
    value = { ...value, unscaled: (value.unscaled + divisor - 1n) / divisor, scale: NANO };
  }
  if (value.format !== 'binary') return value;
  const cap: Quantity = { unscaled: INT64_MAX, scale: 0, format: value.format };
  if (compareQuantity(value, cap) > 0) value = cap;
  const one: Quantity = { unscaled: 1n, scale: 0, format: 'decimal' };
  return compareQuantity(value, one) < 0 ? { ...value, format: 'decimal' } : value;
}

function isVerbatim({ base, digits, magnitude }: Parts, scale: number): boolean {
  if (base === 2) return (magnitude & 7n) !== 0n;
  return scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

/** Returns the unscaled value at a scale that is not larger than the quantity's own. */
function rescale(quantity: Quantity, scale: number): bigint {
  return quantity.unscaled * 10n ** BigInt(quantity.scale - scale);
}

function formatDecimal({ unscaled, scale, format }: Quantity): string {
  let mantissa = unscaled;
  let exponent = scale;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent += 1;
  }
  while (exponent % 3 !== 0) {
    mantissa *= 10n;
    exponent -= 1;
  }
  const suffix = format === 'exponent' ? undefined : DECIMAL_SUFFIXES[(exponent - NANO) / 3];
  if (suffix !== undefined) return `${String(mantissa)}${suffix}`;
  return exponent === 0 ? String(mantissa) : `${String(mantissa)}e${String(exponent)}`;
}

function formatBinary(quantity: Quantity): string {
  const { unscaled, scale } = quantity;
  const divisor = 10n ** BigInt(Math.max(-scale, 0));
  const small = unscaled < 1024n * divisor && unscaled > -1024n * divisor;
  if (small || unscaled % divisor !== 0n) return formatDecimal({ ...quantity, format: 'decimal' });
  let value = scale < 0 ? unscaled / divisor : rescale(quantity, 0);
  let times = 0;
  while (value % 1024n === 0n && times < BINARY_SUFFIXES.length - 1) {
    value /= 1024n;
    times += 1;
  }
  return `${String(value)}${BINARY_SUFFIXES[times] ?? ''}`;
}
