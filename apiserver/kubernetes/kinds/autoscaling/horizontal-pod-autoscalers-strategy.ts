import type { HorizontalPodAutoscaler, MetricSpec } from '../../../../shared/api/types/autoscaling-v2beta2';
import { withoutCarriers } from '../../../../shared/conversion/autoscaling-annotations';
import { HORIZONTAL_POD_AUTOSCALER_V1 } from '../../../../shared/conversion/autoscaling-v1';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { autoscalerRules } from './horizontal-pod-autoscalers-rules';

export const horizontalPodAutoscalers: Strategy<HorizontalPodAutoscaler> = {
  metadataChecks: 'old names',
  ...autoscalerRules,
  prepareForCreate: (object, { settings }) =>
    isOn(settings, 'HPAContainerMetrics') ? object : withoutContainerMetrics(object),
  prepareForUpdate: (next, previous, { settings }) => {
    const isKept = isOn(settings, 'HPAContainerMetrics') || hasContainerMetrics(previous);
    return withoutZeroValues(isKept ? next : withoutContainerMetrics(next));
  },
  dropsUnstorable: (object) => withoutCarriers(object) as HorizontalPodAutoscaler,
  toStorable: asVersion1,
};

/** Metrics of single containers belong to a feature that is off by default; an autoscaler that has had some keeps them. */
function withoutContainerMetrics(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  if (!hasContainerMetrics(object)) return object;
  const metrics = object.spec.metrics?.map(({ containerResource: _source, ...metric }) => metric) ?? [];
  return { ...object, spec: { ...object.spec, metrics } };
}

function hasContainerMetrics({ spec: { metrics = [] } }: HorizontalPodAutoscaler): boolean {
  return metrics.some(({ containerResource }) => containerResource !== undefined);
}

/**
 * A metric of an object that was stored with an average alone reads as if it had a value of 0 as well, which the rules refuse. Upstream
 * refuses each change of such an autoscaler, a defect; here what reads so is no fault.
 */
function withoutZeroValues(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { metrics = [] } = object.spec;
  if (!metrics.some(hasZeroValue)) return object;
  return { ...object, spec: { ...object.spec, metrics: metrics.map(withoutZeroValue) } };
}

function withoutZeroValue(metric: MetricSpec): MetricSpec {
  const { object } = metric;
  if (object === undefined || !hasZeroValue(metric)) return metric;
  const { value: _zero, ...target } = object.target;
  return { ...metric, object: { ...object, target } };
}

function hasZeroValue({ object }: MetricSpec): boolean {
  return object?.target.averageValue !== undefined && object.target.value === '0';
}

/**
 * Upstream stores autoscaling/v1, which has the share of processors in a field of its own and everything else in annotations, in the form
 * of v2beta1: that metric comes last then, and what the older form has no words for is gone.
 */
function asVersion1(object: HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const version1 = HORIZONTAL_POD_AUTOSCALER_V1.fromHub(object);
  return HORIZONTAL_POD_AUTOSCALER_V1.toHub(version1) as HorizontalPodAutoscaler;
}
