/** The seats of a level: by its shares, when others have borrowed all they can, and when it has borrowed all it can. */
export interface SeatBounds {
  readonly nominal: number;
  readonly min: number;
  readonly max: number;
}

/** Taken and requested seats over some time. */
export interface SeatDemand {
  readonly average: number;
  readonly deviation: number;
  readonly max: number;
  readonly tookMs: number;
}

/** The interval at which levels lend and borrow, in milliseconds. */
export const LENDING_PERIOD_MS = 10_000;
/** The weight of the past in the smoothed demand: it halves in about five minutes. */
const SMOOTHING = 0.977;
/** A smaller demand counts as this, so that levels without any can share what is left. */
const DEMAND_MIN = 0.001;

/** The demand of one level in the last period, and smoothed: it rises at once and falls slowly. */
export class SmoothedDemand {
  highest = 0;
  smoothed = 0;

  update({ average, deviation, max, tookMs }: SeatDemand): void {
    this.highest = Math.round(max);
    if (tookMs <= 0) return;
    const envelope = average + deviation;
    this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
  }
}

export interface LendingLevel extends SeatBounds {
  readonly demand: Pick<SmoothedDemand, 'highest' | 'smoothed'>;
}

/**
 * Returns the current seats of each limited level. A level keeps what it needed at most in the last period, up to its nominal seats; the
 * rest goes to the levels in proportion to their demand, within their bounds (KEP-1040; upstream: `updateBorrowingLocked`).
 *
 * @param total the nominal seats of all levels together, exempt ones included
 * @param exempt the seats that exempt levels do not lend: those that they need, and at least their bound
 */
export function lentSeats(
  levels: readonly LendingLevel[],
  { total, exempt }: { readonly total: number; readonly exempt: number },
): readonly number[] {
  const kept = levels.map(({ nominal, min, demand }) => Math.max(min, Math.min(nominal, demand.highest)));
  const left = total - exempt;
  const least = levels.reduce((sum, { min }) => sum + min, 0);
  const most = kept.reduce((sum, each) => sum + each, 0);
  if (left <= least) return levels.map(({ min }) => min);
  if (left <= most) {
    const part = (left - least) / (most - least);
    return levels.map(({ min }, at) => min + Math.round(((kept[at] ?? min) - min) * part));
  }
  const items = levels.map(({ max, demand }, at) => {
    const low = kept[at] ?? 0;
    return { low, high: Math.max(low, max), target: Math.max(low, demand.smoothed, DEMAND_MIN) };
  });
  // As upstream, which does not subtract the seats of exempt levels here.
  return proportional(items, total).map(Math.round);
}

interface Item {
  readonly low: number;
  readonly high: number;
  readonly target: number;
}

/**
 * Returns parts that sum up to `sum`: each is its target times one common factor, but within its bounds. All parts are at their bounds if
 * these leave no choice.
 */
function proportional(items: readonly Item[], sum: number): readonly number[] {
  const partsAt = (factor: number): readonly number[] =>
    items.map(({ low, high, target }) => Math.min(high, Math.max(low, factor * target)));
  const sumAt = (factor: number): number => partsAt(factor).reduce((all, each) => all + each, 0);
  // Between two of these factors, the sum grows linearly.
  const factors = [0, ...items.flatMap(({ low, high, target }) => [low / target, high / target])].sort(
    (a, b) => a - b,
  );
  let [from, to] = [0, factors.length - 1];
  if (sumAt(factors[to] ?? 0) <= sum) return partsAt(factors[to] ?? 0);
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2);
    if (sumAt(factors[middle] ?? 0) <= sum) from = middle;
    else to = middle;
  }
  const [a = 0, b = 0] = [factors[from], factors[to]];
  const [low, high] = [sumAt(a), sumAt(b)];
  return partsAt(high > low ? a + ((sum - low) / (high - low)) * (b - a) : a);
}
