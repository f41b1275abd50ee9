import { isJsonObject } from '../../../../shared/object/clone';
import type { ApiObject, ManagedFieldsEntry, ObjectMeta } from '../../../../shared/object/object';
import type { Writable } from '../../../../shared/object/values';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import { EMPTY_SET } from '../../../../shared/fieldset/field-set';
import { parseFieldSet } from '../../../../shared/fieldset/parse';

/** The fields of one manager, operation and version. */
export interface Entry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Undefined only in entries that a client wrote without one. */
  readonly time: string | undefined;
  readonly set: FieldSet;
}

const FIELDS_TYPE = 'FieldsV1';

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
  return managedFields.map(({ manager = '', operation, apiVersion = '', time, fieldsV1 }) => ({
    manager,
    operation: operation === 'Apply' ? 'Apply' : 'Update',
    apiVersion,
    time,
    set: isJsonObject(fieldsV1) ? (fieldsV1 as FieldSet) : EMPTY_SET,
  }));
}

function readEntry(wire: ManagedFieldsEntry): Entry | undefined {
  const { manager = '', operation, apiVersion = '', time, fieldsType, fieldsV1 } = wire;
  if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '' || fieldsType !== FIELDS_TYPE) {
    return undefined;
  }
  const set = parseFieldSet(fieldsV1);
  return set === undefined ? undefined : { manager, operation, apiVersion, time: time ?? undefined, set };
}

/** An applier has one entry in all versions; an updater has one for each version. */
export function identityOf({ manager, operation, apiVersion }: Omit<Entry, 'set' | 'time'>): string {
  return operation === 'Apply' ? `Apply ${manager}` : `Update ${apiVersion} ${manager}`;
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
 * Nearly all entries have every field; building a literal with optional fields takes a hundred times as
 * long.
 */
function wireOf({ manager, operation, apiVersion, time, set }: Entry): ManagedFieldsEntry {
  if (manager !== '' && time !== undefined) {
    return { manager, operation, apiVersion, time, fieldsType: FIELDS_TYPE, fieldsV1: set };
  }
  return {
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: FIELDS_TYPE,
    fieldsV1: set,
  };
}

/** Appliers before updaters, then the oldest first, then by name. Times are in one canonical form, so text order is their order. */
function byAge(a: Entry, b: Entry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion)
  );
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
