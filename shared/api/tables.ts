import resourcesData from './data/resources.json';
import admission from './data/schema/admission.json';
import admissionregistration from './data/schema/admissionregistration.json';
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
import scheduling from './data/schema/scheduling.json';
import storage from './data/schema/storage.json';

/** One message, as the file of its group in `data/schema/` states it. */
export interface MessageData {
  /** It is a kind: it carries `kind` and `apiVersion` beside its fields. */
  readonly kind?: boolean;
  /** What it is, in a sentence. */
  readonly doc?: string;
  /** By their JSON names, in the order in which JSON shows them. */
  readonly fields: Readonly<Record<string, FieldData>>;
}

/** One field of a message. */
export interface FieldData {
  /** Protobuf field number. */
  readonly n: number;
  /** A scalar (`string`, `int32`, …), a special type (`Time`, `Quantity`, …) or a message (`core/v1.PodSpec`). */
  readonly t: string;
  /** A list of such values. */
  readonly list?: boolean;
  /** A map from strings to such values. */
  readonly map?: boolean;
  /**
   * Absent and zero differ. A singular field without it always has a value: an integer that nobody sent is 0. With it, and without `omitempty`,
   * what nobody sent is `null`.
   */
  readonly ptr?: boolean;
  /** The fields of the message stand in the parent in JSON; in Protobuf they are a nested message. */
  readonly inline?: boolean;
  /** Clients may leave it out. Says so in the published OpenAPI and does nothing else: Required there is what is neither `optional` nor `omitempty`. */
  readonly optional?: boolean;
  /** JSON leaves it out where it is empty: null, zero where there is no `ptr`, an empty list or map. A message is written even where it is empty. */
  readonly omitempty?: boolean;
  /** Beside `omitempty`: an empty list that was sent stays, so that its default does not take its place. Its rule refuses it, and nothing stores it. */
  readonly keepsEmpty?: boolean;
  /** How server-side apply sees a list: `atomic`, of one owner; `set`, each value has its own; `map`, each item, known by `listMapKeys`. Default: `patchStrategy` decides. */
  readonly listType?: string;
  /** With the list type `map`: the fields of an item that tell it from the others. */
  readonly listMapKeys?: readonly string[];
  /** `atomic`: server-side apply sees the map as one value. Default: each entry has its own owners. */
  readonly mapType?: string;
  /** `atomic`: server-side apply sees the message as one value. Default: each field has its own owners. */
  readonly structType?: string;
  /**
   * What a strategic merge patch does with a list or message, separated by commas: `merge`, item by item; `replace`, the whole; `retainKeys`, it may name the
   * fields that stay. Default: lists are replaced and messages merged.
   */
  readonly patchStrategy?: string;
  /** With the patch strategy `merge`: the field that tells one item of the list from the others. */
  readonly patchMergeKey?: string;
  /**
   * The default of the published OpenAPI, as JSON (`"\"TCP\""`), by which server-side apply knows an item that leaves a key out. What is filled into objects is
   * in `shared/defaults/`.
   */
  readonly default?: string;
  /** What it is, in a sentence. */
  readonly doc?: string;
}

/** One resource of one group version, as `data/resources.json` states it, in neutral names. */
export interface ResourceData {
  /** In CamelCase. */
  readonly kind: string;
  readonly namespaced: boolean;
  /** Those of discovery: `create`, `delete`, `deletecollection`, `get`, `list`, `patch`, `update`, `watch`. */
  readonly verbs: readonly string[];
  /** The message of the kind: `core/v1.Pod`. */
  readonly schema: string;
  /** What kubectl takes for the resource as well. */
  readonly shortNames?: readonly string[];
  /** Words that stand for many resources at once, as `all` in `kubectl get all`. */
  readonly categories?: readonly string[];
  /** By their names: `status`, `scale`, …. */
  readonly subresources?: Readonly<Record<string, SubresourceData>>;
  /** Releases, as `1.21`: the first one with it, the first one that warns, the first one without it. */
  readonly introduced?: string;
  readonly deprecated?: string;
  readonly removed?: string;
  /** `group/version Kind`. */
  readonly replacement?: string;
}

/** One subresource, as `data/resources.json` states it. */
export interface SubresourceData {
  /** What is sent to it: the kind of the resource itself, or another (`Scale`, `Eviction`). */
  readonly kind: string;
  readonly verbs: readonly string[];
  /** Where its kind is not of the resource's own group version. */
  readonly groupVersion?: string;
}

/** A table by package or group version, then by message or resource. */
type ByMessage<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** Package (`core/v1`) → message → its row. */
export const SCHEMA_DATA: ByMessage<MessageData> = {
  ...admission,
  ...admissionregistration,
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
  ...scheduling,
  ...storage,
};

/** Group version → resource → its row. */
export const RESOURCE_DATA = resourcesData as unknown as ByMessage<ResourceData>;
