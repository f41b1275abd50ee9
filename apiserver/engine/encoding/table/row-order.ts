import { Slices } from '../../../../shared/concurrency/slices';
import { pickJson, wantedMembers } from '../../watch-cache/state/pick-json';
import { EncodedCache, PROCESS_BUDGET } from '../encoded-cache';
import type { Source } from '../source';

/** Approximate size of a number in a map. */
const NUMBER_BYTES = 48;
const RANKS = new EncodedCache<number>(PROCESS_BUDGET, () => NUMBER_BYTES);
const OPEN = Buffer.from('{');

/**
 * Sorts objects by the integer at `path` (a kind’s `rowOrder`), stably; a missing one is 0. It yields to the event
 * loop: its time grows with the objects and the distinct integers.
 */
export async function inRowOrder(sources: readonly Source[], path: string): Promise<readonly Source[]> {
  const slices = new Slices();
  const byRank = new Map<number, Source[]>();
  for (const source of sources) {
    const rank = rankOf(source, path);
    const same = byRank.get(rank);
    if (same === undefined) byRank.set(rank, [source]);
    else same.push(source);
    if (slices.due()) await slices.pause();
  }
  // A hundred thousand numbers are sorted within a few milliseconds, and no kind has so many distinct ones.
  const ranks = Float64Array.from(byRank.keys()).sort();
  const ordered: Source[] = [];
  for (const rank of ranks) {
    for (const source of byRank.get(rank) ?? []) ordered.push(source);
    if (slices.due()) await slices.pause();
  }
  return ordered;
}

function rankOf(source: Source, path: string): number {
  const read = (): number => rankIn(source.bytes, path);
  return source.transient === true ? read() : RANKS.get(source, `rank ${path}`, read);
}

/** Scans the bytes: an object of a megabyte is not parsed for one integer. */
function rankIn(bytes: Buffer, path: string): number {
  const members = pickJson(Buffer.concat([OPEN, bytes]), wantedMembers([path]));
  let value: unknown = members;
  for (const name of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }
  return typeof value === 'number' ? value : 0;
}
