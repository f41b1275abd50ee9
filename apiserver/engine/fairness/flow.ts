import type { FlowSchema } from '../../../shared/api/types/flowcontrol-v1';
import type { Exchange, FlowMark } from '../request/exchange';
import type { FlowCounts } from './flow-counts';
import type { Hand } from './hand';
import { dealHand } from './hand';
import type { Level } from './level';

/** The maximum of cached hands, one per user or namespace. */
const HANDS_MAX = 10_000;
const ONLY_QUEUE: Hand = [0];

/** One FlowSchema in force, with its priority level. */
export class Flow {
  readonly name: string;
  readonly level: Level;
  readonly mark: FlowMark;
  readonly counts: FlowCounts;
  readonly #distinguishes: string | undefined;
  readonly #hands = new Map<string, Hand>();

  constructor({ metadata, spec }: FlowSchema, level: Level, counts: FlowCounts) {
    this.name = metadata.name ?? '';
    this.level = level;
    this.counts = counts;
    this.mark = { schemaUid: metadata.uid ?? '', levelUid: level.uid };
    this.#distinguishes = spec.distinguisherMethod?.type;
  }

  distinguisherOf({ user, info }: Pick<Exchange, 'user' | 'info'>): string {
    if (this.#distinguishes === undefined) return '';
    return this.#distinguishes === 'ByUser' ? user.name : info.namespace;
  }

  /** Returns the queues in which the request may wait. */
  handOf(exchange: Pick<Exchange, 'user' | 'info'>): Hand {
    const { queuing } = this.level;
    if (queuing === undefined || queuing.queues < 2) return ONLY_QUEUE;
    const distinguisher = this.distinguisherOf(exchange);
    const known = this.#hands.get(distinguisher);
    if (known !== undefined) return known;
    if (this.#hands.size >= HANDS_MAX) this.#hands.clear();
    const hand = dealHand({ schema: this.name, distinguisher }, queuing);
    this.#hands.set(distinguisher, hand);
    return hand;
  }
}
