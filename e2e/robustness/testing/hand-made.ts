import { History } from '../record/history';

/** A change as a test writes it down: `[revision, key, turn]`, without a turn a deletion. Keys: `configmaps/chaos-0/o0`. */
export type MadeChange = readonly [revision: number, key: string, turn?: string, half?: string];

/** The history of a store that held nothing at revision 100. */
export function madeHistory(...changes: readonly MadeChange[]): History {
  const history = new History(BASE);
  for (const [revision, key, turn, half] of changes) {
    const object = {
      metadata: { annotations: { turn }, ...(half === undefined ? {} : { labels: { half } }) },
    };
    const isDeletion = turn === undefined;
    const value = Buffer.from(isDeletion ? '' : JSON.stringify(object));
    history.take({ key: `/registry/core/${key}`, revision, isDeletion, value });
  }
  return history;
}

export const BASE = 100;
