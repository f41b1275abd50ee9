// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, IntOrString, Time } from '../../object/values';
import type { Condition, DeleteOptions, LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

/** Asks for a pod to be deleted, unless its disruption budget forbids it. */
export type Eviction = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly deleteOptions?: DeleteOptions;
};

/** How many of the selected pods may be taken away at a time. */
export type PodDisruptionBudget = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
};

/** A list of objects of the kind PodDisruptionBudget. */
export type PodDisruptionBudgetList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly PodDisruptionBudget[] | null;
};

export type PodDisruptionBudgetSpec = {
  readonly minAvailable?: IntOrString;
  readonly selector?: LabelSelector;
  readonly maxUnavailable?: IntOrString;
  readonly unhealthyPodEvictionPolicy?: string;
};

export type PodDisruptionBudgetStatus = {
  readonly observedGeneration?: Int64;
  readonly disruptedPods?: Readonly<Record<string, Time | null>>;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly conditions?: readonly Condition[];
};
