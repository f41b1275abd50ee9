import type { ApiObject } from '../../../shared/object/object';
import type { RowOf } from '../columns/cells';
import { NONE, UNKNOWN, UNSET } from '../columns/format';
import { ageOf, at, listAt, nameOf, numberAt, scalarOr, textAt } from '../columns/read';

const METRICS_SHOWN_MAX = 2;

export const horizontalPodAutoscalerRow: RowOf = (autoscaler) => [
  nameOf(autoscaler),
  `${textAt(autoscaler, 'spec', 'scaleTargetRef', 'kind')}/${textAt(autoscaler, 'spec', 'scaleTargetRef', 'name')}`,
  metricsText(autoscaler),
  scalarOr(UNSET, autoscaler, 'spec', 'minReplicas'),
  numberAt(autoscaler, 'spec', 'maxReplicas'),
  numberAt(autoscaler, 'status', 'currentReplicas'),
  ageOf(autoscaler),
];

/** Current value and target of each metric. The current ones stand at the same place of their own list. */
function metricsText(autoscaler: ApiObject): string {
  const specs = listAt(autoscaler, 'spec', 'metrics');
  if (specs.length === 0) return NONE;
  const statuses = listAt(autoscaler, 'status', 'currentMetrics');
  const texts = specs.map((spec, index) => metricText(spec, statuses[index]));
  const shown = texts.slice(0, METRICS_SHOWN_MAX).join(', ');
  const more = texts.length - METRICS_SHOWN_MAX;
  return more > 0 ? `${shown} + ${String(more)} more...` : shown;
}

/** The field of a metric's type, in spec and status. */
const SOURCE_OF_TYPE: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};

function metricText(spec: unknown, status: unknown): string {
  const source = SOURCE_OF_TYPE[textAt(spec, 'type')];
  if (source === undefined) return '<unknown type>';
  const target = at(spec, source, 'target');
  const current = at(status, source, 'current');
  const hasAverage = at(target, 'averageValue') !== undefined;
  if (source === 'pods') return `${valueOf(current, 'averageValue')}/${valueOf(target, 'averageValue')}`;
  if (source === 'resource' || source === 'containerResource') {
    return hasAverage
      ? `${valueOf(current, 'averageValue')}/${valueOf(target, 'averageValue')}`
      : `${percent(UNKNOWN, current)}/${percent('<auto>', target)}`;
  }
  if (!hasAverage) return `${valueOf(current, 'value')}/${valueOf(target, 'value')}`;
  // An average that is not there yet is unknown, which a missing value is only where the whole metric is missing.
  return `${scalarOr(UNKNOWN, current, 'averageValue')}/${valueOf(target, 'averageValue')} (avg)`;
}

/** A quantity; `<nil>` is what a Go client prints of one that is missing in a metric that is there. */
function valueOf(metric: unknown, name: string): string {
  return metric === undefined ? UNKNOWN : scalarOr('<nil>', metric, name);
}

function percent(absent: string, metric: unknown): string {
  const value = scalarOr('', metric, 'averageUtilization');
  return value === '' ? absent : `${value}%`;
}
