import type { ApiObject, ManagedFieldsEntry } from '../../../../shared/object/object';
import type { Comparison } from '../../../../shared/fieldset/compare';
import { compareObjects, withoutFields } from '../../../../shared/fieldset/compare';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { difference, isEmptySet, rememberLargeNodes, union } from '../../../../shared/fieldset/field-set';
import { reconcileWithShape } from '../../../../shared/fieldset/schema-changes';
import type { Entry } from './entries';
import type { ManagedKind, ManagedVersion } from './managed-kind';

/** What a write changes, as the owners of one version see it. */
export interface VersionedChange {
  /** Without the fields that the write cannot change. */
  readonly comparison: Comparison;
  /** Added and modified: what nobody else owns any more. */
  readonly changed: FieldSet;
  /** Everything that others lose: `changed` and removed. */
  readonly touched: FieldSet;
}

/** Where so many owners are compared with one change, it pays to go through that once more. */
const OWNERS_MANY = 32;

/** Compares two objects of the request's version in each version that is asked for, once. */
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

  /** Undefined for a version that is not served any more. To be asked once for each owner. */
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

/** Entries as they read under the shapes of today; those in versions that are gone are left out. */
export function reconcileEntries(kind: ManagedKind, entries: readonly Entry[]): readonly Entry[] {
  return entries.flatMap((entry) => {
    const version = versionOf(kind, entry.apiVersion);
    if (version === undefined) return [];
    const set = reconcileWithShape(version.shape, entry.set);
    return [set === entry.set ? entry : { ...entry, set }];
  });
}

/** Whether some of the owners are in versions that are gone. */
export function hasForgotten(kind: ManagedKind, entries: readonly ManagedFieldsEntry[] = []): boolean {
  return entries.some(({ apiVersion = '' }) => versionOf(kind, apiVersion) === undefined);
}

export function versionOf(kind: ManagedKind, apiVersion: string): ManagedVersion | undefined {
  return apiVersion === kind.apiVersion ? kind : kind.otherVersion(apiVersion);
}

/** The entries without what they lose by the change; an entry that owns nothing any more goes. */
export function takeAway(entries: readonly Entry[], changes: ChangesByVersion): readonly Entry[] {
  return entries.flatMap((entry) => {
    const change = changes.in(entry.apiVersion);
    if (change === undefined) return [];
    const set = difference(entry.set, change.touched);
    if (isEmptySet(set)) return [];
    return [set === entry.set ? entry : { ...entry, set }];
  });
}
