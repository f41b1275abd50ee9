import type { Json } from './json';
import { changeObject, compact, has, objectAt, without } from './json';

/**
 * Metrics of autoscaling/v2beta2 (the hub) in the flat form of autoscaling/v2beta1, which autoscaling/v1 keeps in annotations, and
 * back. Each of the four functions takes one element of `spec.metrics` or `status.currentMetrics`.
 */
export function flatSpec(metric: Json): Json {
  return inEach(metric, {
    object: (source) => ({
      ...flatMetric(source, 'selector'),
      target: source['describedObject'],
      targetValue: at(source, 'target', 'value') ?? ZERO,
      averageValue: at(source, 'target', 'averageValue'),
    }),
    pods: (source) => ({
      ...flatMetric(source, 'selector'),
      targetAverageValue: at(source, 'target', 'averageValue') ?? ZERO,
    }),
    resource: flatTarget,
    containerResource: flatTarget,
    external: (source) => ({
      ...flatMetric(source, 'metricSelector'),
      targetValue: at(source, 'target', 'value'),
      targetAverageValue: at(source, 'target', 'averageValue'),
    }),
  });
}

export function nestedSpec(metric: Json): Json {
  return inEach(metric, {
    object: (source) => ({
      describedObject: source['target'],
      metric: nestedMetric(source, 'selector'),
      target: compact({
        type: has(source, 'averageValue') ? 'AverageValue' : 'Value',
        value:
          has(source, 'averageValue') && isZero(source['targetValue']) ? undefined : source['targetValue'],
        averageValue: source['averageValue'],
      }),
    }),
    pods: (source) => ({
      metric: nestedMetric(source, 'selector'),
      target: { type: 'AverageValue', averageValue: source['targetAverageValue'] },
    }),
    resource: nestedTarget,
    containerResource: nestedTarget,
    external: (source) => ({
      metric: nestedMetric(source, 'metricSelector'),
      target: compact({
        type: has(source, 'targetValue') ? 'Value' : 'AverageValue',
        value: source['targetValue'],
        averageValue: source['targetAverageValue'],
      }),
    }),
  });
}

export function flatStatus(metric: Json): Json {
  return inEach(metric, {
    object: (source) => ({
      ...flatMetric(source, 'selector'),
      target: source['describedObject'],
      currentValue: at(source, 'current', 'value') ?? ZERO,
      averageValue: at(source, 'current', 'averageValue'),
    }),
    pods: (source) => ({
      ...flatMetric(source, 'selector'),
      currentAverageValue: at(source, 'current', 'averageValue') ?? ZERO,
    }),
    resource: flatCurrent,
    containerResource: flatCurrent,
    external: (source) => ({
      ...flatMetric(source, 'metricSelector'),
      currentValue: at(source, 'current', 'value') ?? ZERO,
      currentAverageValue: at(source, 'current', 'averageValue'),
    }),
  });
}

export function nestedStatus(metric: Json): Json {
  return inEach(metric, {
    object: (source) => ({
      describedObject: source['target'],
      metric: nestedMetric(source, 'selector'),
      current: compact({ value: source['currentValue'], averageValue: source['averageValue'] }),
    }),
    pods: (source) => ({
      metric: nestedMetric(source, 'selector'),
      current: compact({ averageValue: source['currentAverageValue'] }),
    }),
    resource: nestedCurrent,
    containerResource: nestedCurrent,
    external: (source) => ({
      metric: nestedMetric(source, 'metricSelector'),
      current: compact({ value: source['currentValue'], averageValue: source['currentAverageValue'] }),
    }),
  });
}

/** What an absent amount reads as where the flat form demands one. */
const ZERO = '0';

type Sources = Readonly<Record<string, (source: Json) => Json>>;

function inEach(metric: Json, sources: Sources): Json {
  return Object.entries(sources).reduce(
    (changed, [name, change]) => changeObject(changed, name, (source) => compact(change(source))),
    metric,
  );
}

function at(source: Json, member: string, name: string): unknown {
  return objectAt(source, member)?.[name];
}

function flatMetric(source: Json, selectorName: string): Json {
  return { metricName: at(source, 'metric', 'name'), [selectorName]: at(source, 'metric', 'selector') };
}

function nestedMetric(source: Json, selectorName: string): Json {
  return compact({ name: source['metricName'], selector: source[selectorName] });
}

function flatTarget(source: Json): Json {
  return {
    ...without(source, 'target'),
    targetAverageUtilization: at(source, 'target', 'averageUtilization'),
    targetAverageValue: at(source, 'target', 'averageValue'),
  };
}

function nestedTarget(source: Json): Json {
  return {
    ...without(source, 'targetAverageUtilization', 'targetAverageValue'),
    target: compact({
      type: has(source, 'targetAverageUtilization') ? 'Utilization' : 'AverageValue',
      averageValue: source['targetAverageValue'],
      averageUtilization: source['targetAverageUtilization'],
    }),
  };
}

function flatCurrent(source: Json): Json {
  return {
    ...without(source, 'current'),
    currentAverageUtilization: at(source, 'current', 'averageUtilization'),
    currentAverageValue: at(source, 'current', 'averageValue') ?? ZERO,
  };
}

function nestedCurrent(source: Json): Json {
  return {
    ...without(source, 'currentAverageUtilization', 'currentAverageValue'),
    current: compact({
      averageValue: source['currentAverageValue'],
      averageUtilization: source['currentAverageUtilization'],
    }),
  };
}

function isZero(value: unknown): boolean {
  return value === ZERO || value === undefined;
}
