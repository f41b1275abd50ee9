import type * as v2beta1 from '../api/types/autoscaling-v2beta1';
import type * as v2 from '../api/types/autoscaling-v2';
import type { Unchecked } from '../object/values';
import type { ReadonlyJson } from '../object/json';
import { changeObject, compact, fields, isGiven, without } from '../object/json';

/** Union of the sources of all types of metrics. Those from annotations are not validated. */
type Nested = Unchecked<
  v2.ObjectMetricSource & v2.ResourceMetricSource & v2.ObjectMetricStatus & v2.ResourceMetricStatus
>;
type Flat = Unchecked<
  v2beta1.ObjectMetricSource &
    v2beta1.PodsMetricSource &
    v2beta1.ResourceMetricSource &
    v2beta1.ExternalMetricSource &
    v2beta1.ObjectMetricStatus &
    v2beta1.PodsMetricStatus &
    v2beta1.ResourceMetricStatus &
    v2beta1.ExternalMetricStatus
>;

/**
 * Converts metrics between autoscaling/v2beta2 (the hub) and the flat form of autoscaling/v2beta1, which
 * autoscaling/v1 keeps in annotations. Each of the four functions takes one element of `spec.metrics` or
 * `status.currentMetrics`. Fields have v1.21's order, since clients compare annotations as text.
 */
export function flatSpec(metric: ReadonlyJson): ReadonlyJson {
  return inEach<Nested>(metric, {
    object: (source) => ({
      target: source.describedObject,
      metricName: metricOf(source).name,
      targetValue: targetOf(source).value ?? ZERO,
      selector: metricOf(source).selector,
      averageValue: targetOf(source).averageValue,
    }),
    pods: (source) => ({
      metricName: metricOf(source).name,
      targetAverageValue: targetOf(source).averageValue ?? ZERO,
      selector: metricOf(source).selector,
    }),
    resource: flatTarget,
    containerResource: flatTarget,
    external: (source) => ({
      metricName: metricOf(source).name,
      metricSelector: metricOf(source).selector,
      targetValue: targetOf(source).value,
      targetAverageValue: targetOf(source).averageValue,
    }),
  });
}

export function nestedSpec(metric: ReadonlyJson): ReadonlyJson {
  return inEach<Flat>(metric, {
    object: (source) => ({
      describedObject: source.target,
      metric: nestedMetric(source, 'selector'),
      target: compact({
        type: isGiven(source.averageValue) ? 'AverageValue' : 'Value',
        value: source.targetValue ?? ZERO,
        averageValue: source.averageValue,
      }),
    }),
    pods: (source) => ({
      metric: nestedMetric(source, 'selector'),
      target: { type: 'AverageValue', averageValue: source.targetAverageValue },
    }),
    resource: nestedTarget,
    containerResource: nestedTarget,
    external: (source) => ({
      metric: nestedMetric(source, 'metricSelector'),
      target: compact({
        type: isGiven(source.targetValue) ? 'Value' : 'AverageValue',
        value: source.targetValue,
        averageValue: source.targetAverageValue,
      }),
    }),
  });
}

export function flatStatus(metric: ReadonlyJson): ReadonlyJson {
  return inEach<Nested>(metric, {
    object: (source) => ({
      target: source.describedObject,
      metricName: metricOf(source).name,
      currentValue: currentOf(source).value ?? ZERO,
      selector: metricOf(source).selector,
      averageValue: currentOf(source).averageValue,
    }),
    pods: (source) => ({
      metricName: metricOf(source).name,
      currentAverageValue: currentOf(source).averageValue ?? ZERO,
      selector: metricOf(source).selector,
    }),
    resource: flatCurrent,
    containerResource: flatCurrent,
    external: (source) => ({
      metricName: metricOf(source).name,
      metricSelector: metricOf(source).selector,
      currentValue: currentOf(source).value ?? ZERO,
      currentAverageValue: currentOf(source).averageValue,
    }),
  });
}

export function nestedStatus(metric: ReadonlyJson): ReadonlyJson {
  return inEach<Flat>(metric, {
    object: (source) => ({
      describedObject: source.target,
      metric: nestedMetric(source, 'selector'),
      current: compact({ value: source.currentValue, averageValue: source.averageValue }),
    }),
    pods: (source) => ({
      metric: nestedMetric(source, 'selector'),
      current: compact({ averageValue: source.currentAverageValue }),
    }),
    resource: nestedCurrent,
    containerResource: nestedCurrent,
    external: (source) => ({
      metric: nestedMetric(source, 'metricSelector'),
      current: compact({ value: source.currentValue, averageValue: source.currentAverageValue }),
    }),
  });
}

/** An absent quantity in a required field of the flat form. */
const ZERO = '0';

type Sources<Source> = Readonly<
  Partial<Record<keyof v2.MetricSpec & keyof v2beta1.MetricSpec, (source: Source) => ReadonlyJson>>
>;

function inEach<Source>(metric: ReadonlyJson, sources: Sources<Source>): ReadonlyJson {
  return Object.entries(sources).reduce(
    (changed, [name, change]) => changeObject(changed, name, (source) => compact(change(source as Source))),
    metric,
  );
}

function targetOf({ target }: Nested): Unchecked<v2.MetricTarget> {
  return fields(target);
}

function currentOf({ current }: Nested): Unchecked<v2.MetricValueStatus> {
  return fields(current);
}

function metricOf({ metric }: Nested): Unchecked<v2.MetricIdentifier> {
  return fields(metric);
}

function nestedMetric(source: Flat, selectorName: 'selector' | 'metricSelector'): ReadonlyJson {
  return compact({ name: source.metricName, selector: source[selectorName] });
}

function flatTarget(source: Nested): ReadonlyJson {
  return {
    name: source.name,
    targetAverageUtilization: targetOf(source).averageUtilization,
    targetAverageValue: targetOf(source).averageValue,
    ...without(source, 'target', 'name'),
  };
}

function nestedTarget(source: Flat): ReadonlyJson {
  return {
    ...without(source, 'targetAverageUtilization', 'targetAverageValue'),
    target: compact({
      type: isGiven(source.targetAverageUtilization) ? 'Utilization' : 'AverageValue',
      averageValue: source.targetAverageValue,
      averageUtilization: source.targetAverageUtilization,
    }),
  };
}

function flatCurrent(source: Nested): ReadonlyJson {
  return {
    name: source.name,
    currentAverageUtilization: currentOf(source).averageUtilization,
    currentAverageValue: currentOf(source).averageValue ?? ZERO,
    ...without(source, 'current', 'name'),
  };
}

function nestedCurrent(source: Flat): ReadonlyJson {
  return {
    ...without(source, 'currentAverageUtilization', 'currentAverageValue'),
    current: compact({
      averageValue: source.currentAverageValue,
      averageUtilization: source.currentAverageUtilization,
    }),
  };
}
