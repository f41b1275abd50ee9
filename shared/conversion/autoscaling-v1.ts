import type { ApiObject } from '../object/object';
import type { Unchecked } from '../object/values';
import type * as v1 from '../api/types/autoscaling-v1';
import type * as v2 from '../api/types/autoscaling-v2';
import { ANNOTATION } from '../names';
import {
  annotationBehavior,
  annotationList,
  behaviorText,
  withAnnotations,
  withoutCarriers,
} from './autoscaling-annotations';
import { flatSpec, flatStatus, nestedSpec, nestedStatus } from './autoscaling-metrics';
import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { changeObject, compact, fields, isGiven, objectAt, objectsAt, without } from '../object/json';

/**
 * autoscaling/v1 has fields for CPU utilization only. Everything else of the hub (other metrics, status of all
 * metrics, conditions, behavior) is carried in annotations; unparsable annotations are lost.
 */
export const HORIZONTAL_POD_AUTOSCALER_V1: Conversion = { toHub, fromHub, settles: true };

function toHub(object: ApiObject): ApiObject {
  const metrics = annotationList(object, ANNOTATION.autoscalerMetrics, 'autoscaling/v2beta1.MetricSpec');
  const currentMetrics = annotationList(
    object,
    ANNOTATION.autoscalerCurrentMetrics,
    'autoscaling/v2beta1.MetricStatus',
  );
  const conditions = annotationList(
    object,
    ANNOTATION.autoscalerConditions,
    'autoscaling/v2beta1.HorizontalPodAutoscalerCondition',
  );
  const behavior = annotationBehavior(object);
  const withSpec = changeObject(withoutCarriers(object), 'spec', (spec) => ({
    ...without(spec, 'targetCPUUtilizationPercentage'),
    metrics: metricsOrDefault([...(metrics ?? []).map(nestedSpec), ...metricOfField(spec)]),
    ...(behavior === undefined ? {} : { behavior }),
  }));
  const status = objectAt(object, 'status') ?? {};
  return {
    ...withSpec,
    status: {
      ...without(status, 'currentCPUUtilizationPercentage'),
      currentMetrics: currentMetrics?.map(nestedStatus) ?? currentOfField(status),
      ...(conditions === undefined ? {} : { conditions }),
    },
  } as unknown as ApiObject;
}

/** Default target of an autoscaler without metrics. Only this conversion knows that there are none. */
const CPU_PERCENT = 80;

function metricsOrDefault(metrics: readonly ReadonlyJson[]): readonly ReadonlyJson[] {
  return metrics.length > 0 ? metrics : metricOfField({ targetCPUUtilizationPercentage: CPU_PERCENT });
}

function metricOfField({
  targetCPUUtilizationPercentage: averageUtilization,
}: Unchecked<v1.HorizontalPodAutoscalerSpec>): readonly ReadonlyJson[] {
  if (!isGiven(averageUtilization)) return [];
  return [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } },
  ];
}

function currentOfField({
  currentCPUUtilizationPercentage: averageUtilization,
}: Unchecked<v1.HorizontalPodAutoscalerStatus>): readonly ReadonlyJson[] | null {
  if (!isGiven(averageUtilization)) return null;
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }];
}

function fromHub(object: ApiObject): ApiObject {
  const spec = objectAt(object, 'spec') ?? {};
  const status = objectAt(object, 'status') ?? {};
  const metrics = objectsAt(spec, 'metrics');
  const ofField = metrics.find(isCpu);
  const others = metrics.filter((metric) => !isCpu(metric) || !isGiven(targetOf(metric).averageUtilization));
  const currentMetrics = objectsAt(status, 'currentMetrics');
  const current = currentMetrics.findLast(
    (metric) => isCpu(metric) && isGiven(currentOf(metric).averageUtilization),
  );
  const conditions = objectsAt(status, 'conditions');
  const behavior = objectAt(spec, 'behavior');
  const converted = {
    ...object,
    spec: compact({
      ...without(spec, 'metrics', 'behavior'),
      targetCPUUtilizationPercentage:
        ofField === undefined ? undefined : targetOf(ofField).averageUtilization,
    }),
    status: compact({
      ...without(status, 'currentMetrics', 'conditions'),
      currentCPUUtilizationPercentage:
        current === undefined ? undefined : currentOf(current).averageUtilization,
    }),
  };
  return withAnnotations(converted, {
    [ANNOTATION.autoscalerMetrics]: listText(others.map(flatSpec)),
    [ANNOTATION.autoscalerBehavior]: behavior === undefined ? undefined : behaviorText(behavior),
    [ANNOTATION.autoscalerCurrentMetrics]: listText(currentMetrics.map(flatStatus)),
    [ANNOTATION.autoscalerConditions]: listText(conditions),
  });
}

function isCpu({ type, resource }: Unchecked<v2.MetricSpec>): boolean {
  return type === 'Resource' && fields<v2.ResourceMetricSource>(resource).name === 'cpu';
}

function targetOf({ resource }: Unchecked<v2.MetricSpec>): Unchecked<v2.MetricTarget> {
  return fields(fields<v2.ResourceMetricSource>(resource).target);
}

function currentOf({ resource }: Unchecked<v2.MetricStatus>): Unchecked<v2.MetricValueStatus> {
  return fields(fields<v2.ResourceMetricStatus>(resource).current);
}

function listText(list: readonly ReadonlyJson[]): string | undefined {
  return list.length === 0 ? undefined : JSON.stringify(list);
}
