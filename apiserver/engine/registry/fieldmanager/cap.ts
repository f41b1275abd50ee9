import { unionAll } from '../../../../shared/fieldset/field-set';
import type { Entry } from './entries';
import { compareText, identityOf } from './entries';

/** Maximum number of updaters; the oldest ones beyond it are merged into one entry for each version. */
export const UPDATE_MANAGERS_MAX = 10;

const BUCKET_MANAGER = 'ancient-changes';

/** Bounds the entries of updates; those of appliers are never merged. */
export function capUpdaters(entries: readonly Entry[]): readonly Entry[] {
  const updaters = entries.filter(({ operation }) => operation === 'Update');
  let surplus = updaters.length - UPDATE_MANAGERS_MAX;
  if (surplus <= 0) return entries;
  const oldestFirst = updaters.sort(
    (a, b) => compareText(a.time ?? '', b.time ?? '') || compareText(identityOf(a), identityOf(b)),
  );
  const buckets = new Map<string, Entry[]>();
  for (const entry of oldestFirst) {
    if (surplus <= 0) break;
    const bucket = buckets.get(entry.apiVersion);
    if (bucket === undefined) buckets.set(entry.apiVersion, [entry]);
    else {
      bucket.push(entry);
      surplus -= 1;
    }
  }
  const merging = [...buckets.values()]
    .filter((bucket) => bucket.length > 1)
    .map((bucket) => withFormerBucket(bucket, updaters));
  const gone = new Set(merging.flat());
  return [...entries.filter((entry) => !gone.has(entry)), ...merging.flatMap(mergedEntry)];
}

/** Merges with the former bucket, however new its time is: a version has at most one bucket. */
function withFormerBucket(bucket: readonly Entry[], updaters: readonly Entry[]): readonly Entry[] {
  const former = updaters.find(
    ({ manager, apiVersion }) => manager === BUCKET_MANAGER && apiVersion === bucket[0]?.apiVersion,
  );
  return former === undefined || bucket.includes(former) ? bucket : [...bucket, former];
}

/** One entry for a bucket, in order of age: it has the time of the youngest. */
function mergedEntry(bucket: readonly Entry[]): readonly Entry[] {
  const youngest = bucket.at(-1);
  if (youngest === undefined) return [];
  return [{ ...youngest, manager: BUCKET_MANAGER, set: unionAll(bucket.map(({ set }) => set)) }];
}
