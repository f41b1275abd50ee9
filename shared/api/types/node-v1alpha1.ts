// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Quantity } from '../../object/values';
import type { Toleration } from './core-v1';
import type { ListMeta, ObjectMeta } from './meta-v1';

export type Overhead = {
  readonly podFixed?: Readonly<Record<string, Quantity>>;
};

/** How the containers of a pod are run on a node. */
export type RuntimeClass = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: RuntimeClassSpec;
};

/** A list of objects of the kind RuntimeClass. */
export type RuntimeClassList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly RuntimeClass[] | null;
};

export type RuntimeClassSpec = {
  readonly runtimeHandler: string;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
};

export type Scheduling = {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
};
