import type * as v2beta1 from '../api/types/autoscaling-v2beta1';
import type * as v2beta2 from '../api/types/autoscaling-v2beta2';
import type { DefaultsTable } from './contract';

const CPU_PERCENT = 80;
const POLICY_SECONDS = 15;

/**
 * The default target is 80 % of the requested CPU. For autoscaling/v1 the conversion sets it, since its
 * metrics are in annotations.
 */
export const AUTOSCALING: DefaultsTable = {
  'autoscaling/v1.HorizontalPodAutoscalerSpec': { values: { minReplicas: 1 } },
  'autoscaling/v2beta1.HorizontalPodAutoscalerSpec': withMetric<v2beta1.MetricSpec>({
    type: 'Resource',
    resource: { name: 'cpu', targetAverageUtilization: CPU_PERCENT },
  }),
  'autoscaling/v2beta2.HorizontalPodAutoscalerSpec': withMetric<v2beta2.MetricSpec>({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_PERCENT } },
  }),
  'autoscaling/v2beta2.HorizontalPodAutoscalerBehavior': { derive: ofBehavior },
};

interface MetricsSpec<Metric> {
  readonly minReplicas?: number;
  readonly metrics?: readonly Metric[];
}

function withMetric<Metric>(metric: Metric) {
  return {
    values: { minReplicas: 1 },
    derive: ({ metrics = [] }: MetricsSpec<Metric>) =>
      metrics.length === 0 ? { metrics: [metric] } : undefined,
  };
}

/** Scale up fast, by the policy that allows more. Scale down to the recommendation once it is stable. */
const SCALE_UP: v2beta2.HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: POLICY_SECONDS },
    { type: 'Percent', value: 100, periodSeconds: POLICY_SECONDS },
  ],
};
const SCALE_DOWN: v2beta2.HPAScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: POLICY_SECONDS }],
};

function ofBehavior({
  scaleUp,
  scaleDown,
}: v2beta2.HorizontalPodAutoscalerBehavior): v2beta2.HorizontalPodAutoscalerBehavior {
  return { scaleUp: { ...SCALE_UP, ...scaleUp }, scaleDown: { ...SCALE_DOWN, ...scaleDown } };
}
