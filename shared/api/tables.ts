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
  readonly list?: boolean;
  readonly map?: boolean;
  /** Absent and zero differ. All other singular fields always have a value. */
  readonly ptr?: boolean;
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
  /** What it is, in a sentence. */
  readonly doc?: string;
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
