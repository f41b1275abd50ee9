import type { PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1beta1';
import type { Queuing } from './queue-set';
import { QueueSet } from './queue-set';

/** One PriorityLevelConfiguration in use. It stays the same while its object changes, for the sake of the requests under way. */
export class Level {
  readonly name: string;
  uid = '';
  /** 0 for one that is exempt. */
  shares = 0;
  queuing: Queuing | undefined;
  /** That all replicas have together where they share them: by them is told how wide one request may be. */
  wholeSeats = 1;
  /** Undefined for one that is exempt: nothing is limited. */
  readonly queues: QueueSet | undefined;
  /** Its object is gone, but not all of its requests are. */
  isQuiescing = false;

  constructor(name: string, source: PriorityLevelConfiguration, now: () => number) {
    this.name = name;
    const isExempt = source.spec.limited === undefined;
    this.queues = isExempt ? undefined : new QueueSet({ seats: 1, queuing: undefined }, now);
    this.take(source);
  }

  /** Whether the object can be used for this level: it does not turn from exempt to limited, or back. */
  suits({ spec }: PriorityLevelConfiguration): boolean {
    return (spec.limited === undefined) === (this.queues === undefined);
  }

  take({ metadata, spec: { limited } }: PriorityLevelConfiguration): void {
    const given = limited?.limitResponse.queuing;
    this.uid = metadata.uid ?? '';
    this.shares = limited?.assuredConcurrencyShares ?? 0;
    this.queuing =
      given === undefined
        ? undefined
        : { queues: given.queues, handSize: given.handSize, queueLengthMax: given.queueLengthLimit };
    this.isQuiescing = false;
  }

  /** Gives the level its part, from 0 to 1, of so many seats. */
  limit(wholeSeats: number, part: number): void {
    this.wholeSeats = Math.ceil(wholeSeats);
    this.queues?.configure({ seats: Math.ceil(wholeSeats * part), queuing: this.queuing });
  }
}

/** Whether its parts fit each other, as validation demands: one that gets by it is as if it were not there. */
export function isUsable({ metadata, spec }: PriorityLevelConfiguration): boolean {
  const isExempt = spec.type === 'Exempt';
  if (isExempt !== (spec.limited === undefined) || isExempt !== (metadata.name === EXEMPT)) return false;
  if (spec.limited === undefined) return true;
  const { type, queuing } = spec.limited.limitResponse;
  if ((type === 'Reject') !== (queuing === undefined)) return false;
  return queuing === undefined || (queuing.handSize > 0 && queuing.handSize <= queuing.queues);
}

const EXEMPT = 'exempt';
