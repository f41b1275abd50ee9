import { parseTime } from '../../../../shared/meta/time';

/** The one kind of cell that changes while the object does not: how long ago something was. */
export class Age {
  readonly #sinceMs: number | undefined;

  /** `time` is a Time or MicroTime as decoded JSON; anything that is no time is an unknown age. */
  constructor(time: unknown) {
    this.#sinceMs = typeof time === 'string' ? parseTime(time) : undefined;
  }

  get isUnknown(): boolean {
    return this.#sinceMs === undefined;
  }

  /** The age at `now`, in milliseconds since the epoch. */
  text(now: number): string {
    return this.#sinceMs === undefined ? '<unknown>' : humanDuration(now - this.#sinceMs);
  }
}

const SECOND_MS = 1000;

/**
 * A duration in milliseconds in at most two units, coarser as it grows: `119s`, `9m59s`, `3h5m`, `47h`, `7d23h`, `5y324d`. A clock that
 * is up to two seconds behind counts as now; further in the future is `<invalid>`.
 */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / SECOND_MS);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${String(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${String(minutes)}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${String(hours)}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, 'd', hours % 24, 'h');
  if (days < 365 * 2) return `${String(days)}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? withRest(years, 'y', days % 365, 'd') : `${String(years)}y`;
}

function withRest(amount: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${String(amount)}${unit}` : `${String(amount)}${unit}${String(rest)}${restUnit}`;
}
