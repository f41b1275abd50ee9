import { isInForce } from '../../../../shared/api/changes';
import type {
  HorizontalPodAutoscaler,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../../shared/api/types/autoscaling-v2';
import { AGE, NAME } from '../columns/common';
import { NONE, UNKNOWN, UNSET } from '../columns/format';
import { tableOf } from '../columns/table';

const METRICS_SHOWN_MAX = 2;

/** The columns of autoscalers. */
export const horizontalPodAutoscalerTable = tableOf<HorizontalPodAutoscaler>([
  NAME,
  {
    name: 'Reference',
    cell: ({ spec: { scaleTargetRef } }) => `${scaleTargetRef.kind}/${scaleTargetRef.name}`,
  },
  { name: 'Targets', cell: metricsText },
  {
    name: 'MinPods',
    cell: ({ spec }) => (spec.minReplicas === undefined ? UNSET : String(spec.minReplicas)),
  },
  { name: 'MaxPods', cell: ({ spec }) => spec.maxReplicas },
  { name: 'Replicas', cell: ({ status }) => status?.currentReplicas ?? 0 },
  AGE,
]);

/** Current value and target of each metric. A current value has the same index in its own list. */
function metricsText({ spec: { metrics = [] }, status }: HorizontalPodAutoscaler): string {
  if (metrics.length === 0) return NONE;
  const texts = metrics.map((metric, index) => metricText(metric, status?.currentMetrics?.[index]));
  const shown = texts.slice(0, METRICS_SHOWN_MAX).join(', ');
  const more = texts.length - METRICS_SHOWN_MAX;
  return more > 0 ? `${shown} + ${String(more)} more...` : shown;
}

/** The field of a metric's type, in spec and status. */
const SOURCE_OF_TYPE = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
} as const;

function isKnownType(type: string): type is keyof typeof SOURCE_OF_TYPE {
  return Object.hasOwn(SOURCE_OF_TYPE, type);
}

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  if (!isKnownType(spec.type)) return '<unknown type>';
  const source = SOURCE_OF_TYPE[spec.type];
  const target = spec[source]?.target;
  const current = status?.[source]?.current;
  const hasAverage = target?.averageValue !== undefined;
  if (source === 'pods') return `${valueOf(current, 'averageValue')}/${valueOf(target, 'averageValue')}`;
  if (source === 'resource' || source === 'containerResource') {
    const name = isInForce('metricNamesColumn') ? `${spec[source]?.name ?? ''}: ` : '';
    return hasAverage
      ? `${name}${valueOf(current, 'averageValue')}/${valueOf(target, 'averageValue')}`
      : `${name}${percent(UNKNOWN, current)}/${percent('<auto>', target)}`;
  }
  if (!hasAverage) return `${valueOf(current, 'value')}/${valueOf(target, 'value')}`;
  // An average that is not there yet is unknown, which a missing value is only where the whole metric is missing.
  return `${current?.averageValue ?? UNKNOWN}/${valueOf(target, 'averageValue')} (avg)`;
}

type Metric = MetricTarget | MetricValueStatus | undefined;

/** A quantity; `<nil>` is what a Go client prints of one that is missing in a metric that is there. */
function valueOf(metric: Metric, name: 'averageValue' | 'value'): string {
  return metric === undefined ? UNKNOWN : (metric[name] ?? '<nil>');
}

function percent(absent: string, metric: Metric): string {
  const value = metric?.averageUtilization;
  return value === undefined ? absent : `${String(value)}%`;
}
