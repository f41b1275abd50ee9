import { ANNOTATION } from '../names';
import type { Json } from '../conversion/json';
import { compact, has, objectAt, objectsAt } from '../conversion/json';
import type { DefaultsTable, MessageDefaults } from './contract';

const CPU_PERCENT = 80;
const POLICY_SECONDS = 15;

/** Each version says the same in its own form: on average 80 % of the requested processors. */
export const AUTOSCALING: DefaultsTable = {
  'autoscaling/v1.HorizontalPodAutoscaler': { derive: ofVersion1 },
  'autoscaling/v1.HorizontalPodAutoscalerSpec': { values: { minReplicas: 1 } },
  'autoscaling/v2beta1.HorizontalPodAutoscalerSpec': withMetric({
    type: 'Resource',
    resource: { name: 'cpu', targetAverageUtilization: CPU_PERCENT },
  }),
  'autoscaling/v2beta2.HorizontalPodAutoscalerSpec': withMetric({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_PERCENT } },
  }),
  'autoscaling/v2beta2.HorizontalPodAutoscalerBehavior': { derive: ofBehavior },
};

/** Metrics in the annotation count as metrics. */
function ofVersion1(object: Json): Json | undefined {
  const spec = objectAt(object, 'spec') ?? {};
  const annotations = objectAt(objectAt(object, 'metadata') ?? {}, 'annotations') ?? {};
  if (has(spec, 'targetCPUUtilizationPercentage') || has(annotations, ANNOTATION.autoscalerMetrics)) {
    return undefined;
  }
  return { spec: { ...spec, targetCPUUtilizationPercentage: CPU_PERCENT } };
}

function withMetric(metric: Json): MessageDefaults {
  return {
    values: { minReplicas: 1 },
    derive: (spec) => (objectsAt(spec, 'metrics').length === 0 ? { metrics: [metric] } : undefined),
  };
}

/** Up: fast, by the policy that allows more. Down: to what is recommended, as soon as it is stable. */
const SCALE_UP: Json = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: POLICY_SECONDS },
    { type: 'Percent', value: 100, periodSeconds: POLICY_SECONDS },
  ],
};
const SCALE_DOWN: Json = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: POLICY_SECONDS }],
};

function ofBehavior(behavior: Json): Json {
  return {
    scaleUp: withRules(SCALE_UP, objectAt(behavior, 'scaleUp')),
    scaleDown: withRules(SCALE_DOWN, objectAt(behavior, 'scaleDown')),
  };
}

function withRules(rules: Json, given: Json | undefined): Json {
  return { ...rules, ...compact(Object.fromEntries(Object.entries(given ?? {}).map(withoutNull))) };
}

function withoutNull([name, value]: readonly [string, unknown]): readonly [string, unknown] {
  return [name, value ?? undefined];
}
