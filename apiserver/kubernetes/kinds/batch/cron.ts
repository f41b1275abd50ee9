import { durationProblem } from '../../../../shared/errors/duration-problem';
import { goQuote } from '../../../../shared/errors/go-quote';
import { parseDurationMs } from '../../../../shared/flags/duration';

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

const DESCRIPTORS: ReadonlySet<string> = new Set([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
]);
const EVERY = '@every ';

/** What is wrong with the schedule, or undefined for a good one. */
export function scheduleProblem(schedule: string): string | undefined {
  if (schedule.startsWith('@')) return descriptorProblem(schedule);
  const fields = schedule.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== FIELDS.length) {
    return `Expected exactly ${String(FIELDS.length)} fields, found ${String(fields.length)}: ${schedule}`;
  }
  for (const [index, bounds] of FIELDS.entries()) {
    const ranges = (fields[index] ?? '').split(',').filter((range) => range !== '');
    for (const range of ranges) {
      const problem = rangeProblem(range, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function descriptorProblem(schedule: string): string | undefined {
  if (DESCRIPTORS.has(schedule)) return undefined;
  if (!schedule.startsWith(EVERY)) return `Unrecognized descriptor: ${schedule}`;
  const given = schedule.slice(EVERY.length);
  if (parseDurationMs(given) !== undefined) return undefined;
  return `Failed to parse duration ${schedule}: ${durationProblem(given)}`;
}

/** `*`, `5`, `1-5`, each also with `/step`. A single number with a step runs to the end of the field. */
function rangeProblem(text: string, field: Field): string | undefined {
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
  return stepSize === 0 ? `Step of range should be a positive number: ${text}` : undefined;
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
