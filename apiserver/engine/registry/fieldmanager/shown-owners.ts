import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { createSet, difference, hasPath, isEmptySet } from '../../../../shared/fieldset/field-set';
import type { Entry } from './entries';
import { identityOf } from './entries';

/** Path elements of one field, such as `f:spec`, `f:replicas`. */
export type FieldPath = readonly string[];

/** One field of an object that a view shows as a field of another kind, such as the replicas in a Scale. */
export interface ShownField {
  /** The version of the object in the request. */
  readonly apiVersion: string;
  readonly shownVersion: string;
  readonly shownPath: FieldPath;
  /** The field in a version of the object: empty where that version has no such view, undefined where it is not served. */
  readonly pathIn: (apiVersion: string) => FieldPath | undefined;
}

/** Returns the owners of the field, as owners of the shown object. Source: `ScaleHandler.ToSubresource`, v1.36. */
export function ownersOfShown(
  { shownVersion, shownPath, pathIn }: ShownField,
  entries: readonly Entry[],
): readonly Entry[] {
  const set = createSet(shownPath);
  return entries
    .filter((entry) => hasPath(entry.set, pathIn(entry.apiVersion) ?? []))
    .map((entry) => ({ ...entry, apiVersion: shownVersion, set }));
}

/**
 * Returns the owners of the object after a write of the shown object: an owner that lost the shown field loses
 * the field, and a new owner gets an entry without a time. Entries of versions that are not served are dropped.
 * Source: `ScaleHandler.ToParent`, v1.36, which also splits the entry of an updater that keeps the field.
 *
 * @param entries - The owners of the object before the write.
 * @param shown - The owners of the shown object after it.
 */
export function ownersOfObject(
  { apiVersion, shownVersion, shownPath, pathIn }: ShownField,
  entries: readonly Entry[],
  shown: readonly Entry[],
): readonly Entry[] {
  const owners = shown.filter((entry) => hasPath(entry.set, shownPath));
  const added = new Map(owners.map((entry) => [identityOf(entry), entry]));
  const kept = entries.flatMap((entry) => {
    const path = pathIn(entry.apiVersion);
    if (path === undefined) return [];
    if (!hasPath(entry.set, path)) return [entry];
    if (added.delete(identityOf({ ...entry, apiVersion: shownVersion }))) return [entry];
    const set = difference(entry.set, createSet(path));
    return isEmptySet(set) ? [] : [{ ...entry, set }];
  });
  const set: FieldSet = createSet(pathIn(apiVersion) ?? []);
  return [...kept, ...[...added.values()].map((entry) => ({ ...entry, apiVersion, time: undefined, set }))];
}
