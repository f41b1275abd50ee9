import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalid, required } from '../../../shared/errors/field-error';
import { pathSegmentProblems } from '../../../shared/meta/dns-names';
import { compareQuantity, ZERO_QUANTITY } from '../../../shared/meta/quantity';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import {
  integer,
  optionalRecord,
  optionalText,
  record,
  records,
  text,
} from '../../../shared/object/accessors';
import { choice, forEachItem, nonNegative, positive, requiredText } from '../rules/primitives';
import { kindAndName } from '../rules/references';
import { quantityOf } from '../pod-template/resource-requirements';

/** Paths are those of autoscaling/v2beta2, the stored version. */
export const autoscalerRules: Pick<Strategy, 'validate' | 'subresources'> = {
  validate: (object) => {
    const spec = record(object['spec']);
    const min = integer(spec['minReplicas']);
    const max = integer(spec['maxReplicas']) ?? 0;
    return [
      ...(min === undefined ? [] : positive(min, 'spec.minReplicas')),
      ...positive(max, 'spec.maxReplicas'),
      ...(min !== undefined && max < min
        ? [invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`')]
        : []),
      ...kindAndName(spec['scaleTargetRef'], 'spec.scaleTargetRef'),
      ...forEachItem(records(spec['metrics']), 'spec.metrics', validateMetric),
      ...['scaleUp', 'scaleDown'].flatMap((direction) =>
        validateScaling(record(spec['behavior'])[direction], `spec.behavior.${direction}`),
      ),
    ];
  },
  subresources: {
    status: {
      ...statusSubresource,
      validateUpdate: (next) =>
        ['currentReplicas', 'desiredReplicas'].flatMap((field) =>
          nonNegative(record(next['status'])[field], `status.${field}`),
        ),
    },
  },
};

type SourceRule = (source: Json, path: string) => FieldError[];

/** Where a metric may come from: the field that says more, by the type. */
const SOURCES: Readonly<Record<string, { readonly field: string; readonly rule: SourceRule }>> = {
  Object: {
    field: 'object',
    rule: (source, path) => [
      ...kindAndName(source['describedObject'], `${path}.describedObject`),
      ...metricAndTarget(source, path),
      ...someTarget(source, path),
    ],
  },
  External: {
    field: 'external',
    rule: (source, path) => [
      ...metricAndTarget(source, path),
      ...someTarget(source, path),
      ...notBoth(source, path, { field: 'value', other: 'averageValue' }),
    ],
  },
  Pods: {
    field: 'pods',
    rule: (source, path) => [...metricAndTarget(source, path), ...averageTarget(source, path)],
  },
  Resource: { field: 'resource', rule: validateResource },
  ContainerResource: {
    field: 'containerResource',
    rule: (source, path) => [
      ...requiredText(source['container'], `${path}.container`),
      ...validateResource(source, path),
    ],
  },
};

const SOURCE_TYPES = Object.keys(SOURCES).sort();

function validateMetric(metric: Json, path: string): FieldError[] {
  const type = text(metric['type']);
  const expected = Object.hasOwn(SOURCES, type) ? (SOURCES[type]?.field ?? '') : '';
  const sources = Object.values(SOURCES).filter(({ field }) => optionalRecord(metric[field]) !== undefined);
  const [first] = sources;
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric source type')] : []),
    ...choice(type, `${path}.type`, SOURCE_TYPES),
    ...(first === undefined ? [] : first.rule(record(metric[first.field]), `${path}.${first.field}`)),
    ...(expected !== '' && !sources.some(({ field }) => field === expected)
      ? [required(`${path}.${expected}`, 'must populate information for the given metric source')]
      : []),
    ...(sources.length === 1 ? [] : sources)
      .filter(({ field }) => field !== expected)
      .map(({ field }) => forbiddenField(`${path}.${field}`, 'must populate the given metric source only')),
  ];
}

function metricAndTarget(source: Json, path: string): FieldError[] {
  return [
    ...requiredText(record(source['metric'])['name'], `${path}.metric.name`, pathSegmentProblems),
    ...validateTarget(record(source['target']), `${path}.target`),
  ];
}

function validateTarget(target: Json, path: string): FieldError[] {
  const type = text(target['type']);
  const utilization = integer(target['averageUtilization']);
  return [
    ...(type === '' ? [required(`${path}.type`, 'must specify a metric target type')] : []),
    ...(['Utilization', 'Value', 'AverageValue'].includes(type)
      ? []
      : [invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue')]),
    ...['value', 'averageValue']
      .filter((field) => isGiven(target, field) && !isPositive(target[field]))
      .map((field) => invalid(`${path}.${field}`, target[field], 'must be positive')),
    ...(utilization === undefined ? [] : positive(utilization, `${path}.averageUtilization`)),
  ];
}

function validateResource(source: Json, path: string): FieldError[] {
  const target = record(source['target']);
  return [
    ...requiredText(source['name'], `${path}.name`),
    ...validateTarget(target, `${path}.target`),
    ...(isGiven(target, 'averageUtilization') || isGiven(target, 'averageValue')
      ? []
      : [
          required(
            `${path}.target.averageUtilization`,
            'must set either a target raw value or a target utilization',
          ),
        ]),
    ...notBoth(source, path, { field: 'averageValue', other: 'averageUtilization' }),
  ];
}

function someTarget(source: Json, path: string): FieldError[] {
  const target = record(source['target']);
  return isGiven(target, 'value') || isGiven(target, 'averageValue')
    ? []
    : [required(`${path}.target.averageValue`, 'must set either a target value or a per-pod target')];
}

function averageTarget(source: Json, path: string): FieldError[] {
  return isPositive(record(source['target'])['averageValue'])
    ? []
    : [required(`${path}.target.averageValue`, 'must specify a positive target averageValue')];
}

function notBoth(
  source: Json,
  path: string,
  { field, other }: { readonly field: string; readonly other: string },
): FieldError[] {
  const target = record(source['target']);
  return isGiven(target, field) && isGiven(target, other)
    ? [forbiddenField(`${path}.target.${field}`, `may not set both ${field} and ${other}`)]
    : [];
}

function isGiven(target: Json, field: string): boolean {
  return target[field] !== undefined && target[field] !== null;
}

function isPositive(value: unknown): boolean {
  return compareQuantity(quantityOf(value), ZERO_QUANTITY) > 0;
}

const STABILIZATION_SECONDS_MAX = 3600;
const PERIOD_SECONDS_MAX = 1800;
const SELECTIONS = ['Disabled', 'Max', 'Min'];

function validateScaling(value: unknown, path: string): FieldError[] {
  const rules = optionalRecord(value);
  if (rules === undefined) return [];
  const window = integer(rules['stabilizationWindowSeconds']);
  const select = optionalText(rules['selectPolicy']);
  const policies = records(rules['policies']);
  return [
    ...(window === undefined
      ? []
      : atMost(window, STABILIZATION_SECONDS_MAX, `${path}.stabilizationWindowSeconds`)),
    ...nonNegative(window, `${path}.stabilizationWindowSeconds`),
    ...(select === undefined ? [] : choice(select, `${path}.selectPolicy`, SELECTIONS)),
    ...(policies.length === 0 ? [required(`${path}.policies`, 'must specify at least one Policy')] : []),
    ...forEachItem(policies, `${path}.policies`, (policy, at) => [
      ...choice(policy['type'], `${at}.type`, ['Percent', 'Pods']),
      ...positive(policy['value'], `${at}.value`),
      ...positive(policy['periodSeconds'], `${at}.periodSeconds`),
      ...atMost(integer(policy['periodSeconds']) ?? 0, PERIOD_SECONDS_MAX, `${at}.periodSeconds`),
    ]),
  ];
}

function atMost(value: number, max: number, path: string): FieldError[] {
  return value <= max ? [] : [invalid(path, value, `must be less than or equal to ${String(max)}`)];
}
