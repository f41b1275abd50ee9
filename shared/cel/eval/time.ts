import { zoneOffsets } from '../../time-zone';
import { EvalError, Timestamp } from './values';
import type { Duration } from './values';
import { plainDecimal } from './decimals';

const NANOSECONDS = 1_000_000_000n;
const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/u;
const UNIT_NANOSECONDS = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', NANOSECONDS],
  ['m', 60n * NANOSECONDS],
  ['h', 3600n * NANOSECONDS],
]);
const INT_MAX = 2n ** 63n - 1n;

/** Reads an RFC 3339 time; undefined when it is none. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6])];
  const [zoneHours, zoneMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
  if (!isDate || hour >= 24 || minute >= 60 || second >= 60 || zoneHours > 24 || zoneMinutes >= 60)
    return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const offsetMinutes = (zoneHours * 60 + zoneMinutes) * (match[8] === '-' ? -1 : 1);
  const seconds = BigInt(date.getTime() / 1000 - offsetMinutes * 60);
  const fraction = match[7] === undefined ? 0n : BigInt(match[7].slice(0, 9).padEnd(9, '0'));
  return new Timestamp(seconds * NANOSECONDS + fraction, offsetMinutes);
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function daysOf(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

export function formatTimestamp({ nanoseconds, offsetMinutes }: Timestamp): string {
  const fraction = ((nanoseconds % NANOSECONDS) + NANOSECONDS) % NANOSECONDS;
  const date = new Date(Number((nanoseconds - fraction) / NANOSECONDS) * 1000 + offsetMinutes * 60_000);
  const digits = String(fraction).padStart(9, '0').replace(/0+$/u, '');
  const hours = String(Math.floor(Math.abs(offsetMinutes) / 60)).padStart(2, '0');
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${hours}:${String(Math.abs(offsetMinutes) % 60).padStart(2, '0')}`;
  return `${date.toISOString().slice(0, 19)}${digits === '' ? '' : `.${digits}`}${offsetMinutes === 0 ? 'Z' : zone}`;
}

/** An amount with its unit. There is only one way to read a run of digits: two would be tried in all combinations. */
const DURATION_PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/uy;

/** Reads a duration as Go's `time.ParseDuration` does, in nanoseconds; undefined when it is none or too long. */
export function parseDuration(text: string): bigint | undefined {
  const isNegative = text.startsWith('-');
  let offset = isNegative || text.startsWith('+') ? 1 : 0;
  if (offset === text.length) return undefined;
  if (text.length === offset + 1 && text.endsWith('0')) return 0n;
  let total = 0n;
  while (offset < text.length) {
    DURATION_PART.lastIndex = offset;
    const part = DURATION_PART.exec(text);
    if (part === null) return undefined;
    const [{ length }, amount = '', unitName = ''] = part;
    total += nanosecondsOf(amount, UNIT_NANOSECONDS.get(unitName) ?? 1n);
    offset += length;
  }
  if (isNegative) return total > INT_MAX + 1n ? undefined : -total;
  return total > INT_MAX ? undefined : total;
}

function nanosecondsOf(amount: string, unit: bigint): bigint {
  if (!amount.includes('.')) return BigInt(amount) * unit;
  const [whole = '', fraction = ''] = amount.split('.');
  const digits = fraction.slice(0, 18);
  return BigInt(whole || '0') * unit + (BigInt(digits || '0') * unit) / 10n ** BigInt(digits.length);
}

/** Writes a duration as seconds, as upstream does; fractions have the precision of a double. */
export function formatDuration({ nanoseconds }: Duration): string {
  const seconds = Number(nanoseconds / NANOSECONDS) + Number(nanoseconds % NANOSECONDS) / 1e9;
  return `${plainDecimal(seconds)}s`;
}

/** The parts of a moment in a time zone. */
export interface CalendarParts {
  readonly year: number;
  /** From 0. */
  readonly month: number;
  readonly dayOfMonth: number;
  /** From 0 for the first of January. */
  readonly dayOfYear: number;
  /** From 0 for Sunday. */
  readonly dayOfWeek: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
  readonly milliseconds: number;
}

/**
 * Splits a moment into the parts of a calendar.
 *
 * @param zone a name such as `Europe/Paris`, an offset such as `-08:00`, or UTC when undefined
 */
export function calendarParts(time: Timestamp, zone: string | undefined): CalendarParts | EvalError {
  const fraction = ((time.nanoseconds % NANOSECONDS) + NANOSECONDS) % NANOSECONDS;
  const unixMs = Number((time.nanoseconds - fraction) / NANOSECONDS) * 1000;
  const offsetMs = zone === undefined ? 0 : zoneOffsetMs(zone, unixMs);
  if (offsetMs instanceof EvalError) return offsetMs;
  const date = new Date(unixMs + offsetMs);
  const yearStart = new Date(0);
  yearStart.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth(),
    dayOfMonth: date.getUTCDate(),
    dayOfYear: Math.floor((date.getTime() - yearStart.getTime()) / 86_400_000),
    dayOfWeek: date.getUTCDay(),
    hours: date.getUTCHours(),
    minutes: date.getUTCMinutes(),
    seconds: date.getUTCSeconds(),
    milliseconds: Number(fraction / 1_000_000n),
  };
}

function zoneOffsetMs(zone: string, unixMs: number): number | EvalError {
  const offset = /^([+-]?\d+):(\d+)$/u.exec(zone);
  if (offset !== null) {
    const hours = Number(offset[1]);
    const minutes = Number(offset[2]) * (zone.startsWith('-') ? -1 : 1);
    return (hours * 60 + minutes) * 60_000;
  }
  if (zone === '' || zone === 'UTC') return 0;
  try {
    return zoneOffsets(zone)(unixMs);
  } catch {
    return new EvalError(`unknown time zone ${zone}`);
  }
}
