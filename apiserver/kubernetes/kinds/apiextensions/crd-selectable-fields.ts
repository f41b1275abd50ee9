import type { CustomResourceDefinitionVersion } from '../../../../shared/api/types/apiextensions-v1';
import { readFieldPath } from '../../../../shared/cel/schema/field-path';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required, tooMany } from '../../../../shared/errors/field-error';
import { schemaOf } from './crd-demands';

/** The most selectable fields of a version, as in upstream's validation of definitions. */
const SELECTABLE_FIELDS_MAX = 8;

const SELECTABLE_TYPES: readonly string[] = ['string', 'boolean', 'integer'];
const WRONG_TYPE =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
/** The message text of upstream, which means the opposite. */
const WITHOUT_SCHEMA = 'may only be set when `version.schema.openAPIV3Schema` is not included';

/**
 * Validates the selectable fields of a version: each is the path of a field of the schema that has a simple type, and is outside of
 * `metadata` (k8s.io/apiextensions-apiserver `ValidateCustomResourceSelectableFields`). Items of lists cannot be selected by.
 */
export function validateSelectableFields(
  version: CustomResourceDefinitionVersion,
  path: string,
): FieldError[] {
  const { selectableFields = [] } = version;
  const schema = schemaOf(version);
  if (schema === undefined) return selectableFields.length === 0 ? [] : [invalid(path, '', WITHOUT_SCHEMA)];
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, { jsonPath }] of selectableFields.entries()) {
    const at = `${path}[${String(index)}].jsonPath`;
    if (jsonPath === '') {
      errors.push(required(at));
      continue;
    }
    const [members = '', ...brackets] = jsonPath.split('[');
    const field = readFieldPath(members, schema);
    if (field === undefined || brackets.length > 0) {
      const why = field === undefined ? 'does not refer to a valid field' : 'array notation is not allowed';
      errors.push(invalid(at, jsonPath, `is an invalid path: ${why}`));
      continue;
    }
    if (/^\.metadata(?:\.|$)/u.test(jsonPath)) {
      errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!SELECTABLE_TYPES.includes(field.schema.type ?? '')) errors.push(invalid(at, jsonPath, WRONG_TYPE));
    if (seen.has(jsonPath)) errors.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
  }
  return seen.size > SELECTABLE_FIELDS_MAX
    ? [...errors, tooMany(path, seen.size, SELECTABLE_FIELDS_MAX)]
    : errors;
}
