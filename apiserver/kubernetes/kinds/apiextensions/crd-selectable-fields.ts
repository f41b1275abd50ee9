import type {
  CustomResourceDefinitionVersion,
  JSONSchemaProps,
} from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { duplicate, invalid, required, tooMany } from '../../../../shared/errors/field-error';
import { schemaOf } from './crd-demands';

/** The most selectable fields of a version, as in upstream's validation of definitions. */
const SELECTABLE_FIELDS_MAX = 8;

const SELECTABLE_TYPES: readonly string[] = ['string', 'boolean', 'integer'];
const WRONG_TYPE =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';

/**
 * Validates the selectable fields of a version: each is the path of a field of the schema that has a simple type, and is outside of
 * `metadata`.
 */
export function validateSelectableFields(
  version: CustomResourceDefinitionVersion,
  path: string,
): FieldError[] {
  const { selectableFields = [] } = version;
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  for (const [index, { jsonPath }] of selectableFields.entries()) {
    const at = `${path}[${String(index)}].jsonPath`;
    if (jsonPath === '') {
      errors.push(required(at));
      continue;
    }
    const members = membersOf(jsonPath);
    const field = members === undefined ? undefined : fieldAt(schemaOf(version), members);
    if (members === undefined || field === undefined) {
      errors.push(invalid(at, jsonPath, 'is an invalid path: does not refer to a valid field'));
      continue;
    }
    if (members[0] === 'metadata') {
      errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!SELECTABLE_TYPES.includes(field.type ?? '')) errors.push(invalid(at, jsonPath, WRONG_TYPE));
    if (seen.has(jsonPath)) errors.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
  }
  return seen.size > SELECTABLE_FIELDS_MAX
    ? [...errors, tooMany(path, seen.size, SELECTABLE_FIELDS_MAX)]
    : errors;
}

/** Returns the names in a path such as `.spec.color`; undefined for another form. Items of lists cannot be selected by. */
function membersOf(jsonPath: string): readonly string[] | undefined {
  return /^(?:\.[A-Za-z_][A-Za-z0-9_-]*)+$/.test(jsonPath) ? jsonPath.slice(1).split('.') : undefined;
}

function fieldAt(
  schema: JSONSchemaProps | undefined,
  members: readonly string[],
): JSONSchemaProps | undefined {
  const [first, ...rest] = members;
  if (first === undefined) return schema;
  const { properties } = schema ?? {};
  if (properties === undefined || !Object.hasOwn(properties, first)) {
    return first === 'metadata' && rest.length > 0 ? { type: 'string' } : undefined;
  }
  return fieldAt(properties[first], rest);
}
