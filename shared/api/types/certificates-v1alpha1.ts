// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { ListMeta, ObjectMeta } from './meta-v1';

export type ClusterTrustBundle = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ClusterTrustBundleSpec;
};

/** A list of objects of the kind ClusterTrustBundle. */
export type ClusterTrustBundleList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ClusterTrustBundle[] | null;
};

export type ClusterTrustBundleSpec = {
  readonly signerName?: string;
  readonly trustBundle: string;
};
