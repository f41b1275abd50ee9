import type { StoredKinds } from '../../../shared/api/types/message-types';
import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { SpecialSubresource } from '../../engine/registry/special-subresource';
import type { KindSettings, Strategy } from '../../engine/registry/strategy';
import type { VirtualResource } from '../../engine/registry/operation';
import type { ObjectTable } from '../../engine/registry/object-table';
import { withDeletionCost } from './pod-template/deletion-cost';
import { withHugePages } from './pod-template/huge-pages';
import { withLaterRules } from './pod-template/ratchets';
import { withSwitchedFields } from './switched-fields';
import { withWarnings } from './warnings/warnings';

/**
 * What is particular to one kind. Everything is optional: a kind that behaves like all others is `{}`. `T` is the stored version of the kind;
 * objects are decoded, but for what earlier hooks and admission have made of them.
 */
export interface Kind<T extends ApiObject = ApiObject> {
  /** How its objects are made, changed, validated and deleted, where that differs from other objects. */
  readonly strategy?: Strategy<T>;
  /** How an object is shown in a Table. Default: its name and when it was created. */
  readonly table?: ObjectTable<T>;
  /** What a Table's row says of an object beside its cells. */
  readonly rowConditions?: (object: T) => readonly object[];
  /**
   * Subresources of another kind (`scale`, `eviction`), by name. Not here: `status`, `approval` and `finalize`, which show the object itself. A row in
   * `resources.json` is enough for them; deviations from the usual status are in the strategy's `subresources`.
   */
  readonly subresources?: Readonly<Record<string, SpecialSubresource>>;
  /** The resource is an operation, or made up on demand: nothing is stored. */
  readonly virtual?: VirtualResource;
  /**
   * What is done to an object as it was received, before defaults and before anything compares it: fields that are only written go where they
   * belong, and what only some servers fill in is filled in.
   */
  readonly received?: (object: T, settings: KindSettings) => T;
  /** Annotations that encode fields of the kind. PartialObjectMetadata omits them. */
  readonly fieldAnnotations?: readonly string[];
}

/** The kinds of one API group, by the names of their resources. */
export interface KindGroup {
  readonly group: string;
  readonly kinds: Readonly<Record<string, Kind>>;
}

/** The stored kinds of a group, each with the type of its objects. */
export type KindsOf<Group extends keyof StoredKinds> = {
  readonly [Resource in keyof StoredKinds[Group]]: StoredKinds[Group][Resource] extends ApiObject
    ? Kind<StoredKinds[Group][Resource]>
    : never;
};

/**
 * A group's kinds as the registry takes them, which knows no kinds; `virtual` are those that are not stored. The kind's
 * type is erased only here: each kind gets only objects that were decoded as the kind stored under this resource.
 */
export function kindsOf<Group extends keyof StoredKinds>(
  group: Group,
  kinds: KindsOf<Group>,
  virtual: Readonly<Record<string, Kind>> = {},
): KindGroup {
  const stored = Object.entries(kinds as unknown as Record<string, Kind>).map(
    ([resource, kind]): [string, Kind] => [resource, withGates(`${group}/${resource}`, kind)],
  );
  return { group: GROUP[group], kinds: { ...Object.fromEntries(stored), ...virtual } };
}

function withGates(resource: string, kind: Kind): Kind {
  const strategy = withDeletionCost(
    resource,
    withHugePages(
      resource,
      withLaterRules(resource, withWarnings(resource, withSwitchedFields(resource, kind.strategy))),
    ),
  );
  return strategy === undefined ? kind : { ...kind, strategy };
}
