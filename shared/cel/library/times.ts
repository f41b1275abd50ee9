import type { FunctionDeclaration } from '../check/declarations';
import { DURATION, INT, STRING, TIMESTAMP } from '../check/types';
import { calendarParts } from '../eval/time';
import type { CalendarParts } from '../eval/time';
import { Duration, EvalError, NO_OVERLOAD, Timestamp } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, method } from './functions';
import type { Signature } from './functions';

const NANOSECONDS_PER_MS = 1_000_000n;

function part(read: (parts: CalendarParts) => number): (time?: Value, zone?: Value) => Result {
  return (time, zone) => {
    if (!(time instanceof Timestamp) || (zone !== undefined && typeof zone !== 'string')) return NO_OVERLOAD;
    const parts = calendarParts(time, zone);
    return parts instanceof EvalError ? parts : BigInt(read(parts));
  };
}

/** The signatures of a part of a moment: in UTC, and in a time zone. */
function partOf(id: string, read: (parts: CalendarParts) => number, zoneId = `${id}_with_tz`): Signature[] {
  return [method(id, [TIMESTAMP], INT, part(read)), method(zoneId, [TIMESTAMP, STRING], INT, part(read))];
}

function inUnits(id: string, unitMs: bigint): Signature {
  return method(id, [DURATION], INT, (duration) => {
    if (!(duration instanceof Duration)) return NO_OVERLOAD;
    return duration.nanoseconds / (unitMs * NANOSECONDS_PER_MS);
  });
}

export const TIME_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare('getFullYear', 0, ...partOf('timestamp_to_year', (parts) => parts.year)),
  declare('getMonth', 0, ...partOf('timestamp_to_month', (parts) => parts.month)),
  declare('getDayOfYear', 0, ...partOf('timestamp_to_day_of_year', (parts) => parts.dayOfYear)),
  declare('getDayOfMonth', 0, ...partOf('timestamp_to_day_of_month', (parts) => parts.dayOfMonth - 1)),
  declare('getDate', 0, ...partOf('timestamp_to_day_of_month_1_based', (parts) => parts.dayOfMonth)),
  declare('getDayOfWeek', 0, ...partOf('timestamp_to_day_of_week', (parts) => parts.dayOfWeek)),
  declare(
    'getHours',
    0,
    ...partOf('timestamp_to_hours', (parts) => parts.hours),
    inUnits('duration_to_hours', 3_600_000n),
  ),
  declare(
    'getMinutes',
    0,
    ...partOf('timestamp_to_minutes', (parts) => parts.minutes),
    inUnits('duration_to_minutes', 60_000n),
  ),
  declare(
    'getSeconds',
    0,
    ...partOf('timestamp_to_seconds', (parts) => parts.seconds, 'timestamp_to_seconds_tz'),
    inUnits('duration_to_seconds', 1000n),
  ),
  declare(
    'getMilliseconds',
    0,
    ...partOf('timestamp_to_milliseconds', (parts) => parts.milliseconds),
    inUnits('duration_to_milliseconds', 1n),
  ),
];
