import type { ApiObject } from '../../../../shared/object/object';
import type { FieldSet } from '../../../../shared/fieldset/field-set';
import type { Emptied } from '../../../../shared/fieldset/remove';
import type { ObjectShape } from '../../../../shared/fieldset/shape';

/** One version of a kind, as field management sees it. */
export interface ManagedVersion {
  readonly apiVersion: string;
  readonly shape: ObjectShape;
  /** Fields that a write of this kind to this place does not change, whatever it says, and so does not own. */
  readonly ignored: FieldSet;
}

/** A kind in the version of a request. */
export interface ManagedKind extends ManagedVersion {
  /** What an object of this kind is before anything was written into it. */
  readonly blank: ApiObject;
  /** What becomes of what an applier takes the last field or item out of. Built-in kinds read null as absent, and its owners keep it. */
  readonly emptied: Emptied;
  /**
   * Another version in which somebody owns fields, with the way of an object there and back. Undefined for a version that is not
   * served any more: its owners are forgotten.
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
  readonly nowMs: number;
}
