// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Condition, GroupResource, ListMeta, ObjectMeta } from './meta-v1';

export type StorageVersionMigration = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: StorageVersionMigrationSpec;
  readonly status?: StorageVersionMigrationStatus;
};

/** A list of objects of the kind StorageVersionMigration. */
export type StorageVersionMigrationList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly StorageVersionMigration[] | null;
};

export type StorageVersionMigrationSpec = {
  readonly resource: GroupResource;
};

export type StorageVersionMigrationStatus = {
  readonly conditions?: readonly Condition[];
  readonly resourceVersion?: string;
};
