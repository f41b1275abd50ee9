import { deepEqual } from '../../../../shared/object/clone';
import type { ApiObject, ManagedFieldsEntry } from '../../../../shared/object/object';
import { isNoDifference } from '../../../../shared/fieldset/compare';
import { hasNamedItems } from '../../../../shared/fieldset/named-items';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import {
  equalSets,
  isEmptySet,
  recursiveDifference,
  union,
  unionAll,
} from '../../../../shared/fieldset/field-set';
import { formatTime } from '../../../../shared/meta/time';
import type { Entry } from './entries';
import {
  identityOf,
  readEntries,
  storedEntries,
  withEntries,
  withManagedFields,
  compareText,
} from './entries';
import type { FieldWriter, ManagedKind } from './managed-kind';
import { ChangesByVersion, hasForgotten, reconcileEntries, takeAway } from './owned-fields';

/**
 * The object of a write other than apply (create, update, any other patch) with new managedFields: the
 * writer takes the fields that it changed from all other managers. `live` is the stored object, undefined
 * for a creation. managedFields in the new object count if they are valid; absent or invalid ones are those
 * of the live object, and `[]` or `[{}]` removes them. An object with list items that have no key gets no
 * managedFields.
 */
export function trackUpdate(
  kind: ManagedKind,
  live: ApiObject | undefined,
  next: ApiObject,
  writer: FieldWriter,
): ApiObject {
  const given = next.metadata.managedFields;
  const stored = live?.metadata.managedFields;
  const own = deepEqual(given, stored) ? undefined : entriesGiven(given);
  const isUntracked = own === undefined ? stored === undefined || stored.length === 0 : own.length === 0;
  if (live !== undefined && isUntracked) return withManagedFields(next, undefined);
  if (own?.some(isOfNoVersion) === true) return withManagedFields(next, undefined);
  const changes = new ChangesByVersion(kind, live ?? kind.blank, next);
  const isSame = isNoDifference(changes.comparison) && own === undefined;
  if (isSame && !hasForgotten(kind, stored)) return withManagedFields(next, stored);
  if (!hasNamedItems(kind.shape, live, next)) return withManagedFields(next, undefined);
  const before = own ?? (live === undefined ? [] : storedEntries(live.metadata));
  return withEntries(next, entriesAfter(kind, before, changes, writer));
}

/**
 * The entries that the client sent; undefined if they are absent or invalid. Tracking begins with the
 * creation or the first apply: as upstream, an object without managedFields is not tracked by other updates.
 */
function entriesGiven(given: readonly ManagedFieldsEntry[] | undefined): readonly Entry[] | undefined {
  if (given === undefined || given.length === 0) return undefined;
  return isReset(given) ? [] : readEntries(given);
}

/** An apiVersion that is malformed removes all entries; an unknown one removes its own entry. */
function isOfNoVersion({ apiVersion }: Entry): boolean {
  return apiVersion.split('/', 3).length > 2;
}

/** The decoder drops an empty list, so a list with one empty entry represents it. */
function isReset(given: readonly ManagedFieldsEntry[]): boolean {
  return (
    given.length === 1 && Object.values(given[0] ?? {}).every((value) => value === undefined || value === '')
  );
}

function entriesAfter(
  kind: ManagedKind,
  before: readonly Entry[],
  changes: ChangesByVersion,
  writer: FieldWriter,
): readonly Entry[] {
  const { added, modified } = changes.comparison;
  const reconciled = reconcileEntries(kind, before);
  const others = takeAway(reconciled, changes);
  const taken = recursiveDifference(union(modified, added), kind.ignored);
  if (isEmptySet(taken)) return others;
  return capUpdaters(withOwned(others, reconciled, { kind, taken, writer }));
}

/**
 * The writer's entry has what it owned before and what it took now. Its time changes when the set changes.
 */
function withOwned(
  entries: readonly Entry[],
  before: readonly Entry[],
  own: { readonly kind: ManagedKind; readonly taken: FieldSet; readonly writer: FieldWriter },
): readonly Entry[] {
  const { kind, taken, writer } = own;
  const { manager, subresource } = writer;
  const name = { manager, operation: 'Update', apiVersion: kind.apiVersion, subresource } as const;
  const identity = identityOf(name);
  const isOwn = (entry: Entry): boolean => identityOf(entry) === identity;
  const former = before.find(isOwn);
  const kept = entries.find(isOwn);
  const set = kept === undefined ? taken : union(kept.set, taken);
  const same = former !== undefined && equalSets(former.set, set);
  const entry = same ? former : { ...name, time: formatTime(writer.nowMs), set };
  return [...entries.filter((each) => each !== kept), entry];
}

/** Maximum number of updaters; the oldest ones beyond it are merged into one entry for each version. */
export const UPDATE_MANAGERS_MAX = 10;

const BUCKET_MANAGER = 'ancient-changes';

/** Bounds the entries of updates; those of appliers are never merged. */
function capUpdaters(entries: readonly Entry[]): readonly Entry[] {
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
  const set = unionAll(bucket.map((each) => each.set));
  return [{ ...youngest, manager: BUCKET_MANAGER, subresource: '', set }];
}
