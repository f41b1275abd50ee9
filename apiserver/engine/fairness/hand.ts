import { hash } from 'node:crypto';

/** The queues that a flow may wait in; two flows rarely have the same hand. */
export type Hand = readonly number[];

/**
 * Deals the hand of a flow by shuffle sharding, as kube-apiserver does: the hash of schema and distinguisher draws cards without replacement.
 * `queues` is at least `handSize`.
 */
export function dealHand(
  flow: { readonly schema: string; readonly distinguisher: string },
  { queues, handSize }: { readonly queues: number; readonly handSize: number },
): Hand {
  const digest = hash('sha256', `${flow.schema}\0${flow.distinguisher}`, 'buffer');
  let entropy = digest.readBigUInt64LE(0);
  const drawn: number[] = [];
  const ascending: number[] = [];
  for (let cards = queues; drawn.length < handSize; cards -= 1) {
    const card = nthLeft(Number(entropy % BigInt(cards)), ascending);
    entropy /= BigInt(cards);
    drawn.push(card);
    ascending.push(card);
    ascending.sort((a, b) => a - b);
  }
  return drawn;
}

/** Returns the nth card that is not drawn yet. */
function nthLeft(place: number, drawnAscending: readonly number[]): number {
  return drawnAscending.reduce((card, drawn) => (drawn <= card ? card + 1 : card), place);
}
