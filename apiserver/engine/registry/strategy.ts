import type { LoopBounds } from '../request/loop-bounds';
import type { ApiObject, GroupVersion } from '../../../shared/object/object';
import type { NameRule } from '../../../shared/meta/name-rules';
import type { FieldError } from '../../../shared/errors/field-error';
import type { UserInfo } from '../request/exchange';
import type { Guard } from '../storage/backend';
import type { Reserved } from './reservation';

/** What a hook may know of the request it serves. */
export interface WriteInfo {
  /** The group and version that the client uses: the rules of some kinds are stricter in newer versions. */
  readonly via: GroupVersion;
  /** The object in that version; undefined where the rules do not ask for it. */
  readonly sent?: ApiObject;
  readonly user: UserInfo;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  readonly settings: KindSettings;
  /** Those of the event loop that carries the request out; undefined where nobody waits for it. */
  readonly bounds?: LoopBounds | undefined;
}

/** What an operator decides about kinds, for all requests. */
export interface KindSettings {
  /** Containers may run privileged. */
  readonly allowPrivileged: boolean;
  /** Pods have ephemeral containers; else the field is dropped. */
  readonly ephemeralContainers: boolean;
  /** The feature gates that are on, of those that fields depend on; those that v1.21 has on by default, if not given. */
  readonly gates?: ReadonlySet<string>;
}

/** The defaults of kube-apiserver v1.21. */
export const DEFAULT_KIND_SETTINGS: KindSettings = { allowPrivileged: false, ephemeralContainers: false };

/** What deletion does with dependents when the client does not say. `Unsupported`: the kind never gets a deletion finalizer. */
export type DefaultPropagation = 'Background' | 'Orphan' | 'Unsupported';

/**
 * How much of the metadata is validated. The kinds of v1.21 call different functions here.
 * - `all`: names, and finalizers, which need a domain.
 * - `no domains`: finalizers need no domain.
 * - `afterwards`: as `no domains`, and only if a new object has no other errors.
 * - `old names`: as `all`, but an update does not validate `generateName`.
 * - `new alone`: as `old names`, and an update does not require domains of finalizers.
 * - `least`: as `new alone`, and a creation does not require domains either.
 */
export type MetadataChecks = 'all' | 'no domains' | 'afterwards' | 'old names' | 'new alone' | 'least';

/** Names of members, by the field of the object that has them. */
export type NamesByField = Readonly<Record<string, readonly string[]>>;

export type StatusTakes = 'deletionGracePeriodSeconds' | 'deletionTimestamp' | 'generateName';

/**
 * Where the wire behaviour of a kind in v1.21 differs from that of the generic registry for no reason that a client can see. Every member is
 * optional. A new kind needs none of them.
 */
export interface CompatibilityRules {
  /** Which checks of metadata the kind's validation calls. Default: `all`; `least` for updates of custom resources. */
  readonly metadataChecks?: MetadataChecks;
  /**
   * With `tracksGeneration`: fields in which empty lists and maps that are sent increment the generation, because upstream compares the decoded
   * object with the stored one. Each has the names of those members that have a default.
   */
  readonly emptyIsChange?: NamesByField;
  /** A creation keeps the status that the client sends. Default: it is dropped if the kind has a status subresource. */
  readonly keepsStatusOnCreate?: boolean;
  /** An object without a name is named by a random UUID, and `generateName` is ignored. */
  readonly isNamedByUid?: boolean;
  /** A PUT or an apply of the status of a missing object creates it, without that status. Default: 404. */
  readonly statusCreates?: boolean;
  /** A PUT without a resourceVersion, or with another uid, is Invalid. Default: it overwrites, or fails with a conflict. */
  readonly checksIdentityLast?: boolean;
  /** A deletion that removes the object at once returns the object instead of a Status. */
  readonly returnsDeletedObject?: boolean;
  /** A deletion that finalizers hold back returns a Status instead of the object. */
  readonly returnsNoHeldObject?: boolean;
  /** The default propagation policy of deletions, for requests to these versions. */
  readonly defaultPropagationIn?: Readonly<Record<string, DefaultPropagation>>;
  /** With `statusLeavesMetadata`: fields of metadata that a write to the status changes after all. Validation refuses most changes of them. */
  readonly statusTakes?: readonly StatusTakes[];
  /** The conflict of a failed deletion precondition names the resource instead of the kind, with another text. */
  readonly refusesPreconditionsByResource?: boolean;
  /** The group in messages of Invalid errors, where it is not the kind's own group. */
  readonly groupInErrors?: string;
  /** The key in uid conflicts, without the prefix and the object. Default: the resource; with the group for custom resources. */
  readonly keyInErrors?: string;
  /** The message for a field selector with an unknown field. Default: the message of the generic registry. */
  readonly unknownFieldMessage?: (field: string, version: string) => string | undefined;
}

/**
 * How one kind differs from the generic object. Every hook is optional; a kind without behaviour of its own is an empty row.
 * Hooks get objects they must not change and return new ones. Defaults below are those of kube-apiserver v1.21's generic registry.
 * `T` is the stored version of the kind; objects are decoded, but for what earlier hooks and admission have made of them.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /** Objects of the kind are namespaces: requests for one of them are in the namespace of its name. */
  readonly isNamespace?: boolean;
  readonly compat?: CompatibilityRules;
  /** `metadata.generation` starts at 1 and grows with every change outside metadata and status. Default: no generation. */
  readonly tracksGeneration?: boolean;
  /** With `tracksGeneration`: a change of the status counts as well. That of a kind with a status subresource only changes there. */
  readonly generationCountsStatus?: boolean;
  /** A PUT on a missing name creates it. Default: 404. */
  readonly createsOnUpdate?: boolean;
  /** A PUT without resourceVersion is refused. Default: it overwrites. */
  readonly requiresResourceVersion?: boolean;
  /** Why an object of this name is not to be deleted by itself, if so; deletions of the collection do not ask. */
  readonly refusesDeletion?: (name: string) => string | undefined;
  readonly defaultPropagation?: DefaultPropagation;
  /** A write to `status` leaves labels, annotations and all other metadata as they are. Default: it may change them. */
  readonly statusLeavesMetadata?: boolean;
  /**
   * Paths that writes to the object (the empty name) or to a subresource leave as they are and so do not own, besides what is usual: the status for
   * the object, everything but metadata and status for `status`, the spec for `approval`.
   */
  readonly resets?: Readonly<Record<string, readonly string[]>>;
  /** The object is removed by the store after `--event-ttl`. */
  readonly expires?: boolean;
  /** What its names may be. Default: a DNS subdomain. */
  readonly nameRule?: NameRule;
  /** Field selectors of the kind beyond metadata.name and metadata.namespace, with the text of an absent value. */
  readonly selectableFields?: Readonly<Record<string, string>>;
  /** Where those of them are found whose names are not their paths: the first path that holds a value. */
  readonly fieldSources?: Readonly<Record<string, readonly string[]>>;
  /** Those of them that single out objects and get an index. */
  readonly indexedFields?: readonly string[];

  /** What a write of the kind must hold before it is stored. */
  readonly reserves?: Reserved;

  /**
   * A record (by its key below the store's prefix) that must stay as it is for an object of the kind to be stored; undefined for none.
   * Throws when there is to be no such write.
   */
  readonly reliesOn?: (operation: 'CREATE' | 'UPDATE') => Guard | undefined;
  readonly prepareForCreate?: (object: T, info: WriteInfo) => T;
  readonly prepareForUpdate?: (next: T, previous: T, info: WriteInfo) => T;
  /** Prepares, in slices of the event loop, what would take the rules long in one go; undefined where that is nothing. */
  readonly prepareRules?: (next: T, previous: T | undefined, info: WriteInfo) => Promise<void> | undefined;
  /** The rules of every write. */
  readonly validate?: (object: T, info: WriteInfo) => readonly FieldError[];
  /** Further rules of new objects alone. */
  readonly validateNew?: (object: T, info: WriteInfo) => readonly FieldError[];
  readonly validateUpdate?: (next: T, previous: T, info: WriteInfo) => readonly FieldError[];
  /**
   * What is left of the faults that the rules of objects, of changes and of subresources have found, without those that a gate allows, or what
   * the object was before. Asked only where something was found.
   */
  readonly ratchets?: (
    faults: readonly FieldError[],
    previous: T | undefined,
    info: WriteInfo,
  ) => readonly FieldError[];
  /** An object of the stored version without what no version takes from it: nobody owns that either. The same object where there is nothing such. */
  readonly dropsUnstorable?: (object: T) => T;
  /** What stays of an object once it is stored, where upstream's stored version cannot say all of it. Default: everything. */
  readonly toStorable?: (object: T) => T;
  /**
   * The grace period of a deletion in seconds, from what the client asked for; undefined when the kind is removed at once. Only
   * kinds with this hook are deleted gracefully.
   */
  readonly graceSeconds?: (object: T, requested: number | undefined) => number | undefined;
  /** Why a terminating object without finalizers must still stay (a Namespace with content); undefined = it may go. */
  readonly holdsBack?: (object: T) => boolean;
  /** What the first deletion of an object makes of it instead of all that deletions do otherwise: a later one goes on from there. */
  readonly beginDeletion?: (object: T, nowMs: number) => T;
  /** What a deletion that cannot finish at once changes besides metadata. */
  readonly markTerminating?: (object: T) => T;
  /**
   * What writes to its subresources may change, by their names: `status`, `approval`, `finalize`, …. Default of each: {@link statusSubresource}, the status and
   * metadata and no rules of their own.
   */
  readonly subresources?: Readonly<Record<string, SubresourceStrategy<T>>>;
}

/** A subresource that is another view of the same object: what it may change is what it copies from `next`. */
export interface SubresourceStrategy<T extends ApiObject = ApiObject> {
  /** How much of metadata its rules look at. Default: `least` where finalizers of the kind need no domain when it changes, else `old names`. */
  readonly metadataChecks?: MetadataChecks;
  readonly prepareForUpdate: (next: T, previous: T, info: WriteInfo) => T;
  readonly validateUpdate?: (next: T, previous: T, info: WriteInfo) => readonly FieldError[];
}

/** The `status` subresource of most kinds: status and metadata come from the request, everything else stays. */
export const statusSubresource = {
  prepareForUpdate: <T extends ApiObject>(next: T, previous: T): T =>
    withStatus<T>({ ...previous, metadata: next.metadata }, next['status'] as T['status']),
} satisfies SubresourceStrategy;

/** `object` with this status, or without one. */
export function withStatus<T extends ApiObject>(object: T, status: T['status'] | undefined): T {
  if (status !== undefined) return { ...object, status };
  const { status: _replaced, ...rest } = object;
  return rest as unknown as T;
}
