import type { ApiObject } from '../../shared/meta/object';
import type { FieldError } from '../../shared/errors/field-error';

/** What deletion does with dependents when the client does not say. `Unsupported`: the kind never gets a deletion finalizer. */
export type DefaultPropagation = 'Background' | 'Orphan' | 'Unsupported';

/**
 * How one kind differs from the generic object. Every hook is optional; a kind without behaviour of its own is an empty row.
 * Hooks get objects they must not change and return new ones. Defaults below are those of kube-apiserver v1.21's generic registry.
 */
export interface Strategy {
  /** `metadata.generation` starts at 1 and grows with every change outside metadata and status. Default: no generation. */
  readonly tracksGeneration?: boolean;
  /** The status that a client sends with a creation is kept. Default: dropped where the kind has a status subresource. */
  readonly keepsStatusOnCreate?: boolean;
  /** A PUT on a missing name creates it. Default: 404. */
  readonly createsOnUpdate?: boolean;
  /** A PUT without resourceVersion is refused. Default: it overwrites. */
  readonly requiresResourceVersion?: boolean;
  /** A deletion that removes the object at once answers with it instead of a Status. */
  readonly returnsDeletedObject?: boolean;
  readonly defaultPropagation?: DefaultPropagation;
  /** The object is removed by the store after `--event-ttl`. */
  readonly expires?: boolean;
  /** Field selectors of the kind beyond metadata.name and metadata.namespace, with the text of an absent value. */
  readonly selectableFields?: Readonly<Record<string, string>>;
  /** Those of them that single out objects and get an index. */
  readonly indexedFields?: readonly string[];

  prepareForCreate?(object: ApiObject): ApiObject;
  prepareForUpdate?(next: ApiObject, previous: ApiObject): ApiObject;
  validate?(object: ApiObject): readonly FieldError[];
  validateUpdate?(next: ApiObject, previous: ApiObject): readonly FieldError[];
  /**
   * The grace period of a deletion in seconds, from what the client asked for; undefined when the kind is removed at once. Only
   * kinds with this hook are deleted gracefully.
   */
  graceSeconds?(object: ApiObject, requested: number | undefined): number | undefined;
  /** Why a terminating object without finalizers must still stay (a Namespace with content); undefined = it may go. */
  holdsBack?(object: ApiObject): boolean;
  /** What a deletion that cannot finish at once changes besides metadata. */
  markTerminating?(object: ApiObject): ApiObject;
  readonly subresources?: Readonly<Record<string, SubresourceStrategy>>;
}

/** A subresource that is another view of the same object: what it may change is what it copies from `next`. */
export interface SubresourceStrategy {
  prepareForUpdate(next: ApiObject, previous: ApiObject): ApiObject;
  validateUpdate?(next: ApiObject, previous: ApiObject): readonly FieldError[];
}

/** The `status` subresource of most kinds: status and metadata come from the request, everything else stays. */
export const statusSubresource: SubresourceStrategy = {
  prepareForUpdate: (next, previous) => withStatus({ ...previous, metadata: next.metadata }, next['status']),
};

/** `object` with this status, or without one. */
export function withStatus(object: ApiObject, status: unknown): ApiObject {
  const { status: _replaced, ...rest } = object;
  return status === undefined ? rest : { ...rest, status };
}
