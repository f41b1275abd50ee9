import resourcesData from './data/resources.json';
import type { Revised, Spanned } from '../api-level';
import admission from './data/schema/admission.json';
import admissionregistration from './data/schema/admissionregistration.json';
import apidiscovery from './data/schema/apidiscovery.json';
import apiextensions from './data/schema/apiextensions.json';
import apiregistration from './data/schema/apiregistration.json';
import apiserverinternal from './data/schema/apiserverinternal.json';
import apps from './data/schema/apps.json';
import authentication from './data/schema/authentication.json';
import authorization from './data/schema/authorization.json';
import autoscaling from './data/schema/autoscaling.json';
import batch from './data/schema/batch.json';
import certificates from './data/schema/certificates.json';
import coordination from './data/schema/coordination.json';
import core from './data/schema/core.json';
import discovery from './data/schema/discovery.json';
import events from './data/schema/events.json';
import extensions from './data/schema/extensions.json';
import flowcontrol from './data/schema/flowcontrol.json';
import meta from './data/schema/meta.json';
import networking from './data/schema/networking.json';
import node from './data/schema/node.json';
import policy from './data/schema/policy.json';
import rbac from './data/schema/rbac.json';
import resource from './data/schema/resource.json';
import scheduling from './data/schema/scheduling.json';
import storage from './data/schema/storage.json';
import storagemigration from './data/schema/storagemigration.json';

/** One message as in the file of its group in `data/schema/`. */
export interface MessageData extends Spanned {
  /** True for a kind, which has `kind` and `apiVersion` besides its fields. */
  readonly kind?: boolean;
  /** Description in a sentence. */
  readonly doc?: string;
  /** The first release in which server-side apply replaces the message as a whole. */
  readonly atomic?: string;
  /** Fields that the published OpenAPI requires although they are `omitempty`. */
  readonly required?: readonly string[];
  /** The extension `x-kubernetes-unions` of the published OpenAPI. */
  readonly unions?: readonly object[];
  /** Fields by JSON name, in the order of JSON. */
  readonly fields: Readonly<Record<string, FieldData>>;
}

/** One field of a message. */
export interface FieldData extends Revised<FieldData> {
  /** Protobuf field number. */
  readonly n: number;
  /** A scalar (`string`, `int32`, …), a special type (`Time`, `Quantity`, …) or a message (`core/v1.PodSpec`). */
  readonly t: string;
  /** A list of such values. */
  readonly list?: boolean;
  /** A map from strings to such values. */
  readonly map?: boolean;
  /**
   * True where absent and zero differ. A singular field without it always has a value: an absent integer is 0.
   * With it, and without `omitempty`, an absent field is `null`.
   */
  readonly ptr?: boolean;
  /** In JSON the message's fields are fields of the parent; in Protobuf they are a nested message. */
  readonly inline?: boolean;
  /**
   * Not required in the published OpenAPI; it has no other effect. A field that is neither `optional` nor
   * `omitempty` is required there.
   */
  readonly optional?: boolean;
  /** JSON omits an empty value: null, zero without `ptr`, an empty list or map. A message is always written. */
  readonly omitempty?: boolean;
  /** JSON omits the zero value of a message or time that is no pointer. */
  readonly omitzero?: boolean;
  /**
   * With `omitempty`: an empty list is kept, so that it gets no default. Validation refuses it, so it is never
   * stored.
   */
  readonly keepsEmpty?: boolean;
  /**
   * List type of server-side apply: `atomic` has one owner; in a `set` each value has owners; in a `map` each
   * item, identified by `listMapKeys`. Default: `patchStrategy` decides.
   */
  readonly listType?: string;
  /** With the list type `map`: the fields that identify an item. */
  readonly listMapKeys?: readonly string[];
  /** `atomic`: the map has one owner in server-side apply. Default: each entry has its own owners. */
  readonly mapType?: string;
  /** `atomic`: the message has one owner in server-side apply. Default: each field has its own owners. */
  readonly structType?: string;
  /**
   * Patch strategies of strategic merge patch, separated by commas: `merge` by item, `replace` the whole,
   * `retainKeys` allows the directive of that name. Default: lists are replaced and messages merged.
   */
  readonly patchStrategy?: string;
  /** With the patch strategy `merge`: the field that identifies an item. */
  readonly patchMergeKey?: string;
  /**
   * The default of the published OpenAPI as JSON (`"\"TCP\""`), which server-side apply uses for omitted keys
   * of items. Defaults of objects are in `shared/defaults/`.
   */
  readonly default?: string;
  /** The values that the published OpenAPI lists. */
  readonly enum?: readonly string[];
  /** What it is, in a sentence. */
  readonly doc?: string;
}

/** One resource of one group version as in `data/resources.json`, in neutral names. */
export interface ResourceData extends Revised<ResourceData> {
  /** In CamelCase. */
  readonly kind: string;
  readonly namespaced: boolean;
  /** Verbs of discovery: `create`, `delete`, `deletecollection`, `get`, `list`, `patch`, `update`, `watch`. */
  readonly verbs: readonly string[];
  /** The message of the kind: `core/v1.Pod`. */
  readonly schema: string;
  /** Other names of the resource in kubectl. */
  readonly shortNames?: readonly string[];
  /** Names of sets of resources, such as `all` in `kubectl get all`. */
  readonly categories?: readonly string[];
  /** Subresources by name: `status`, `scale`, …. */
  readonly subresources?: Readonly<Record<string, SubresourceData>>;
  /**
   * Releases, as `1.21`: the first one that has it, the first one that deprecates it, the first one without
   * it.
   */
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** `group/version Kind`. */
  readonly replacement?: string;
  /** In CamelCase-free singular, as newer releases publish it. */
  readonly singular?: string;
  /** The version in which upstream stores the objects. */
  readonly storageVersion?: string;
  /** True where `--runtime-config` must switch it on. */
  readonly offByDefault?: boolean;
  /** The feature gate without which it is not served. */
  readonly gate?: string;
}

/** One subresource as in `data/resources.json`. */
export interface SubresourceData extends Revised<SubresourceData> {
  /** Kind on the wire: that of the resource itself, or another (`Scale`, `Eviction`). */
  readonly kind: string;
  readonly verbs: readonly string[];
  /** Set where its kind is in another group version than the resource. */
  readonly groupVersion?: string;
}

/** A table by package or group version, then by message or resource. */
type ByMessage<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** Package (`core/v1`) → message → its row. */
export const SCHEMA_DATA = {
  ...admission,
  ...admissionregistration,
  ...apidiscovery,
  ...apiextensions,
  ...apiregistration,
  ...apiserverinternal,
  ...apps,
  ...authentication,
  ...authorization,
  ...autoscaling,
  ...batch,
  ...certificates,
  ...coordination,
  ...core,
  ...discovery,
  ...events,
  ...extensions,
  ...flowcontrol,
  ...meta,
  ...networking,
  ...node,
  ...policy,
  ...rbac,
  ...resource,
  ...scheduling,
  ...storage,
  ...storagemigration,
} as unknown as ByMessage<MessageData>;

/** Group version → resource → its row. */
export const RESOURCE_DATA = resourcesData as unknown as ByMessage<ResourceData>;
