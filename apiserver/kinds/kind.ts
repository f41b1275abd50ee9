import type { ApplyDefaults } from '../../shared/defaults/defaults';
import type { ApiObject } from '../../shared/object/object';
import type { SpecialSubresource } from '../registry/special-subresource';
import type { Strategy } from '../registry/strategy';
import type { VirtualResource } from '../registry/operation';
import type { RowOf } from './columns/cells';

/** What is particular to one kind. Everything is optional: a kind that behaves like all others is `{}`. */
export interface Kind {
  /** How its objects are made, changed, validated and deleted, where that differs from other objects. */
  readonly strategy?: Strategy;
  /** The row of an object in a Table. Default: its name and when it was created. */
  readonly row?: RowOf;
  /** What a Table's row says of an object beside its cells. */
  readonly rowConditions?: (object: ApiObject) => readonly object[];
  /** Subresources of another kind, by name; `status`, `approval` and `finalize` show the object itself, and the strategy has their rules. */
  readonly subresources?: Readonly<Record<string, SpecialSubresource>>;
  /** The resource is an operation, or made up on demand: nothing is stored. */
  readonly virtual?: VirtualResource;
  /** What is done to an object as it was received, before defaults and before anything compares it: fields that are only written go where they belong. */
  readonly received?: ApplyDefaults;
}

/** The kinds of one API group, by the names of their resources. */
export interface KindGroup {
  readonly group: string;
  readonly kinds: Readonly<Record<string, Kind>>;
}
