// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Quantity, Time } from '../../object/values';
import type { PersistentVolumeSpec } from './core-v1';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

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

export type VolumeError = {
  readonly time: Time | null;
  readonly message?: string;
  readonly errorCode?: number;
};
