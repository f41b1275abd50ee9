import { durationProblem } from '../errors/duration-problem';
import { goQuote } from '../errors/go-quote';
import { parseDurationMs } from '../flags/duration';

/**
 * Schedules in the form of cron, as v1.21 reads them: five fields, or a descriptor such as `@daily` or `@every 1h`. Sunday is 0
 * alone, and months and days have English names of three letters.
 */

interface Field {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
];

const DESCRIPTORS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
const EVERY = '@every ';
const SECOND_MS = 1_000;

/** The values of one field that a schedule has. */
interface FieldValues {
  readonly values: ReadonlySet<number>;
  /** Whether the field is `*`: then the other field of days decides alone. */
  readonly isAny: boolean;
}

/** A schedule: the same time again and again, or the minutes that match five fields. */
export type Schedule =
  | { readonly kind: 'every'; readonly everyMs: number }
  | {
      readonly kind: 'fields';
      readonly minutes: FieldValues;
      readonly hours: FieldValues;
      readonly days: FieldValues;
      readonly months: FieldValues;
      readonly weekdays: FieldValues;
    };

/** What is wrong with the schedule, or undefined for a good one. */
export function scheduleProblem(schedule: string): string | undefined {
  const parsed = parseSchedule(schedule);
  return typeof parsed === 'string' ? parsed : undefined;
}

/** Parses a schedule without a time zone. Returns what is wrong with it as text. */
export function parseSchedule(schedule: string): Schedule | string {
  if (schedule.startsWith('@')) return parseDescriptor(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    return `Expected exactly ${String(FIELDS.length)} fields, found ${String(fields.length)}: ${schedule}`;
  }
  const values: FieldValues[] = [];
  for (const [index, bounds] of FIELDS.entries()) {
    const parsed = parseField(fields[index] ?? '', bounds);
    if (typeof parsed === 'string') return parsed;
    values.push(parsed);
  }
  const [minutes = NONE, hours = NONE, days = NONE, months = NONE, weekdays = NONE] = values;
  return { kind: 'fields', minutes, hours, days, months, weekdays };
}

const NONE: FieldValues = { values: new Set(), isAny: false };

function parseDescriptor(schedule: string): Schedule | string {
  const fields = DESCRIPTORS.get(schedule);
  if (fields !== undefined) return parseSchedule(fields);
  if (!schedule.startsWith(EVERY)) return `Unrecognized descriptor: ${schedule}`;
  const given = schedule.slice(EVERY.length);
  const everyMs = parseDurationMs(given);
  if (everyMs === undefined) return `Failed to parse duration ${schedule}: ${durationProblem(given)}`;
  return { kind: 'every', everyMs: Math.max(SECOND_MS, everyMs - (everyMs % SECOND_MS)) };
}

function parseField(text: string, field: Field): FieldValues | string {
  const values = new Set<number>();
  let isAny = false;
  for (const part of text.split(',').filter((each) => each !== '')) {
    const range = parseRange(part, field);
    if (typeof range === 'string') return range;
    for (let value = range.start; value <= range.end; value += range.step) values.add(value);
    if (/^[*?](?:\/0*1)?$/u.test(part)) isAny = true;
  }
  return { values, isAny };
}

/** `*`, `5`, `1-5`, each also with `/step`. A single number with a step runs to the end of the field. */
function parseRange(
  text: string,
  field: Field,
): { readonly start: number; readonly end: number; readonly step: number } | string {
  const [range = '', step, ...more] = text.split('/');
  const bounds = boundsOf(range, field, text);
  if (typeof bounds === 'string') return bounds;
  if (more.length > 0) return `Too many slashes: ${text}`;
  const stepSize = step === undefined ? 1 : numberOf(step);
  if (typeof stepSize === 'string') return stepSize;
  const { start } = bounds;
  const end = bounds.end ?? (step === undefined ? start : field.max);
  if (start < field.min)
    return `Beginning of range (${String(start)}) below minimum (${String(field.min)}): ${text}`;
  if (end > field.max) return `End of range (${String(end)}) above maximum (${String(field.max)}): ${text}`;
  if (start > end)
    return `Beginning of range (${String(start)}) beyond end of range (${String(end)}): ${text}`;
  if (stepSize === 0) return `Step of range should be a positive number: ${text}`;
  return { start, end, step: stepSize };
}

interface Bounds {
  readonly start: number;
  /** Undefined for a single number. */
  readonly end: number | undefined;
}

/** The two ends of a range, or what is wrong with it. */
function boundsOf(range: string, field: Field, text: string): Bounds | string {
  const [low = '', high, ...more] = range.split('-');
  if (low === '*' || low === '?') return { start: field.min, end: field.max };
  const start = valueOf(low, field);
  if (typeof start === 'string') return start;
  if (more.length > 0) return `Too many hyphens: ${text}`;
  const end = high === undefined ? undefined : valueOf(high, field);
  return typeof end === 'string' ? end : { start, end };
}

/** The number, or what is wrong with the text. */
function valueOf(text: string, { names = [], min }: Field): number | string {
  const named = names.indexOf(text.toLowerCase());
  return named >= 0 ? named + min : numberOf(text);
}

/** The number of at least 0, or what is wrong with the text, in the words of Go. */
function numberOf(text: string): number | string {
  if (!/^[+-]?\d+$/.test(text))
    return `Failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`;
  const number = Number.parseInt(text, 10);
  return number < 0 ? `Negative number (${String(number)}) not allowed: ${text}` : number;
}
