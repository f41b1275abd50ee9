import kindsData from './data/kinds.json';
import pointersData from './data/pointers.json';
import resourcesData from './data/resources.json';
import schemaData from './data/schema.json';

/** One field of a message, as `data/schema.json` states it. */
export interface FieldData {
  /** Protobuf field number. */
  readonly n: number;
  /** A scalar (`string`, `int32`, …), a special type (`Time`, `Quantity`, …) or a message (`core/v1.PodSpec`). */
  readonly t: string;
  readonly list?: boolean;
  readonly map?: boolean;
  /** The fields of the message stand in the parent in JSON; in Protobuf they are a nested message. */
  readonly inline?: boolean;
  readonly optional?: boolean;
  readonly omitempty?: boolean;
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  readonly structType?: string;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly default?: string;
  readonly protoName?: string;
}

/** One resource of one group version, as `data/resources.json` states it, in neutral names. */
export interface ResourceData {
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly schema: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Name, `type` or `type:format`, priority. */
  readonly columns?: readonly (readonly [string, string, number])[];
  readonly subresources?: Readonly<Record<string, SubresourceData>>;
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** `group/version Kind`. */
  readonly replacement?: string;
}

export interface SubresourceData {
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly groupVersion?: string;
}

/** A table by package (`core/v1`), then by message. */
type ByMessage<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** Package → message → JSON field name → field, in the order in which JSON shows the fields. */
export const SCHEMA_DATA = schemaData as unknown as ByMessage<Readonly<Record<string, FieldData>>>;

/** Package → message → the fields that tell "absent" from "zero". All other singular fields always have a value. */
export const POINTER_DATA = pointersData as unknown as ByMessage<readonly string[]>;

/** Package → the messages that are kinds: they carry `kind` and `apiVersion` beside their fields. */
export const KIND_DATA = kindsData as unknown as Readonly<Record<string, readonly string[]>>;

/** Group version → resource → its row. */
export const RESOURCE_DATA = resourcesData as unknown as ByMessage<ResourceData>;
