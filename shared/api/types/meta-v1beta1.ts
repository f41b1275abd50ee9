// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { ListMeta, PartialObjectMetadata } from './meta-v1';

/** A list of objects of the kind PartialObjectMetadata. */
export type PartialObjectMetadataList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PartialObjectMetadata[] | null;
};
