import type { CronJob } from '../../shared/api/types/batch-v1';
import { parseTime } from '../../shared/meta/time';
import type { ZonedSchedule } from './next-time';
import { lastTime, nextTime } from './next-time';

const SECOND_MS = 1_000;
/** More missed times than this are reported: the clock may be wrong. */
const FEW_MAX = 100;
/** A CronJob is looked at a little after its time, since clocks differ. */
const DELAY_MS = 100;
/** How long an impossible schedule waits before it is looked at again. */
const IMPOSSIBLE_MS = 86_400_000;

export interface MissedTimes {
  readonly earliestMs: number;
  /** The last time that is due; undefined if none is. */
  readonly latestMs: number | undefined;
  readonly count: number;
}

export interface ScheduledCronJob extends ZonedSchedule {
  readonly cronJob: CronJob;
  readonly nowMs: number;
}

/** Returns the times of a CronJob that have come since its last one; undefined for an impossible schedule (`mostRecentScheduleTime`). */
function missedTimes(
  { cronJob, nowMs, ...schedule }: ScheduledCronJob,
  { includesDeadline }: { readonly includesDeadline: boolean },
): MissedTimes | undefined {
  const { metadata, spec, status } = cronJob;
  const sinceMs = parseTime(status?.lastScheduleTime ?? metadata.creationTimestamp ?? '') ?? nowMs;
  const deadline = includesDeadline ? spec.startingDeadlineSeconds : undefined;
  const earliestMs =
    deadline === undefined ? sinceMs : Math.max(sinceMs, nowMs - Number(deadline) * SECOND_MS);
  const first = nextTime(schedule, earliestMs);
  const second = first === undefined ? undefined : nextTime(schedule, first);
  if (first !== undefined && nowMs < first) return { earliestMs, latestMs: undefined, count: 0 };
  if (first !== undefined && (second === undefined || nowMs < second))
    return { earliestMs, latestMs: first, count: 0 };
  if (first === undefined || second === undefined) return undefined;
  const periodMs = second - first;
  const count = Math.floor((nowMs - first) / periodMs) + 1;
  // Two periods before the end, since periods differ, as in `30 6-16/4 * * 1-5`.
  const latestMs = lastTime(schedule, first + (count - 2) * periodMs, nowMs);
  return { earliestMs, latestMs, count };
}

/** Returns the last time that is due, and whether suspiciously many are; undefined for an impossible schedule. */
export function dueTime(
  scheduled: ScheduledCronJob,
): { readonly timeMs: number | undefined; readonly isTooMany: boolean } | undefined {
  const missed = missedTimes(scheduled, { includesDeadline: true });
  return missed && { timeMs: missed.latestMs, isTooMany: missed.count > FEW_MAX };
}

/** Returns how long it takes until the next time of the CronJob, in milliseconds (upstream `nextScheduleTimeDuration`). */
export function msUntilNext(scheduled: ScheduledCronJob): number {
  const { nowMs } = scheduled;
  const missed = missedTimes(scheduled, { includesDeadline: false });
  const lastMs = missed?.latestMs ?? (missed?.count === 0 ? missed.earliestMs : nowMs);
  const next = nextTime(scheduled, lastMs);
  return next === undefined ? IMPOSSIBLE_MS : Math.max(0, next + DELAY_MS - nowMs);
}
