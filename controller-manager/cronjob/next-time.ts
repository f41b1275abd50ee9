import type { Schedule } from '../../shared/meta/cron';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Time zones change their offsets at these boundaries only. */
const CHUNK_MS = 900_000;
/** As upstream: a schedule without a time in so long has none. */
const YEARS_MAX = 5;

/** A schedule in a time zone. */
export interface ZonedSchedule {
  readonly schedule: Schedule;
  /** Returns the offset from UTC at a time, both in milliseconds. */
  readonly offsetAt: (timeMs: number) => number;
}

/**
 * Returns the first time after `afterMs` that the schedule names, both in milliseconds since the epoch; undefined if there is none in five
 * years. As upstream's library: a local time that a change of the clock skips does not happen, and one that it repeats happens twice.
 */
export function nextTime({ schedule, offsetAt }: ZonedSchedule, afterMs: number): number | undefined {
  if (schedule.kind === 'every') return Math.floor(afterMs / 1_000) * 1_000 + schedule.everyMs;
  const fromMs = (Math.floor(afterMs / MINUTE_MS) + 1) * MINUTE_MS;
  const firstDay = startOfDay(fromMs + offsetAt(fromMs));
  const lastYear = new Date(firstDay).getUTCFullYear() + YEARS_MAX;
  for (let day = firstDay; new Date(day).getUTCFullYear() <= lastYear; day += DAY_MS) {
    if (!isDay(schedule, new Date(day))) continue;
    const found = nextOfDay({ schedule, offsetAt }, day, fromMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the last time after `afterMs` and not after `untilMs` that the schedule names, in milliseconds since the epoch; undefined if there is
 * none. It halves the span, since a long span may have very many times.
 */
export function lastTime(zoned: ZonedSchedule, afterMs: number, untilMs: number): number | undefined {
  const { schedule } = zoned;
  let last = nextTime(zoned, afterMs);
  if (last === undefined || last > untilMs) return undefined;
  if (schedule.kind === 'every') return untilMs - ((untilMs - last) % schedule.everyMs);
  let endMs = untilMs;
  // Times are whole minutes.
  while (endMs - last >= MINUTE_MS) {
    const middle: number = last + Math.floor((endMs - last) / 2);
    const next = nextTime(zoned, middle);
    if (next !== undefined && next <= endMs) last = next;
    else endMs = middle;
  }
  return last;
}

type Fields = Extract<Schedule, { readonly kind: 'fields' }>;

function startOfDay(wallMs: number): number {
  return Math.floor(wallMs / DAY_MS) * DAY_MS;
}

/** If both fields of days are restricted, one that matches is enough. */
function isDay({ months, days, weekdays }: Fields, date: Date): boolean {
  if (!months.values.has(date.getUTCMonth() + 1)) return false;
  const [isDate, isWeekday] = [days.values.has(date.getUTCDate()), weekdays.values.has(date.getUTCDay())];
  return days.isAny || weekdays.isAny ? isDate && isWeekday : isDate || isWeekday;
}

/** Returns the first matching time of a local day, given as the same date in UTC, from a time on. */
function nextOfDay(
  { schedule, offsetAt }: ZonedSchedule & { readonly schedule: Fields },
  day: number,
  fromMs: number,
): number | undefined {
  const around = [offsetAt(day - DAY_MS), offsetAt(day + 2 * DAY_MS)];
  const [least, most] = [Math.min(...around), Math.max(...around)];
  const endMs = day + DAY_MS - least;
  let timeMs = Math.max(fromMs, day - most);
  while (timeMs < endMs) {
    const chunkEndMs =
      least === most ? endMs : Math.min(endMs, (Math.floor(timeMs / CHUNK_MS) + 1) * CHUNK_MS);
    const offset = least === most ? least : offsetAt(timeMs);
    for (; timeMs < chunkEndMs; timeMs += MINUTE_MS) {
      const wall = new Date(timeMs + offset);
      if (startOfDay(wall.getTime()) !== day) continue;
      if (schedule.hours.values.has(wall.getUTCHours()) && schedule.minutes.values.has(wall.getUTCMinutes()))
        return timeMs;
    }
  }
  return undefined;
}
