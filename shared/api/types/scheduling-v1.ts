// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { ListMeta, ObjectMeta } from './meta-v1';

/** A number under a name: pods of a higher priority are scheduled first. */
export type PriorityClass = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly value: number;
  readonly globalDefault?: boolean;
  readonly description?: string;
  readonly preemptionPolicy?: string;
};

/** A list of objects of the kind PriorityClass. */
export type PriorityClassList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PriorityClass[] | null;
};
