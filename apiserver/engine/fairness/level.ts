import type {
  LimitedPriorityLevelConfiguration,
  PriorityLevelConfiguration,
} from '../../../shared/api/types/flowcontrol-v1';
import { RESOURCE } from '../../../shared/api/resource-names';
import type { SeatBounds } from './lending';
import { SmoothedDemand } from './lending';
import type { Queuing } from './queue-set';
import { QueueSet } from './queue-set';

/** One PriorityLevelConfiguration in force. It outlives changes of its object, because requests in flight refer to it. */
export class Level {
  readonly name: string;
  uid = '';
  /** 0 for an exempt level that lends nothing. */
  shares = 0;
  /** The part of its seats, from 0 to 1, that it lends. */
  lendable = 0;
  /** The part of its seats that it may borrow besides; undefined: as many as there are. */
  borrowable: number | undefined = 0;
  readonly demand = new SmoothedDemand();
  queuing: Queuing | undefined;
  /** The nominal seats of all replicas together, which limit the width of one request. */
  wholeSeats = 1;
  /** Undefined for an exempt level, which is not limited. */
  readonly queues: QueueSet | undefined;
  /** The object was deleted while requests of the level are in flight. */
  isQuiescing = false;
  /** Executing requests of an exempt level, and their peak since the last call of `takeExemptPeak`. Each counts as one seat. */
  readonly #exempt = { executing: 0, peak: 0 };

  constructor(name: string, source: PriorityLevelConfiguration, now: () => number) {
    this.name = name;
    const isExempt = source.spec.limited === undefined;
    this.queues = isExempt ? undefined : new QueueSet({ seats: 1, queuing: undefined }, now);
    this.take(source);
  }

  /** Returns whether the object can configure this level, which cannot change between exempt and limited. */
  suits({ spec }: PriorityLevelConfiguration): boolean {
    return (spec.limited === undefined) === (this.queues === undefined);
  }

  take({ metadata, spec: { limited, exempt } }: PriorityLevelConfiguration): void {
    const given = limited?.limitResponse.queuing;
    this.uid = metadata.uid ?? '';
    this.shares = limited === undefined ? (exempt?.nominalConcurrencyShares ?? 0) : sharesOf(limited);
    if (LENDS) this.#takeLending(limited ?? exempt ?? {});
    this.queuing =
      given === undefined
        ? undefined
        : { queues: given.queues, handSize: given.handSize, queueLengthMax: given.queueLengthLimit };
    this.isQuiescing = false;
  }

  /**
   * Limits the level to a part, from 0 to 1, of its seats.
   *
   * @param lent its seats after lending and borrowing; undefined: before levels have lent for the first time
   */
  limit(lent: number | undefined, part: number): void {
    const seats = lent ?? this.#firstSeats();
    this.queues?.configure({ seats: Math.ceil(seats * part), queuing: this.queuing });
  }

  beginExempt(): void {
    this.#exempt.executing += 1;
    this.#exempt.peak = Math.max(this.#exempt.peak, this.#exempt.executing);
  }

  endExempt(): void {
    this.#exempt.executing -= 1;
  }

  /** Returns the peak of executing requests of an exempt level since the last call. */
  takeExemptPeak(): number {
    const { peak } = this.#exempt;
    this.#exempt.peak = this.#exempt.executing;
    return peak;
  }

  /** The bounds of its seats. @param all the seats of all levels */
  bounds(all: number): SeatBounds {
    const { wholeSeats: nominal, lendable, borrowable } = this;
    const borrowed = borrowable === undefined ? all : Math.round(nominal * borrowable);
    return { nominal, min: nominal - Math.round(nominal * lendable), max: nominal + borrowed };
  }

  #takeLending({ lendablePercent = 0, borrowingLimitPercent }: Lending): void {
    this.lendable = lendablePercent / PERCENT;
    this.borrowable = borrowingLimitPercent === undefined ? undefined : borrowingLimitPercent / PERCENT;
  }

  /** As upstream, a new level begins with half of what it could lend. */
  #firstSeats(): number {
    return this.wholeSeats - Math.floor(Math.round(this.wholeSeats * this.lendable) / 2);
  }
}

interface Lending {
  readonly lendablePercent?: number;
  readonly borrowingLimitPercent?: number;
}

const PERCENT = 100;

/** The field of the shares in the version in which levels are stored. */
export const SHARES =
  RESOURCE.prioritylevelconfigurations.version === 'v1beta1'
    ? 'assuredConcurrencyShares'
    : 'nominalConcurrencyShares';

/** Levels lend seats to each other in the versions that name the shares so. */
export const LENDS = SHARES === 'nominalConcurrencyShares';

/** Returns the concurrency shares of a limited level. */
export function sharesOf(limited: LimitedPriorityLevelConfiguration): number {
  return (limited as Readonly<Partial<Record<typeof SHARES, number>>>)[SHARES] ?? 0;
}

/** Returns the specification of a limited level with these shares. */
export function limitedTo(
  shares: number,
  limitResponse: LimitedPriorityLevelConfiguration['limitResponse'],
): LimitedPriorityLevelConfiguration {
  const lending = LENDS ? { lendablePercent: 0 } : {};
  return { [SHARES]: shares, limitResponse, ...lending } as unknown as LimitedPriorityLevelConfiguration;
}

/** Returns whether the object is consistent, as validation requires. Inconsistent objects are ignored. */
export function isUsable({ metadata, spec }: PriorityLevelConfiguration): boolean {
  const isExempt = spec.type === 'Exempt';
  if (isExempt !== (spec.limited === undefined) || isExempt !== (metadata.name === EXEMPT)) return false;
  if (spec.limited === undefined) return true;
  const { type, queuing } = spec.limited.limitResponse;
  if ((type === 'Reject') !== (queuing === undefined)) return false;
  return queuing === undefined || (queuing.handSize > 0 && queuing.handSize <= queuing.queues);
}

const EXEMPT = 'exempt';
