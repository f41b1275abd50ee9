// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Time } from '../../object/values';
import type { ListMeta, ObjectMeta } from './meta-v1';

export type ServerStorageVersion = {
  readonly apiServerID?: string;
  readonly encodingVersion?: string;
  readonly decodableVersions?: readonly string[];
  readonly servedVersions?: readonly string[];
};

/** In which version each server stores a resource. */
export type StorageVersion = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: StorageVersionSpec;
  readonly status?: StorageVersionStatus;
};

export type StorageVersionCondition = {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: Int64;
  readonly lastTransitionTime: Time | null;
  readonly reason: string;
  readonly message?: string;
};

/** A list of objects of the kind StorageVersion. */
export type StorageVersionList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly StorageVersion[] | null;
};

export type StorageVersionSpec = Readonly<Record<string, never>>;

export type StorageVersionStatus = {
  readonly storageVersions?: readonly ServerStorageVersion[];
  readonly commonEncodingVersion?: string;
  readonly conditions?: readonly StorageVersionCondition[];
};
