import { isInForce } from '../../../../shared/api/changes';
import type {
  TopologySelectorLabelRequirement,
  TopologySelectorTerm,
} from '../../../../shared/api/types/core-v1';
import type { StorageClass } from '../../../../shared/api/types/storage-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required, tooLong } from '../../../../shared/errors/field-error';
import { qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { ANNOTATION } from '../../../../shared/names';
import { deepEqual } from '../../../../shared/object/clone';
import { getEmptiedFields } from '../../../../shared/schema/emptied';
import type { Strategy } from '../../../engine/registry/strategy';
import { AGE, NAME } from '../columns/common';
import { tableOf } from '../columns/table';
import type { Kind } from '../kind';
import { choice, forEachItem, immutable, invalidForEach, repeatsIn, requiredText } from '../rules/primitives';

const PARAMETERS_MAX = 512;
const PARAMETERS_BYTES_MAX = 256 * 1024;
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const RECLAIM_POLICIES = ['Delete', 'Retain'];
const FIXED = ['parameters', 'provisioner', 'reclaimPolicy'] as const;

export const storageClassRules: Pick<Strategy<StorageClass>, 'validate' | 'validateUpdate'> = {
  validate: (object) => {
    const { provisioner, parameters = {}, reclaimPolicy: policy = '', volumeBindingMode: mode } = object;
    return [
      ...requiredText(provisioner, 'provisioner', (name) => qualifiedNameProblems(name.toLowerCase())),
      ...validateParameters(parameters),
      ...(policy === '' ? [] : choice(policy, 'reclaimPolicy', RECLAIM_POLICIES)),
      ...(mode === undefined
        ? [required('volumeBindingMode')]
        : choice(mode, 'volumeBindingMode', BINDING_MODES)),
      ...validateTopologies(object.allowedTopologies ?? []),
    ];
  },
  validateUpdate: (next, previous) => [
    ...FIXED.filter(
      (field) =>
        !deepEqual(next[field] ?? null, previous[field] ?? null) || getEmptiedFields(next, field).has(field),
    ).map((field) =>
      isInForce('immutableStorageClasses')
        ? invalid(field, next[field], 'field is immutable')
        : forbiddenField(field, `updates to ${field} are forbidden.`),
    ),
    ...immutable(next.volumeBindingMode, previous.volumeBindingMode, 'volumeBindingMode'),
  ],
};

/**
 * Validates the parameters of a class of volumes: their number, size and keys. With `some` there must be at least one.
 */
export function validateParameters(
  parameters: Readonly<Record<string, string>>,
  atLeast: 'none' | 'some' = 'none',
): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > PARAMETERS_MAX) return [tooLong('parameters', '', PARAMETERS_MAX)];
  const bytes = entries.reduce((sum, each) => sum + Buffer.byteLength(each.join('')), 0);
  return [
    ...(Object.hasOwn(parameters, '') ? [invalid('parameters', '', 'field can not be empty.')] : []),
    ...(bytes > PARAMETERS_BYTES_MAX ? [tooLong('parameters', '', PARAMETERS_BYTES_MAX)] : []),
    ...(atLeast === 'some' && entries.length === 0
      ? [required('parameters', 'must contain at least one key/value pair')]
      : []),
  ];
}

function validateTopologies(terms: readonly TopologySelectorTerm[]): FieldError[] {
  const earlier = new Set<string>();
  return forEachItem(terms, 'allowedTopologies', (term, path) => {
    const at = `${path}.matchLabelExpressions`;
    const { matchLabelExpressions: expressions = [] } = term;
    const isSecond = repeatsIn(expressions.map(({ key }) => key));
    const demands = demandsOf(term);
    // As upstream, a term without expressions is always a duplicate.
    const isRepeated = earlier.has(demands) || expressions.length === 0;
    earlier.add(demands);
    return [
      ...forEachItem(expressions, at, (expression, each, position) => [
        ...validateExpression(expression, each),
        ...(isSecond(position) ? [duplicate(`${each}.key`, expression.key)] : []),
      ]),
      ...(isRepeated ? [duplicate(at, '')] : []),
    ];
  });
}

/** The values of each key, as text in which what is equal looks alike. */
function demandsOf({ matchLabelExpressions: expressions = [] }: TopologySelectorTerm): string {
  const demands = new Map(expressions.map(({ key, values }) => [key, [...new Set(values)].sort()]));
  return JSON.stringify([...demands].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function validateExpression(expression: TopologySelectorLabelRequirement, path: string): FieldError[] {
  const { key } = expression;
  const values = expression.values ?? [];
  const isRepeated = repeatsIn(values);
  return [
    ...(values.length === 0 ? [required(`${path}.values`)] : []),
    ...forEachItem(values, `${path}.values`, (value, at, index) =>
      isRepeated(index) ? [duplicate(at, value)] : [],
    ),
    ...invalidForEach(qualifiedNameProblems(key), key, `${path}.key`),
  ];
}

const storageClassTable = tableOf<StorageClass>([
  {
    ...NAME,
    cell: ({ metadata }) => `${metadata.name ?? ''}${isDefault(metadata.annotations) ? ' (default)' : ''}`,
  },
  { name: 'Provisioner', cell: ({ provisioner }) => provisioner },
  { name: 'ReclaimPolicy', cell: ({ reclaimPolicy = 'Delete' }) => reclaimPolicy },
  { name: 'VolumeBindingMode', cell: ({ volumeBindingMode = 'Immediate' }) => volumeBindingMode },
  { name: 'AllowVolumeExpansion', cell: ({ allowVolumeExpansion = false }) => allowVolumeExpansion },
  AGE,
]);

function isDefault(annotations: Readonly<Record<string, string>> = {}): boolean {
  return [ANNOTATION.isDefaultStorageClass, ANNOTATION.betaIsDefaultStorageClass].some(
    (key) => annotations[key] === 'true',
  );
}

export const storageClasses: Kind<StorageClass> = {
  strategy: { compat: { returnsDeletedObject: true }, ...storageClassRules },
  table: storageClassTable,
};
