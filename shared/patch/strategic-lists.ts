import type { JsonObject } from '../object/clone';
import { getOwn, isJsonObject, setOwn } from '../object/clone';
import { stringifyExact, NumberText } from '../object/exact-text';
import { PatchError } from './patch-error';

/** How the items of one list merge: by this merge key, or without one as a set of scalars. */
export interface ListRule {
  readonly mergeKey: string | undefined;
  readonly merge: (current: Readonly<JsonObject>, change: Readonly<JsonObject>) => JsonObject;
}

type List = readonly unknown[];

/**
 * Merges two lists. Items of the patch keep its order; live items that it does not name stay before their
 * former successors.
 */
export function mergeLists(rule: ListRule, live: List, change: List): List {
  const { original, patch } = withoutDirectives(rule, live, change);
  const merged = mergeItems(rule, original, patch);
  return arrangeItems(rule, { merged, order: patch, live: original });
}

/**
 * Returns the value of a patch where the object has no value of that type: without members that are null, since
 * there is nothing to remove, and without what holds a `$patch` directive, since there is nothing to direct.
 * Undefined for a value that is such a directive itself. Source: `discardNullValuesFromPatch` and
 * `removeDirectives` of strategicpatch, v1.36.
 *
 * @param nulls - A list with `$setElementOrder` keeps the nulls in its items, as upstream.
 */
export function newValue(change: unknown, nulls: 'dropped' | 'kept' = 'dropped'): unknown {
  if (Array.isArray(change)) return newList(change, nulls);
  if (!isJsonObject(change) || change instanceof NumberText) return change;
  if (Object.hasOwn(change, '$patch')) return undefined;
  const result: JsonObject = {};
  for (const key of Object.keys(change)) {
    const value = change[key];
    const kept = value === null && nulls === 'dropped' ? undefined : newValue(value, nulls);
    if (kept !== undefined) setOwn(result, key, kept);
  }
  return result;
}

function newList(change: List, nulls: 'dropped' | 'kept'): List {
  return change.map((item) => newValue(item, nulls)).filter((item) => item !== undefined);
}

/**
 * Merges two lists in the order of `$setElementOrder`, which names every item that the patch names, or none.
 */
export function mergeListsInOrder(
  rule: ListRule,
  {
    live,
    change,
    order,
  }: { readonly live: List | undefined; readonly change: List | undefined; readonly order: List },
): List {
  if (change === undefined) return arrangeItems(rule, { merged: live ?? [], order, live: live ?? [] });
  checkOrder(rule, change, order);
  if (live === undefined) return arrangeItems(rule, { merged: newList(change, 'kept'), order, live: [] });
  return arrangeItems(rule, { merged: mergeLists(rule, live, change), order, live });
}

/** Removes these scalars from the list. */
export function withoutValues(list: List, values: List): List {
  const gone = new Set(values);
  return list.filter((each) => !gone.has(each));
}

/**
 * Applies the items that are directives: `$patch: delete` removes the item with a key, `$patch: replace`
 * replaces the whole list.
 */
function withoutDirectives(
  { mergeKey }: ListRule,
  live: List,
  change: List,
): { readonly original: List; readonly patch: List } {
  if (mergeKey === undefined) return { original: live, patch: change };
  const deleted = new Set<unknown>();
  let replaces = false;
  const patch = change.filter((item) => {
    if (!isJsonObject(item)) throw failed('the items of a list that merges by key must be objects');
    const directive = getOwn(item, '$patch');
    if (directive === undefined) return true;
    checkDirective(directive);
    if (directive === 'delete') deleted.add(keyOf(item, mergeKey));
    else replaces = true;
    return false;
  });
  if (replaces) return { original: patch, patch: [] };
  const isKept = (each: unknown): boolean => !isJsonObject(each) || !deleted.has(getOwn(each, mergeKey));
  return { original: deleted.size === 0 ? live : live.filter(isKept), patch };
}

function checkDirective(directive: unknown): void {
  if (directive === 'merge') throw failed('merging lists cannot yet be specified in the patch');
  if (directive !== 'delete' && directive !== 'replace') {
    throw failed(`unknown patch type: ${stringifyExact(directive)}`);
  }
}

function mergeItems(rule: ListRule, original: List, patch: List): List {
  const { mergeKey, merge } = rule;
  if (mergeKey === undefined) return unique([...original, ...patch]);
  const positions = new Map<unknown, number>();
  const merged: unknown[] = [];
  for (const item of original) {
    const key = isJsonObject(item) ? getOwn(item, mergeKey) : undefined;
    if (key !== undefined && !positions.has(key)) positions.set(key, merged.length);
    merged.push(item);
  }
  for (const item of patch) {
    if (!isJsonObject(item)) throw failed('the items of a list that merges by key must be objects');
    const key = keyOf(item, mergeKey);
    const at = positions.get(key);
    const current = at === undefined ? undefined : merged[at];
    if (at !== undefined && isJsonObject(current)) merged[at] = merge(current, item);
    else {
      positions.set(key, merged.length);
      merged.push(item);
    }
  }
  return merged;
}

function unique(list: List): List {
  const scalars = list.filter((each) => typeof each !== 'object');
  if (scalars.length !== list.length) throw failed('a list of scalars holds something else');
  return [...new Set(scalars)];
}

function keyOf(item: Readonly<JsonObject>, mergeKey: string): unknown {
  const key = getOwn(item, mergeKey);
  if (key === undefined) throw failed(`the patch does not contain declared merge key: ${mergeKey}`);
  return key;
}

/** Merges the items named by `order`, in that order, with the others in the order of the live list. */
function arrangeItems(
  rule: ListRule,
  { merged, order, live }: { readonly merged: List; readonly order: List; readonly live: List },
): List {
  checkMembers(rule, merged, order);
  const identity = identityBy(rule);
  const places = placesOf(order.map(identity));
  const livePlaces = placesOf(live.map(identity));
  const place = (item: unknown): number => livePlaces.get(identity(item)) ?? -1;
  const named = merged.filter((item) => places.has(identity(item)));
  named.sort((a, b) => (places.get(identity(a)) ?? 0) - (places.get(identity(b)) ?? 0));
  const others = merged.filter((item) => !places.has(identity(item)));
  others.sort((a, b) => place(a) - place(b));
  const result: unknown[] = [];
  let next = 0;
  for (const item of named) {
    while (next < others.length && isBefore(place(others[next]), place(item))) {
      result.push(others[next]);
      next += 1;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

/**
 * Checks that items and orders of a keyed list are structs with the merge key, as far as upstream reads them.
 */
function checkMembers({ mergeKey }: ListRule, merged: List, order: List): void {
  if (mergeKey === undefined) return;
  const stray = order.findIndex((item) => !isJsonObject(item));
  const before = new Set(stray < 0 ? [] : order.slice(0, stray).map(identityBy({ mergeKey })));
  for (const item of merged) {
    if (!isJsonObject(item)) throw failed('the items of a list that merges by key must be objects');
    const key = keyOf(item, mergeKey);
    if (stray >= 0 && !before.has(key)) throw failed(`value for key ${String(stray)} is not a map`);
  }
}

/** Positions outside the live list come before nothing. */
function isBefore(a: number, b: number): boolean {
  return a >= 0 && b >= 0 && a < b;
}

function placesOf(identities: List): Map<unknown, number> {
  const places = new Map<unknown, number>();
  for (const [index, identity] of identities.entries()) {
    if (!places.has(identity)) places.set(identity, index);
  }
  return places;
}

function identityBy({ mergeKey }: Pick<ListRule, 'mergeKey'>): (item: unknown) => unknown {
  if (mergeKey === undefined) return (item) => item;
  return (item) => (isJsonObject(item) ? getOwn(item, mergeKey) : item);
}

/** Checks that the patch's items are in the order of `$setElementOrder`. An empty order is not checked. */
function checkOrder(rule: ListRule, change: List, order: List): void {
  if (order.length === 0) return;
  const identity = identityBy(rule);
  const set = change.filter((item) => !isJsonObject(item) || getOwn(item, '$patch') === undefined);
  let at = 0;
  for (const each of order) if (at < set.length && identity(set[at]) === identity(each)) at += 1;
  if (at < set.length) {
    throw failed("the order in the patch's list doesn't match its $setElementOrder list");
  }
}

function failed(message: string): PatchError {
  return new PatchError('failed', message);
}
