import type { ApiObject } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required, tooLong } from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import { qualifiedNameProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalText, records, stringMap, strings, text } from '../../../shared/object/accessors';
import {
  choice,
  forEachItem,
  immutable,
  invalidForEach,
  noDuplicates,
  repeatsIn,
  requiredText,
} from '../rules/primitives';

const PARAMETERS_MAX = 512;
const PARAMETERS_BYTES_MAX = 256 * 1024;
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const RECLAIM_POLICIES = ['Delete', 'Retain'];
const FIXED = ['parameters', 'provisioner', 'reclaimPolicy'] as const;

export const storageClassRules: Pick<Strategy, 'validate' | 'validateUpdate'> = {
  validate: (object) => {
    const policy = text(object['reclaimPolicy']);
    const mode = optionalText(object['volumeBindingMode']);
    return [
      ...requiredText(object['provisioner'], 'provisioner', (name) =>
        qualifiedNameProblems(name.toLowerCase()),
      ),
      ...validateParameters(stringMap(object['parameters'])),
      ...(policy === '' ? [] : choice(policy, 'reclaimPolicy', RECLAIM_POLICIES)),
      ...(mode === undefined
        ? [required('volumeBindingMode')]
        : choice(mode, 'volumeBindingMode', BINDING_MODES)),
      ...validateTopologies(object),
    ];
  },
  validateUpdate: (next, previous) => [
    ...FIXED.filter((field) => !deepEqual(next[field] ?? null, previous[field] ?? null)).map((field) =>
      forbiddenField(field, `updates to ${field} are forbidden.`),
    ),
    ...immutable(next['volumeBindingMode'], previous['volumeBindingMode'], 'volumeBindingMode'),
  ],
};

function validateParameters(parameters: Readonly<Record<string, string>>): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > PARAMETERS_MAX) return [tooLong('parameters', '', PARAMETERS_MAX)];
  const bytes = entries.reduce((sum, each) => sum + Buffer.byteLength(each.join('')), 0);
  return [
    ...(Object.hasOwn(parameters, '') ? [invalid('parameters', '', 'field can not be empty.')] : []),
    ...(bytes > PARAMETERS_BYTES_MAX ? [tooLong('parameters', '', PARAMETERS_BYTES_MAX)] : []),
  ];
}

function validateTopologies(object: ApiObject): FieldError[] {
  const terms = records(object['allowedTopologies']);
  const isRepeated = repeatsIn(terms.map((term) => JSON.stringify(term)));
  return forEachItem(terms, 'allowedTopologies', (term, path, index) => {
    const at = `${path}.matchLabelExpressions`;
    const expressions = records(term['matchLabelExpressions']);
    return [
      ...noDuplicates(
        expressions.map((each) => text(each['key'])),
        (position) => `${at}[${String(position)}].key`,
      ),
      ...forEachItem(expressions, at, validateExpression),
      ...(isRepeated(index) ? [duplicate(at, '')] : []),
    ];
  });
}

function validateExpression(expression: Json, path: string): FieldError[] {
  const key = text(expression['key']);
  const values = strings(expression['values']);
  return [
    ...(values.length === 0 ? [required(`${path}.values`)] : []),
    ...noDuplicates(values, (index) => `${path}.values[${String(index)}]`),
    ...invalidForEach(qualifiedNameProblems(key), key, `${path}.key`),
  ];
}
