// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { Int64, Quantity, Time } from '../../object/values';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1';

export type ContainerResourceMetricSource = {
  readonly name: string;
  readonly targetAverageUtilization?: number;
  readonly targetAverageValue?: Quantity;
  readonly container: string;
};

export type ContainerResourceMetricStatus = {
  readonly name: string;
  readonly currentAverageUtilization?: number;
  readonly currentAverageValue: Quantity;
  readonly container: string;
};

export type CrossVersionObjectReference = {
  readonly kind: string;
  readonly name: string;
  readonly apiVersion?: string;
};

export type ExternalMetricSource = {
  readonly metricName: string;
  readonly metricSelector?: LabelSelector;
  readonly targetValue?: Quantity;
  readonly targetAverageValue?: Quantity;
};

export type ExternalMetricStatus = {
  readonly metricName: string;
  readonly metricSelector?: LabelSelector;
  readonly currentValue: Quantity;
  readonly currentAverageValue?: Quantity;
};

/** Changes the number of replicas of an object by how busy they are. */
export type HorizontalPodAutoscaler = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status?: HorizontalPodAutoscalerStatus;
};

export type HorizontalPodAutoscalerCondition = {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
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
  readonly metrics?: readonly MetricSpec[];
};

export type HorizontalPodAutoscalerStatus = {
  readonly observedGeneration?: Int64;
  readonly lastScaleTime?: Time;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly currentMetrics: readonly MetricStatus[] | null;
  readonly conditions: readonly HorizontalPodAutoscalerCondition[] | null;
};

export type MetricSpec = {
  readonly type: string;
  readonly object?: ObjectMetricSource;
  readonly pods?: PodsMetricSource;
  readonly resource?: ResourceMetricSource;
  readonly containerResource?: ContainerResourceMetricSource;
  readonly external?: ExternalMetricSource;
};

export type MetricStatus = {
  readonly type: string;
  readonly object?: ObjectMetricStatus;
  readonly pods?: PodsMetricStatus;
  readonly resource?: ResourceMetricStatus;
  readonly containerResource?: ContainerResourceMetricStatus;
  readonly external?: ExternalMetricStatus;
};

export type ObjectMetricSource = {
  readonly target: CrossVersionObjectReference;
  readonly metricName: string;
  readonly targetValue: Quantity;
  readonly selector?: LabelSelector;
  readonly averageValue?: Quantity;
};

export type ObjectMetricStatus = {
  readonly target: CrossVersionObjectReference;
  readonly metricName: string;
  readonly currentValue: Quantity;
  readonly selector?: LabelSelector;
  readonly averageValue?: Quantity;
};

export type PodsMetricSource = {
  readonly metricName: string;
  readonly targetAverageValue: Quantity;
  readonly selector?: LabelSelector;
};

export type PodsMetricStatus = {
  readonly metricName: string;
  readonly currentAverageValue: Quantity;
  readonly selector?: LabelSelector;
};

export type ResourceMetricSource = {
  readonly name: string;
  readonly targetAverageUtilization?: number;
  readonly targetAverageValue?: Quantity;
};

export type ResourceMetricStatus = {
  readonly name: string;
  readonly currentAverageUtilization?: number;
  readonly currentAverageValue: Quantity;
};
