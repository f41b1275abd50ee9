import type { LoopBounds } from '../request/loop-bounds';
import type { ApiObject, GroupVersion } from '../../../shared/object/object';
import { isOnByDefault } from '../../../shared/flags/feature-gate-table';
import type { NameRule } from '../../../shared/meta/name-rules';
import type { Conversion } from '../../../shared/conversion/conversion';
import type { FieldError } from '../../../shared/errors/field-error';
import type { UserInfo } from '../request/exchange';
import type { Guard } from '../storage/backend';
import type { Reserved } from './reservation';

/** The request information for hooks. */
export interface WriteInfo {
  /** The group and version that the client uses: the rules of some kinds are stricter in newer versions. */
  readonly via: GroupVersion;
  /** The object in that version; undefined if the rules do not need it. */
  readonly sent?: ApiObject;
  readonly user: UserInfo;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  readonly settings: KindSettings;
  /** Size limits of the event loop that runs the request; undefined for background work. */
  readonly bounds?: LoopBounds | undefined;
}

/** Settings of kinds that the operator chooses by flags. */
export interface KindSettings {
  /** Containers may run privileged. */
  readonly allowPrivileged: boolean;
  /** Pods have ephemeral containers; else the field is dropped. */
  readonly ephemeralContainers: boolean;
  /** The enabled feature gates among those that fields depend on. Default: those of v1.21. */
  readonly gates?: ReadonlySet<string>;
}

/** Returns warnings about a valid object; `previous` is the existing object, absent for a new one. */
export type WarnHook<T extends ApiObject = ApiObject> = (
  object: T,
  previous: T | undefined,
  info: WriteInfo,
) => readonly string[];

/** The defaults of kube-apiserver at the API level of this process. */
export const DEFAULT_KIND_SETTINGS: KindSettings = {
  allowPrivileged: false,
  ephemeralContainers: isOnByDefault('EphemeralContainers'),
};

/** The default propagation policy of deletions. `Unsupported`: the kind never gets a deletion finalizer. */
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

export type StatusTakes = 'deletionGracePeriodSeconds' | 'deletionTimestamp' | 'generateName';

/**
 * Where the wire behaviour of a kind in v1.21 differs from that of the generic registry for no reason that a client can see. Every member is
 * optional. A new kind needs none of them.
 */
export interface CompatibilityRules {
  /** Which checks of metadata the kind's validation calls. Default: `all`; `least` for updates of custom resources. */
  readonly metadataChecks?: MetadataChecks;
  /** A creation keeps the status that the client sends. Default: it is dropped if the kind has a status subresource. */
  readonly keepsStatusOnCreate?: boolean;
  /** An object without a name is named by a random UUID, and `generateName` is ignored. */
  readonly isNamedByUid?: boolean;
  /** A PUT or an apply of the status of a missing object creates it, without that status. Default: 404. */
  readonly statusCreates?: boolean;
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
  /** The warning about a deletion that chooses no propagation policy. */
  readonly defaultPropagationWarning?: string;
  /** The message for a field selector with an unknown field. Default: the message of the generic registry. */
  readonly unknownFieldMessage?: (field: string, version: string) => string | undefined;
}

/**
 * How one kind differs from the generic object. Every member is optional. Hooks must not change the objects
 * they get; they return new ones. Defaults are those of the generic registry of kube-apiserver v1.21. `T` is
 * the stored version of the kind; objects are decoded, except for changes by earlier hooks and admission.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /** Objects of the kind are namespaces: requests for one of them are in the namespace of its name. */
  readonly isNamespace?: boolean;
  readonly compat?: CompatibilityRules;
  /** `metadata.generation` starts at 1 and grows with every change outside metadata and status. Default: no generation. */
  readonly tracksGeneration?: boolean;
  /**
   * With `tracksGeneration`: changes of the status count as well. Default: they count only if the kind has
   * no status subresource.
   */
  readonly generationCountsStatus?: boolean;
  /** A PUT on a missing name creates it. Default: 404. */
  readonly createsOnUpdate?: boolean;
  /** A PUT without resourceVersion is refused. Default: it overwrites. */
  readonly requiresResourceVersion?: boolean;
  /** Why an object of this name must not be deleted, if so. Deletions of collections do not check it. */
  readonly refusesDeletion?: (name: string) => string | undefined;
  readonly defaultPropagation?: DefaultPropagation;
  /** A write to `status` does not change metadata. Default: it may. */
  readonly statusLeavesMetadata?: boolean;
  /**
   * Paths that writes to the object (the empty name) or to a subresource do not change and do not own, in
   * addition to the usual ones: the status for the object, everything but metadata and status for `status`,
   * the spec for `approval`.
   */
  readonly resets?: Readonly<Record<string, readonly string[]>>;
  /** The object is removed by the store after `--event-ttl`. */
  readonly expires?: boolean;
  /** The rule for names. Default: a DNS subdomain. */
  readonly nameRule?: NameRule;
  /** Field selectors beyond metadata.name and metadata.namespace, with the text of an absent value. */
  readonly selectableFields?: Readonly<Record<string, string>>;
  /** Paths of field selectors whose name is not the path: the first one with a value counts. */
  readonly fieldSources?: Readonly<Record<string, readonly string[]>>;
  /** Field selectors with an index. */
  readonly indexedFields?: readonly string[];

  /**
   * Moves the fields of an object that a server at another API level stored in another version to their places in
   * the hub version (ADR 65). Default: all versions that are stored have the same fields.
   */
  readonly readsOtherVersion?: Pick<Conversion, 'toHub'>;

  /** What a write must reserve before it is stored. */
  readonly reserves?: Reserved;

  /**
   * A record (by its key below the prefix of the store) that must not change before an object of the kind is
   * stored; undefined for none. Throws to refuse the write.
   */
  readonly reliesOn?: (operation: 'CREATE' | 'UPDATE') => Guard | undefined;
  /** Defaults that depend on the time of the request. As with other defaults, the client owns them. The object is in the version of the request. */
  readonly timedDefaults?: (object: ApiObject, nowMs: number) => ApiObject;
  readonly prepareForCreate?: (object: T, info: WriteInfo) => T;
  readonly prepareForUpdate?: (next: T, previous: T, info: WriteInfo) => T;
  /** Prepares expensive rules in slices of the event loop; undefined if there is nothing to prepare. */
  readonly prepareRules?: (next: T, previous: T | undefined, info: WriteInfo) => Promise<void> | undefined;
  /** The rules of every write; `previous` is the stored object of an update. */
  readonly validate?: (object: T, info: WriteInfo, previous?: T) => readonly FieldError[];
  /** Additional rules for new objects. */
  readonly validateNew?: (object: T, info: WriteInfo) => readonly FieldError[];
  readonly validateUpdate?: (next: T, previous: T, info: WriteInfo) => readonly FieldError[];
  /**
   * Ratcheting: returns the errors of objects, changes and subresources without those that a feature gate
   * allows or the previous object had. Called only if there are errors.
   */
  readonly ratchets?: (
    faults: readonly FieldError[],
    previous: T | undefined,
    info: WriteInfo,
  ) => readonly FieldError[];
  /** Warnings for the client about an object that is stored all the same. Not called for subresources. */
  readonly warnings?: WarnHook<T>;
  /**
   * Drops fields that no version stores, so that no manager owns them. Returns the same object if there are
   * none.
   */
  readonly dropsUnstorable?: (object: T) => T;
  /**
   * The storable form of an object, if the stored version of upstream cannot hold all of it. Default:
   * everything.
   */
  readonly toStorable?: (object: T) => T;
  /**
   * The grace period of a deletion in seconds, from the requested one; undefined if the object is removed at
   * once. Only kinds with this hook are deleted gracefully.
   */
  readonly graceSeconds?: (object: T, requested: number | undefined) => number | undefined;
  /** Whether a terminating object without finalizers must stay (a Namespace with content). */
  readonly holdsBack?: (object: T) => boolean;
  /** Replaces what the first deletion of an object usually does; later deletions continue from its result. */
  readonly beginDeletion?: (object: T, nowMs: number) => T;
  /** What a deletion that cannot finish at once changes besides metadata. */
  readonly markTerminating?: (object: T) => T;
  /**
   * What writes to subresources change, by name: `status`, `approval`, `finalize`, …. Default: {@link
   * statusSubresource}, which changes the status and metadata and has no rules of its own.
   */
  readonly subresources?: Readonly<Record<string, SubresourceStrategy<T>>>;
}

/** A subresource that is another view of the same object: it may change what it copies from `next`. */
export interface SubresourceStrategy<T extends ApiObject = ApiObject> {
  /**
   * Which checks of metadata apply. Default: `least` if the kind requires no domains of finalizers in
   * updates, else `old names`.
   */
  readonly metadataChecks?: MetadataChecks;
  readonly prepareForUpdate: (next: T, previous: T, info: WriteInfo) => T;
  readonly validateUpdate?: (next: T, previous: T, info: WriteInfo) => readonly FieldError[];
  readonly warnings?: WarnHook<T>;
}

/**
 * The `status` subresource of most kinds: status and metadata come from the request, everything else is
 * unchanged.
 */
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
