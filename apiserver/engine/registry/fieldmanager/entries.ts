import { isJsonObject } from '../../../../shared/object/clone';
import type { ApiObject, ManagedFieldsEntry, ObjectMeta } from '../../../../shared/object/object';
import type { Writable } from '../../../../shared/object/values';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { EMPTY_SET, equalSets } from '../../../../shared/fieldset/field-set';
import { parseFieldSet } from '../../../../shared/fieldset/parse';

/** The fields of one manager, operation, version and subresource. */
export interface Entry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Undefined in entries that a client wrote without one, and in those of a write through a scale. */
  readonly time: string | undefined;
  readonly set: FieldSet;
}

const FIELDS_TYPE = 'FieldsV1';

/** The manager of what an object without managedFields has before the first apply. */
export const BEFORE_FIRST_APPLY = 'before-first-apply';

/** Parses the entries that a client sent, one for each manager; undefined if they are invalid. */
export function readEntries(managed: readonly ManagedFieldsEntry[]): readonly Entry[] | undefined {
  const entries = new Map<string, Entry>();
  for (const wire of managed) {
    const entry = readEntry(wire);
    if (entry === undefined) return undefined;
    entries.set(identityOf(entry), entry);
  }
  return [...entries.values()];
}

/** The entries of a stored object. Their sets are canonical and not validated again. */
export function storedEntries({ managedFields = [] }: ObjectMeta): readonly Entry[] {
  return managedFields.map(
    ({ manager = '', operation, apiVersion = '', subresource = '', time, fieldsV1 }) => ({
      manager,
      operation: operation === 'Apply' ? 'Apply' : 'Update',
      apiVersion,
      subresource,
      time,
      set: isJsonObject(fieldsV1) ? (fieldsV1 as FieldSet) : EMPTY_SET,
    }),
  );
}

function readEntry(wire: ManagedFieldsEntry): Entry | undefined {
  const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsType, fieldsV1 } = wire;
  if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '' || fieldsType !== FIELDS_TYPE) {
    return undefined;
  }
  const set = parseFieldSet(fieldsV1);
  if (set === undefined) return undefined;
  return { manager, operation, apiVersion, subresource, time: time ?? undefined, set };
}

/**
 * Returns a text that two entries share only if they belong to the same owner. For each subresource, an applier has one
 * entry in all versions, and an updater one for each version. Clients may put any character into the parts.
 */
export function identityOf(entry: Omit<Entry, 'set' | 'time'>): string {
  const { manager, operation, apiVersion, subresource } = entry;
  return JSON.stringify([operation, operation === 'Apply' ? '' : apiVersion, subresource, manager]);
}

/** Sets managedFields to these entries, in canonical order; without entries it removes the field. */
export function withEntries(object: ApiObject, entries: readonly Entry[]): ApiObject {
  return withManagedFields(object, entries.length === 0 ? undefined : [...entries].sort(byAge).map(wireOf));
}

/** The object with this managedFields list. */
export function withManagedFields(
  object: ApiObject,
  managedFields: readonly ManagedFieldsEntry[] | undefined,
): ApiObject {
  if (object.metadata.managedFields === managedFields) return object;
  const { managedFields: _replaced, ...kept } = object.metadata;
  const metadata: Writable<ObjectMeta> = kept;
  if (managedFields !== undefined) metadata.managedFields = managedFields;
  return { ...object, metadata };
}

/**
 * The object with the managedFields of the current one, if they have the same owners and other times, or if the
 * object gets its first owners by an apply that owns nothing. Undefined otherwise. A write that would change
 * nothing else is none. Source: `IgnoreManagedFieldsTimestampsTransformer`, v1.36, which compares entries in order.
 */
export function withOwnersOf(current: ApiObject, next: ApiObject): ApiObject | undefined {
  const { managedFields: before = [] } = current.metadata;
  const { managedFields: after = [] } = next.metadata;
  if (before === after) return undefined;
  const isSame =
    before.length === 0
      ? after.every(({ manager }) => manager === BEFORE_FIRST_APPLY)
      : before.length === after.length && haveSameOwners(before, after);
  return isSame ? withManagedFields(next, current.metadata.managedFields) : undefined;
}

function haveSameOwners(
  before: readonly ManagedFieldsEntry[],
  after: readonly ManagedFieldsEntry[],
): boolean {
  const known = new Map(storedEntries({ managedFields: before }).map((entry) => [identityOf(entry), entry]));
  let isTimed = false;
  const isSame = storedEntries({ managedFields: after }).every((entry) => {
    const former = known.get(identityOf(entry));
    isTimed ||= former?.time !== entry.time;
    return former?.apiVersion === entry.apiVersion && equalSets(former.set, entry.set);
  });
  return isSame && isTimed;
}

/**
 * Nearly all entries have every field; building a literal with optional fields takes a hundred times as
 * long.
 */
function wireOf({ manager, operation, apiVersion, subresource, time, set }: Entry): ManagedFieldsEntry {
  if (manager !== '' && time !== undefined && subresource === '') {
    return { manager, operation, apiVersion, time, fieldsType: FIELDS_TYPE, fieldsV1: set };
  }
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: FIELDS_TYPE,
    fieldsV1: set,
    ...(subresource === '' ? {} : { subresource }),
  };
}

/** Appliers before updaters, then the oldest first, then by name. Times are in one canonical form, so text order is their order. */
function byAge(a: Entry, b: Entry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
