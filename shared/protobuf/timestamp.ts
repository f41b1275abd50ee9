import { formatTime } from '../meta/time';

const MICROS_START = '2006-01-02T15:04:05'.length;
const NANOS_PER_MICRO = 1000;
/** The years 1 to 9999, the range of RFC 3339. */
const SECONDS_MIN = Date.parse('0001-01-01T00:00:00Z') / 1000;
const SECONDS_MAX = Date.parse('9999-12-31T23:59:59Z') / 1000;

/** Cache of the last time, since objects of one list share most times. */
let lastText = '';
let lastSeconds = 0;

/** Returns seconds since the epoch and nanoseconds of a canonical Time (whole seconds) or MicroTime. */
export function secondsOf(time: string): { readonly seconds: number; readonly nanos: number } {
  const text = time.slice(0, MICROS_START);
  if (text !== lastText) {
    lastSeconds = Date.parse(`${text}Z`) / 1000;
    lastText = text;
  }
  const nanos =
    time.length > MICROS_START + 1 ? Number(time.slice(MICROS_START + 1, -1)) * NANOS_PER_MICRO : 0;
  return { seconds: lastSeconds, nanos };
}

/**
 * Formats a canonical Time, with six digits of fraction if `micro`. Returns undefined outside the years 1 to
 * 9999.
 */
export function timeText(
  { seconds, nanos }: { readonly seconds: number; readonly nanos: number },
  { micro }: { readonly micro: boolean },
): string | undefined {
  const whole = seconds + Math.floor(nanos / 1e9);
  if (!(whole >= SECONDS_MIN && whole <= SECONDS_MAX)) return undefined;
  const text = formatTime(whole * 1000);
  if (!micro) return text;
  const micros = Math.floor((nanos - Math.floor(nanos / 1e9) * 1e9) / NANOS_PER_MICRO);
  return `${text.slice(0, -1)}.${String(micros).padStart(6, '0')}Z`;
}
