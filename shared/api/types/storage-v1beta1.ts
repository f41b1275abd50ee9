// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Quantity, Time } from '../../object/values';
import type { PersistentVolumeSpec, TopologySelectorTerm } from './core-v1';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

/** What the cluster has to know of a driver for volumes. */
export type CSIDriver = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CSIDriverSpec;
};

/** A list of objects of the kind CSIDriver. */
export type CSIDriverList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly CSIDriver[] | null;
};

export type CSIDriverSpec = {
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly volumeLifecycleModes?: readonly string[];
  readonly storageCapacity?: boolean;
  readonly fsGroupPolicy?: string;
  readonly tokenRequests?: readonly TokenRequest[];
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly nodeAllocatableUpdatePeriodSeconds?: Int64;
  readonly serviceAccountTokenInSecrets?: boolean;
  readonly preventPodSchedulingIfMissing?: boolean;
};

/** The volume drivers that run on one node. */
export type CSINode = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CSINodeSpec;
};

export type CSINodeDriver = {
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys: readonly string[] | null;
  readonly allocatable?: VolumeNodeResources;
};

/** A list of objects of the kind CSINode. */
export type CSINodeList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly CSINode[] | null;
};

export type CSINodeSpec = {
  readonly drivers: readonly CSINodeDriver[] | null;
};

/** How much room a class of storage has left in one part of the cluster. */
export type CSIStorageCapacity = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName: string;
  readonly capacity?: Quantity;
  readonly maximumVolumeSize?: Quantity;
};

/** A list of objects of the kind CSIStorageCapacity. */
export type CSIStorageCapacityList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly CSIStorageCapacity[] | null;
};

/** A kind of storage, and how volumes of it are made. */
export type StorageClass = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly provisioner: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly reclaimPolicy?: string;
  readonly mountOptions?: readonly string[];
  readonly allowVolumeExpansion?: boolean;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
};

/** A list of objects of the kind StorageClass. */
export type StorageClassList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly StorageClass[] | null;
};

/** Asks for a token of a service account. */
export type TokenRequest = {
  readonly audience: string;
  readonly expirationSeconds?: Int64;
};

/** Asks for a volume to be attached to a node, and tells how far that is. */
export type VolumeAttachment = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
};

/** A list of objects of the kind VolumeAttachment. */
export type VolumeAttachmentList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly VolumeAttachment[] | null;
};

export type VolumeAttachmentSource = {
  readonly persistentVolumeName?: string;
  readonly inlineVolumeSpec?: PersistentVolumeSpec;
};

export type VolumeAttachmentSpec = {
  readonly attacher: string;
  readonly source: VolumeAttachmentSource;
  readonly nodeName: string;
};

export type VolumeAttachmentStatus = {
  readonly attached: boolean;
  readonly attachmentMetadata?: Readonly<Record<string, string>>;
  readonly attachError?: VolumeError;
  readonly detachError?: VolumeError;
};

export type VolumeAttributesClass = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>>;
};

/** A list of objects of the kind VolumeAttributesClass. */
export type VolumeAttributesClassList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly VolumeAttributesClass[] | null;
};

export type VolumeError = {
  readonly time: Time | null;
  readonly message?: string;
  readonly errorCode?: number;
};

export type VolumeNodeResources = {
  readonly count?: number;
};
