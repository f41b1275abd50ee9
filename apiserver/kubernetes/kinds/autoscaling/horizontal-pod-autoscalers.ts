import { isInForce } from '../../../../shared/api/changes';
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '../../../../shared/api/types/autoscaling-v2';
import { withoutCarriers } from '../../../../shared/conversion/autoscaling-annotations';
import { HORIZONTAL_POD_AUTOSCALER_V1 } from '../../../../shared/conversion/autoscaling-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../../shared/errors/field-error';
import { dns1123LabelProblems, pathSegmentProblems } from '../../../../shared/meta/dns-names';
import { compareQuantity, ZERO_QUANTITY } from '../../../../shared/meta/quantity';
import { goQuantity } from '../../../../shared/meta/quantity-in-go';
import { ANNOTATION } from '../../../../shared/names';
import type { Quantity } from '../../../../shared/object/values';
import { ownKeyMap } from '../../../../shared/own-key-map';
import type { KindSettings, Strategy } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import type { Kind } from '../kind';
import { nonNegativeQuantity, quantityOf } from '../pod-template/resource-requirements';
import { choice, forEachItem, invalidForEach, nonNegative, positive } from '../rules/primitives';
import { kindAndName, scaledGroup } from '../rules/references';
import { horizontalPodAutoscalerTable } from './autoscaler-table';

/** Paths are those of autoscaling/v2beta2, the stored version. */
const autoscalerRules: Pick<
  Strategy<HorizontalPodAutoscaler>,
  'validateNew' | 'validateUpdate' | 'subresources'
> = {
  validateNew: ({ spec }, { settings }) => validateSpec(spec, settings),
  validateUpdate: ({ spec }, previous, { settings }) => validateSpec(spec, settings, previous.spec),
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: ({ status }) => [
        ...nonNegative(status?.currentReplicas, 'status.currentReplicas'),
        ...nonNegative(status?.desiredReplicas, 'status.desiredReplicas'),
      ],
    },
  },
};

/** None may run where their feature is on, or none might before. */
function validateSpec(
  spec: HorizontalPodAutoscalerSpec,
  settings: KindSettings,
  previous?: HorizontalPodAutoscalerSpec,
): FieldError[] {
  const { minReplicas: min, maxReplicas: max, metrics = [], behavior = {} } = spec;
  const lowest = isOn(settings, 'HPAScaleToZero') || previous?.minReplicas === 0 ? 0 : 1;
  return [
    ...(min === undefined || min >= lowest
      ? []
      : [invalid('spec.minReplicas', min, `must be greater than or equal to ${String(lowest)}`)]),
    ...(max === 0 && isInForce('scaledMaximum')
      ? [required('spec.maxReplicas', 'must be set and greater than 0')]
      : positive(max, 'spec.maxReplicas')),
    ...(min !== undefined && max < min
      ? [invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`')]
      : []),
    ...kindAndName(spec.scaleTargetRef, 'spec.scaleTargetRef'),
    ...scaledGroup(spec.scaleTargetRef, previous?.scaleTargetRef),
    ...forEachItem(metrics, 'spec.metrics', (metric, path) => validateMetric(metric, path, settings)),
    ...(min === 0 && !metrics.some(({ type }) => AWAKENING.includes(type))
      ? [
          forbiddenField(
            'spec.metrics',
            'must specify at least one Object or External metric to support scaling to zero replicas',
          ),
        ]
      : []),
    ...validateScaling(behavior.scaleUp, 'spec.behavior.scaleUp'),
    ...validateScaling(behavior.scaleDown, 'spec.behavior.scaleDown'),
  ];
}

/** Metrics that tell of work while no pod runs. */
const AWAKENING: readonly string[] = ['Object', 'External'];

type SourceField = 'object' | 'pods' | 'resource' | 'containerResource' | 'external';

/** The field of a metric that says where it comes from, and what is wrong with it where it is given. */
interface Source {
  readonly field: SourceField;
  readonly rule: (metric: MetricSpec, path: string) => readonly FieldError[];
}

function metricSource<Field extends SourceField>(
  field: Field,
  rule: (given: NonNullable<MetricSpec[Field]>, path: string) => readonly FieldError[],
): Source {
  return {
    field,
    rule: ({ [field]: given }, path) => (given === undefined ? [] : rule(given, `${path}.${field}`)),
  };
}

/** Where a metric may come from, by its type. */
const SOURCES = ownKeyMap<Source>({
  Object: metricSource('object', (given, path) => [
    ...kindAndName(given.describedObject, `${path}.describedObject`),
    ...metricAndTarget(given, path),
    ...someTarget(given.target, path, 'must set either a target value or averageValue'),
  ]),
  External: metricSource('external', (given, path) => [
    ...metricAndTarget(given, path),
    ...someTarget(given.target, path, 'must set either a target value for metric or a per-pod target'),
    ...(given.target.value !== undefined && given.target.averageValue !== undefined
      ? [
          forbiddenField(
            `${path}.target.value`,
            'may not set both a target value for metric and a per-pod target',
          ),
        ]
      : []),
  ]),
  Pods: metricSource('pods', (given, path) => [
    ...metricAndTarget(given, path),
    ...averageTarget(given.target, path),
  ]),
  Resource: metricSource('resource', validateResource),
  ContainerResource: metricSource('containerResource', (given, path) => [
    ...(given.name === '' ? [required(`${path}.name`, 'must specify a resource name')] : []),
    ...(given.container === ''
      ? [required(`${path}.container`, 'must specify a container')]
      : invalidForEach(dns1123LabelProblems(given.container), given.container, `${path}.container`)),
    ...resourceTarget(given.target, path),
  ]),
});

const SOURCE_TYPES = [...SOURCES.keys()].sort();

function validateMetric(metric: MetricSpec, path: string, settings: KindSettings): FieldError[] {
  const { type } = metric;
  const expected = SOURCES.get(type)?.field;
  const sources = [...SOURCES.values()].filter(({ field }) => metric[field] !== undefined);
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric source type')] : []),
    ...choice(type, `${path}.type`, SOURCE_TYPES),
    ...(sources[0]?.rule(metric, path) ?? []),
    ...(expected !== undefined && !sources.some(({ field }) => field === expected)
      ? [required(`${path}.${expected}`, unpopulated(expected, settings))]
      : []),
    ...(sources.length === 1 ? [] : sources)
      .filter(({ field }) => field !== expected)
      .map(({ field }) => forbiddenField(`${path}.${field}`, 'must populate the given metric source only')),
  ];
}

const UNPOPULATED = 'must populate information for the given metric source';

/** Metrics of single containers belong to a feature that is off by default. */
function unpopulated(field: SourceField, settings: KindSettings): string {
  return field === 'containerResource' && !isOn(settings, 'HPAContainerMetrics')
    ? `${UNPOPULATED} (only allowed when HPAContainerMetrics feature is enabled)`
    : UNPOPULATED;
}

function metricAndTarget(
  { metric, target }: { readonly metric: MetricIdentifier; readonly target: MetricTarget },
  path: string,
): FieldError[] {
  return [
    ...(metric.name === ''
      ? [required(`${path}.metric.name`, 'must specify a metric name')]
      : invalidForEach(pathSegmentProblems(metric.name), metric.name, `${path}.metric.name`)),
    ...validateTarget(target, `${path}.target`),
  ];
}

const AMOUNTS = ['value', 'averageValue'] as const;

function validateTarget(target: MetricTarget, path: string): FieldError[] {
  const { type, averageUtilization: utilization } = target;
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric target type')] : []),
    ...(['Utilization', 'Value', 'AverageValue'].includes(type)
      ? []
      : [invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue')]),
    ...AMOUNTS.filter((field) => target[field] !== undefined && !isPositive(target[field])).map((field) =>
      invalid(`${path}.${field}`, goQuantity(target[field]), 'must be positive'),
    ),
    ...(utilization === undefined ? [] : positive(utilization, `${path}.averageUtilization`)),
  ];
}

function validateResource(
  { name, target }: { readonly name: string; readonly target: MetricTarget },
  path: string,
): FieldError[] {
  return [
    ...(name === '' ? [required(`${path}.name`, 'must specify a resource name')] : []),
    ...resourceTarget(target, path),
  ];
}

function resourceTarget(target: MetricTarget, path: string): FieldError[] {
  const isBoth = target.averageUtilization !== undefined && target.averageValue !== undefined;
  return [
    ...validateTarget(target, `${path}.target`),
    ...(target.averageUtilization === undefined && target.averageValue === undefined
      ? [
          required(
            `${path}.target.averageUtilization`,
            'must set either a target raw value or a target utilization',
          ),
        ]
      : []),
    ...(isBoth
      ? [
          forbiddenField(
            `${path}.target.averageValue`,
            'may not set both a target raw value and a target utilization',
          ),
        ]
      : []),
  ];
}

function someTarget({ value, averageValue }: MetricTarget, path: string, why: string): FieldError[] {
  return value === undefined && averageValue === undefined
    ? [required(`${path}.target.averageValue`, why)]
    : [];
}

function averageTarget({ averageValue }: MetricTarget, path: string): FieldError[] {
  return averageValue !== undefined
    ? []
    : [required(`${path}.target.averageValue`, 'must specify a positive target averageValue')];
}

function isPositive(amount: Quantity | undefined): boolean {
  return compareQuantity(quantityOf(amount), ZERO_QUANTITY) > 0;
}

const STABILIZATION_SECONDS_MAX = 3600;
const PERIOD_SECONDS_MAX = 1800;
const SELECTIONS = ['Disabled', 'Max', 'Min'];

function validateScaling(rules: HPAScalingRules | undefined, path: string): FieldError[] {
  if (rules === undefined) return [];
  const { stabilizationWindowSeconds: window, selectPolicy: select, policies = [] } = rules;
  return [
    ...(window === undefined ? [] : stabilization(window, `${path}.stabilizationWindowSeconds`)),
    ...(select === undefined ? [] : choice(select, `${path}.selectPolicy`, SELECTIONS)),
    ...(policies.length === 0 ? [required(`${path}.policies`, 'must specify at least one Policy')] : []),
    ...forEachItem(policies, `${path}.policies`, (policy, at) => [
      ...choice(policy.type, `${at}.type`, ['Percent', 'Pods']),
      ...aboveZero(policy.value, `${at}.value`),
      ...aboveZero(policy.periodSeconds, `${at}.periodSeconds`),
      ...atMost(policy.periodSeconds, PERIOD_SECONDS_MAX, `${at}.periodSeconds`),
    ]),
    ...(rules.tolerance === undefined ? [] : nonNegativeQuantity(rules.tolerance, `${path}.tolerance`)),
  ];
}

function stabilization(seconds: number, path: string): FieldError[] {
  if (seconds < 0) return [invalid(path, seconds, 'must be greater than or equal to zero')];
  return atMost(seconds, STABILIZATION_SECONDS_MAX, path);
}

function aboveZero(value: number, path: string): FieldError[] {
  return value > 0 ? [] : [invalid(path, value, 'must be greater than zero')];
}

function atMost(value: number, max: number, path: string): FieldError[] {
  return value <= max ? [] : [invalid(path, value, `must be less than or equal to ${String(max)}`)];
}

const horizontalPodAutoscalerStrategy: Strategy<HorizontalPodAutoscaler> = {
  compat: { metadataChecks: 'old names' },
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

export const horizontalPodAutoscalers: Kind<HorizontalPodAutoscaler> = {
  strategy: horizontalPodAutoscalerStrategy,
  table: horizontalPodAutoscalerTable,
  fieldAnnotations: [
    ANNOTATION.autoscalerMetrics,
    ANNOTATION.autoscalerBehavior,
    ANNOTATION.autoscalerCurrentMetrics,
    ANNOTATION.autoscalerConditions,
  ],
};
