// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Time } from '../../object/values';
import type { ListMeta, ObjectMeta } from './meta-v1';

export type CrossVersionObjectReference = {
  readonly kind: string;
  readonly name: string;
  readonly apiVersion?: string;
};

/** Changes the number of replicas of an object by how busy they are. */
export type HorizontalPodAutoscaler = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
};

/** A list of objects of the kind HorizontalPodAutoscaler. */
export type HorizontalPodAutoscalerList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly HorizontalPodAutoscaler[] | null;
};

export type HorizontalPodAutoscalerSpec = {
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly minReplicas?: number;
  readonly maxReplicas: number;
  readonly targetCPUUtilizationPercentage?: number;
};

export type HorizontalPodAutoscalerStatus = {
  readonly observedGeneration?: Int64;
  readonly lastScaleTime?: Time;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly currentCPUUtilizationPercentage?: number;
};

/** The number of replicas of an object, as it is wanted and as it is. */
export type Scale = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ScaleSpec;
  readonly status?: ScaleStatus;
};

export type ScaleSpec = {
  readonly replicas?: number;
};

export type ScaleStatus = {
  readonly replicas: number;
  readonly selector?: string;
};
