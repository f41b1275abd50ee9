import type { ApiObject } from '../../../../shared/object/object';
import { computeHeldSet } from '../../../../shared/fieldset/applied';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { difference, intersection, isEmptySet, union, unionAll } from '../../../../shared/fieldset/field-set';
import { removeFields } from '../../../../shared/fieldset/remove';
import { withFieldsAbove, withNamedFields } from '../../../../shared/fieldset/schema-changes';
import type { Entry } from './entries';
import type { ManagedKind, OtherVersion } from './managed-kind';

export interface Pruning {
  readonly kind: ManagedKind;
  /** The live object with the new configuration merged into it. */
  readonly merged: ApiObject;
  /** What the applier owned before. */
  readonly last: Entry | undefined;
  /** All entries, including the new one of the applier. */
  readonly owners: readonly Entry[];
}

/**
 * Removes fields, map keys and list items that the applier applied last time, does not apply now, and no
 * other manager owns. A removed item keeps members that another manager owns. A struct that loses its last
 * field becomes null, also if a manager owns the struct itself.
 */
export function prune({ kind, merged, last, owners }: Pruning): ApiObject {
  if (last === undefined || isEmptySet(last.set) || isStillOwned(last, owners)) return merged;
  const version = inVersion(kind, last.apiVersion);
  if (version === undefined) return merged;
  const full = version.convert(merged);
  const lastSet = withNamedFields(version.shape, last.set);
  const fullSet = namedSet(version, full);
  const without = removeFields(version.shape, full, lastSet) as unknown as ApiObject;
  const kept = addBackOwned({ kind, version, owners }, { full, fullSet }, without);
  const gone = intersection(difference(fullSet, namedSet(version, kept)), lastSet);
  if (isEmptySet(gone)) return merged;
  return version.convertBack(removeFields(version.shape, full, gone, kind.emptied) as unknown as ApiObject);
}

/** The common case: everything that was applied last time is applied again, or owned by another manager. */
function isStillOwned({ set, apiVersion }: Entry, owners: readonly Entry[]): boolean {
  if (owners.some((owner) => owner.apiVersion === apiVersion && owner.set === set)) return true;
  return isEmptySet(difference(set, ownedIn(apiVersion, owners)));
}

function ownedIn(apiVersion: string, owners: readonly Entry[]): FieldSet {
  return unionAll(owners.filter((entry) => entry.apiVersion === apiVersion).map(({ set }) => set));
}

/** The removed fields that a manager owns, in any version. */
function addBackOwned(
  {
    kind,
    version,
    owners,
  }: { readonly kind: ManagedKind; readonly version: OtherVersion; readonly owners: readonly Entry[] },
  { full, fullSet }: { readonly full: ApiObject; readonly fullSet: FieldSet },
  without: ApiObject,
): ApiObject {
  let kept = without;
  for (const apiVersion of new Set(owners.map((entry) => entry.apiVersion))) {
    const theirs = inVersion(kind, apiVersion);
    if (theirs === undefined) continue;
    const into = (object: ApiObject): ApiObject =>
      theirs === version ? object : theirs.convert(version.convertBack(object));
    const back = (object: ApiObject): ApiObject =>
      theirs === version ? object : version.convert(theirs.convertBack(object));
    const owned = ownedIn(apiVersion, owners);
    const whole = into(full);
    const allowed = union(namedSet(theirs, into(kept)), withFieldsAbove(owned));
    const gone = difference(theirs === version ? fullSet : namedSet(theirs, whole), allowed);
    kept = back(removeFields(theirs.shape, whole, gone) as unknown as ApiObject);
  }
  return kept;
}

function namedSet({ shape }: OtherVersion, object: ApiObject): FieldSet {
  return withNamedFields(shape, computeHeldSet(shape, object));
}

const own = new WeakMap<ManagedKind, OtherVersion>();

function inVersion(kind: ManagedKind, apiVersion: string): OtherVersion | undefined {
  if (apiVersion !== kind.apiVersion) return kind.otherVersion(apiVersion);
  const known = own.get(kind);
  if (known !== undefined) return known;
  const { shape, ignored } = kind;
  const same = (object: ApiObject): ApiObject => object;
  const made: OtherVersion = { apiVersion, shape, ignored, convert: same, convertBack: same };
  own.set(kind, made);
  return made;
}
