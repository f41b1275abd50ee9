import { History } from '../record/history';

/**
 * A change in a test: `[revision, key, turn]`; without a turn it is a deletion, with `marked` the mark of a deletion. Keys are like
 * `configmaps/chaos-0/o0`.
 */
export type MadeChange = readonly [
  revision: number,
  key: string,
  turn?: string,
  half?: string | undefined,
  mark?: 'marked',
];

/** The history of a store that was empty at revision 100. */
export function madeHistory(...changes: readonly MadeChange[]): History {
  const history = new History(BASE);
  for (const [revision, key, turn, half, mark] of changes) {
    const deletion = mark === undefined ? {} : { deletionTimestamp: '2026-11-22T00:00:00Z' };
    const object = {
      metadata: { annotations: { turn }, ...deletion, ...(half === undefined ? {} : { labels: { half } }) },
    };
    const isDeletion = turn === undefined;
    const value = Buffer.from(isDeletion ? '' : JSON.stringify(object));
    history.take({ key: `/registry/core/${key}`, revision, isDeletion, value });
  }
  return history;
}

export const BASE = 100;
