/**
 * Times of the API: RFC 3339 in UTC, `2006-01-02T15:04:05Z` for Time and `2006-01-02T15:04:05.000000Z` for
 * MicroTime. The zero time (the first second of year 1) means an absent time.
 */

const ZERO_SECOND = '0001-01-01T00:00:00';

/**
 * Matches date and time, a fraction, and `Z` or an offset. As Go's `time.Parse` does for RFC 3339, it accepts an hour of
 * one digit and a comma before the fraction, and refuses a lower-case `t` or `z`.
 */
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Matches most canonical Times: a year after 1 and a day that every month has. */
const PLAIN_TIME = /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}Z$/;

const MICRO_DIGITS = 6;
const DATE_CHARS = '2006-01-02'.length;
/** Go accepts offsets of 24 hours and of 60 minutes. */
const OFFSET_HOURS_MAX = 24;
const OFFSET_MINUTES_MAX = 60;

/**
 * Returns the canonical Time: whole seconds in UTC, with the fraction cut off. Null for the zero time,
 * undefined for an invalid time.
 */
export function canonicalTime(text: string): string | null | undefined {
  if (PLAIN_TIME.test(text)) return text;
  const parts = utcParts(text);
  if (parts === undefined) return undefined;
  return parts.second === ZERO_SECOND ? null : `${parts.second}Z`;
}

/**
 * Returns the canonical MicroTime: six digits of fraction in UTC, with further digits cut off. Results as of
 * `canonicalTime`. Upstream accepts exactly six digits; this server accepts any number, so that clients may send the
 * dates of their language (`Date.toISOString()` has three).
 */
export function canonicalMicroTime(text: string): string | null | undefined {
  const parts = utcParts(text);
  if (parts === undefined) return undefined;
  const fraction = parts.fraction.slice(0, MICRO_DIGITS).padEnd(MICRO_DIGITS, '0');
  if (parts.second === ZERO_SECOND && Number(fraction) === 0) return null;
  return `${parts.second}.${fraction}Z`;
}

/** Returns milliseconds since the epoch, or undefined for an invalid RFC 3339 time. */
export function parseTime(text: string): number | undefined {
  const parts = utcParts(text);
  if (parts === undefined) return undefined;
  return Date.parse(`${parts.second}Z`) + Number(`0.${parts.fraction === '' ? '0' : parts.fraction}`) * 1000;
}

/** Formats milliseconds since the epoch as a Time. */
export function formatTime(epochMs: number): string {
  return `${secondOf(epochMs)}Z`;
}

/** Formats milliseconds since the epoch, with a fraction of microseconds, as a MicroTime. */
export function formatMicroTime(epochMs: number): string {
  const micros = Math.floor((epochMs - Math.floor(epochMs / 1000) * 1000) * 1000);
  return `${secondOf(epochMs)}.${String(micros).padStart(MICRO_DIGITS, '0')}Z`;
}

function secondOf(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toISOString().slice(0, ZERO_SECOND.length);
    lastSecond = second;
  }
  return lastText;
}

/** Cache of the last second, since most times are in the current one. */
let lastSecond = 0;
let lastText = '1970-01-01T00:00:00';

/** Returns the second in UTC and the digits of the fraction. */
function utcParts(text: string): { readonly second: string; readonly fraction: string } | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] = match;
  if (!isDate(Number(year), Number(month), Number(day))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const local = `${text.slice(0, DATE_CHARS)}T${String(hour).padStart(2, '0')}:${String(minute)}:${String(second)}`;
  if (sign === undefined) return { second: local, fraction };
  if (Number(offsetHour) > OFFSET_HOURS_MAX || Number(offsetMinute) > OFFSET_MINUTES_MAX) return undefined;
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000;
  const shifted = new Date(Date.parse(`${local}Z`) + (sign === '+' ? -offsetMs : offsetMs)).toISOString();
  // An offset that leaves the years 0 to 9999 makes the text longer; such a time cannot be formatted.
  return shifted.length === '2006-01-02T15:04:05.000Z'.length
    ? { second: shifted.slice(0, ZERO_SECOND.length), fraction }
    : undefined;
}

/** True for a day that exists. */
export function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}
