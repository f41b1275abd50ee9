import type { JSONSchemaProps } from '../../../../shared/api/types/apiextensions-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { required } from '../../../../shared/errors/field-error';
import { itemsOf, propertyOf } from './crd-schema-parts';

/** Fields and items that allOf, anyOf, oneOf or not speak of, but not the structure outside. */
export function missingStructure(schema: JSONSchemaProps, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  compare(schema, { schema, path }, path, errors);
  return errors;
}

/** The structure outside. */
interface Structure {
  readonly schema: JSONSchemaProps | undefined;
  readonly path: string;
}

function compare(values: JSONSchemaProps, structure: Structure, path: string, errors: FieldError[]): void {
  const { not } = values;
  if (not !== undefined) compareNested(not, structure, `${path}.not`, errors);
  for (const field of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, each] of (values[field] ?? []).entries()) {
      compareNested(each, structure, `${path}.${field}[${String(index)}]`, errors);
    }
  }
}

function compareNested(
  values: JSONSchemaProps,
  structure: Structure,
  path: string,
  errors: FieldError[],
): void {
  const { schema } = structure;
  if (schema === undefined) {
    errors.push(required(structure.path, `because it is defined in ${path}`));
    return;
  }
  compare(values, structure, path, errors);
  const items = itemsOf(values);
  if (items !== undefined) {
    const inside = { schema: itemsOf(schema), path: `${structure.path}.items` };
    compareNested(items, inside, `${path}.items`, errors);
  }
  for (const [name, child] of Object.entries(values.properties ?? {})) {
    const step = `.properties[${name}]`;
    const inside = { schema: propertyOf(schema, name), path: structure.path + step };
    compareNested(child, inside, path + step, errors);
  }
}
