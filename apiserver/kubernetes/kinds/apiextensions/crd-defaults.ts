import type { JSONSchemaProps } from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import type { Budget } from '../../../../shared/structural/budget';
import { embeddedProblems } from '../../../../shared/structural/embedded';
import { goError } from '../../../../shared/structural/outcome';
import { META_FIELDS, pruneValue } from '../../../../shared/structural/prune';
import type { StructuralSchema } from '../../../../shared/structural/structural-schema';
import { compileSchema } from '../../../../shared/structural/structural-schema';
import { joinField, validateValues } from '../../../../shared/structural/validate-values';
import type { ReadonlyJson } from '../../../../shared/object/json';

/** That each default of a structural schema has no unknown fields and is good by its own schema. `budget` is that of all of them. */
export function validateDefaults(schema: JSONSchemaProps, path: string, budget: Budget): FieldError[] {
  const errors: FieldError[] = [];
  const root = compileSchema(schema, { validatesDefaults: true });
  validateNode(root, path, { resource: root, steps: [], isInMeta: false, errors, budget });
  return errors;
}

/** The position of a default in the schema. */
interface Place {
  /** The innermost object with metadata, and the way from it: names, or undefined for the items of a list. */
  readonly resource: StructuralSchema;
  readonly steps: readonly (string | undefined)[];
  readonly isInMeta: boolean;
  readonly errors: FieldError[];
  readonly budget: Budget;
}

function validateNode(schema: StructuralSchema, path: string, place: Place): void {
  const own: Place = schema.isEmbedded ? { ...place, resource: schema, steps: [], isInMeta: false } : place;
  if (schema.default !== undefined) {
    place.errors.push(...(own.isInMeta ? metaProblems(schema, path, own) : problems(schema, path, own)));
  }
  if (schema.items !== undefined) {
    validateNode(schema.items, `${path}.items`, { ...own, steps: [...own.steps, undefined] });
  }
  for (const [name, child] of schema.properties) {
    const isInMeta = own.isInMeta || (schema.isEmbedded && META_FIELDS.has(name));
    validateNode(child, `${path}.properties[${name}]`, { ...own, steps: [...own.steps, name], isInMeta });
  }
}

function problems(schema: StructuralSchema, path: string, { budget }: Place): readonly FieldError[] {
  const at = `${path}.default`;
  const value = schema.default;
  const unknown = deepEqual(pruneValue(schema, value), value)
    ? []
    : [goError('FieldValueInvalid', at, value, 'must not have unknown fields')];
  const embedded = embeddedProblems(schema, value);
  if (embedded.length > 0) {
    return [...unknown, ...embedded.map((error) => ({ ...error, field: joinField(at, error.field) }))];
  }
  return [...unknown, ...validateValues(schema, value, { prefix: at, budget })];
}

const SOME_RESOURCE = { apiVersion: 'validation/v1', kind: 'Validation' };

/** A default in metadata is validated as part of an otherwise empty object. */
function metaProblems(
  schema: StructuralSchema,
  path: string,
  { resource, steps, budget }: Place,
): readonly FieldError[] {
  const at = `${path}.default`;
  const value = steps.reduceRight<unknown>(
    (inner, step) => (step === undefined ? [inner] : { [step]: inner }),
    schema.default,
  );
  const found = embeddedProblems(resource, { ...SOME_RESOURCE, ...(value as ReadonlyJson) });
  if (found.length === 0) return validateValues(schema, schema.default, { prefix: at, budget });
  const lines = found.map(({ field, message }) => `${field}: ${message}`);
  const text = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  return [goError('FieldValueInvalid', at, schema.default, `must result in valid metadata: ${text}`)];
}
