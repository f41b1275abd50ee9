import type { ApiObject, ManagedFieldsEntry } from '../../../../shared/object/object';
import type { Comparison } from '../../../../shared/fieldset/compare';
import { compareObjects, withoutFields } from '../../../../shared/fieldset/compare';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { difference, isEmptySet, rememberLargeNodes, union } from '../../../../shared/fieldset/field-set';
import { reconcileWithShape } from '../../../../shared/fieldset/schema-changes';
import type { Entry } from './entries';
import type { ManagedKind, ManagedVersion } from './managed-kind';

/** The changes of a write, in one version. */
export interface VersionedChange {
  /** Without the fields that the write cannot change. */
  readonly comparison: Comparison;
  /** Added and modified fields: other managers no longer own them. */
  readonly changed: FieldSet;
  /** All fields that other managers lose: `changed` and removed. */
  readonly touched: FieldSet;
}

/** From this number of owners on, one more pass over the change pays. */
const OWNERS_MANY = 32;

/** Compares two objects in each requested version, once per version. */
export class ChangesByVersion {
  readonly #kind: ManagedKind;
  readonly #old: ApiObject;
  readonly #next: ApiObject;
  #own: VersionedChange | undefined = undefined;
  readonly #known = new Map<string, { readonly change: VersionedChange | undefined; owners: number }>();
  /** In the request's own version, with nothing left out. */
  readonly comparison: Comparison;

  constructor(kind: ManagedKind, old: ApiObject, next: ApiObject) {
    this.#kind = kind;
    this.#old = old;
    this.#next = next;
    this.comparison = compareObjects(kind.shape, old, next);
  }

  /** In the request's own version. */
  get own(): VersionedChange {
    return (this.#own ??= changeOf(this.comparison, this.#kind.ignored));
  }

  /** Undefined for a version that is not served. Call it once per owner. */
  in(apiVersion: string): VersionedChange | undefined {
    let known = this.#known.get(apiVersion);
    if (known === undefined)
      this.#known.set(apiVersion, (known = { change: this.#make(apiVersion), owners: 0 }));
    known.owners += 1;
    if (known.owners === OWNERS_MANY && known.change !== undefined) {
      rememberLargeNodes(known.change.changed);
      rememberLargeNodes(known.change.touched);
    }
    return known.change;
  }

  #make(apiVersion: string): VersionedChange | undefined {
    if (apiVersion === this.#kind.apiVersion) return this.own;
    const other = this.#kind.otherVersion(apiVersion);
    if (other === undefined) return undefined;
    const comparison = compareObjects(other.shape, other.convert(this.#old), other.convert(this.#next));
    return changeOf(comparison, other.ignored);
  }
}

function changeOf(whole: Comparison, ignored: FieldSet): VersionedChange {
  const comparison = withoutFields(whole, ignored);
  const changed = union(comparison.modified, comparison.added);
  return { comparison, changed, touched: union(changed, comparison.removed) };
}

/** Entries reconciled with the current shapes; entries in versions that are not served are dropped. */
export function reconcileEntries(kind: ManagedKind, entries: readonly Entry[]): readonly Entry[] {
  return entries.flatMap((entry) => {
    const version = versionOf(kind, entry.apiVersion);
    if (version === undefined) return [];
    const set = reconcileWithShape(version.shape, entry.set);
    return [set === entry.set ? entry : { ...entry, set }];
  });
}

/** Whether some entries are in versions that are not served. */
export function hasForgotten(kind: ManagedKind, entries: readonly ManagedFieldsEntry[] = []): boolean {
  return entries.some(({ apiVersion = '' }) => versionOf(kind, apiVersion) === undefined);
}

export function versionOf(kind: ManagedKind, apiVersion: string): ManagedVersion | undefined {
  return apiVersion === kind.apiVersion ? kind : kind.otherVersion(apiVersion);
}

/** Removes the changed fields from the entries, and entries without fields. */
export function takeAway(entries: readonly Entry[], changes: ChangesByVersion): readonly Entry[] {
  return entries.flatMap((entry) => {
    const change = changes.in(entry.apiVersion);
    if (change === undefined) return [];
    const set = difference(entry.set, change.touched);
    if (isEmptySet(set)) return [];
    return [set === entry.set ? entry : { ...entry, set }];
  });
}
