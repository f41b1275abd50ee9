import { union } from '../../shared/fieldset/field-set';
import type { Entry } from './entries';
import { compareText, identityOf } from './entries';

/** More updaters than this are merged, the oldest first, into one entry for each version. */
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
  const kept = new Set<Entry>(entries);
  const buckets = new Map<string, Entry>();
  for (const entry of oldestFirst) {
    if (surplus <= 0) break;
    const bucket = buckets.get(entry.apiVersion);
    if (bucket === undefined) {
      buckets.set(entry.apiVersion, entry);
      continue;
    }
    const merged: Entry = { ...entry, manager: BUCKET_MANAGER, set: union(bucket.set, entry.set) };
    kept.delete(bucket);
    kept.delete(entry);
    kept.add(merged);
    buckets.set(entry.apiVersion, merged);
    surplus -= 1;
  }
  return [...kept];
}
