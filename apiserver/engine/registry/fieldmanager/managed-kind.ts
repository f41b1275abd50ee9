import type { ApiObject } from '../../../../shared/object/object';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import type { Emptied } from '../../../../shared/fieldset/remove';
import type { ObjectShape } from '../../../../shared/fieldset/shape';

/** One version of a kind, as field management sees it. */
export interface ManagedVersion {
  readonly apiVersion: string;
  readonly shape: ObjectShape;
  /** Fields that a write of this kind to this place does not change, and so does not own. */
  readonly ignored: FieldSet;
}

/** A kind in the version of a request. */
export interface ManagedKind extends ManagedVersion {
  /** An empty object of the kind. */
  readonly blank: ApiObject;
  /**
   * The value of a field that loses its last member. Built-in kinds read null as absent, and its owners keep
   * it.
   */
  readonly emptied: Emptied;
  /**
   * Another version with field owners, and its conversions. Undefined for a version that is not served: its
   * entries are dropped.
   */
  otherVersion(apiVersion: string): OtherVersion | undefined;
}

export interface OtherVersion extends ManagedVersion {
  convert(object: ApiObject): ApiObject;
  convertBack(object: ApiObject): ApiObject;
}

/** Who writes, and when. */
export interface FieldWriter {
  readonly manager: string;
  /** Empty for the object itself, and where owners through subresources are not tracked. */
  readonly subresource: string;
  readonly nowMs: number;
}

/** Maximum length of a manager name in bytes. */
export const MANAGER_BYTES_MAX = 128;

const UNKNOWN_MANAGER = 'unknown';

const NOT_PRINTABLE = /[\p{C}\p{Z}]/u;

/**
 * The manager of a request: `fieldManager`, else the printable part of its user agent before the first
 * slash, else `unknown`.
 */
export function managerOf(fieldManager: string, userAgent: string): string {
  if (fieldManager !== '') return fieldManager;
  let name = '';
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (character !== ' ' && NOT_PRINTABLE.test(character)) continue;
    if (Buffer.byteLength(name) + Buffer.byteLength(character) > MANAGER_BYTES_MAX) break;
    name += character;
  }
  return name === '' ? UNKNOWN_MANAGER : name;
}
