import type { FieldError } from '../../../shared/errors/field-error';
import { required } from '../../../shared/errors/field-error';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records } from '../../../shared/object/accessors';

/** Fields and items that allOf, anyOf, oneOf or not speak of, but not the structure outside. */
export function missingStructure(schema: Json, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  compare(schema, { schema, path }, path, errors);
  return errors;
}

/** The structure outside. */
interface Structure {
  readonly schema: Json | undefined;
  readonly path: string;
}

function compare(values: Json, structure: Structure, path: string, errors: FieldError[]): void {
  const not = optionalRecord(values['not']);
  if (not !== undefined) compareNested(not, structure, `${path}.not`, errors);
  for (const field of ['allOf', 'anyOf', 'oneOf']) {
    for (const [index, each] of records(values[field]).entries()) {
      compareNested(each, structure, `${path}.${field}[${String(index)}]`, errors);
    }
  }
}

function compareNested(values: Json, structure: Structure, path: string, errors: FieldError[]): void {
  const { schema } = structure;
  if (schema === undefined) {
    errors.push(required(structure.path, `because it is defined in ${path}`));
    return;
  }
  compare(values, structure, path, errors);
  const items = optionalRecord(values['items']);
  if (items !== undefined) {
    const inside = { schema: optionalRecord(schema['items']), path: `${structure.path}.items` };
    compareNested(items, inside, `${path}.items`, errors);
  }
  const outside = record(schema['properties']);
  for (const [name, child] of Object.entries(record(values['properties']))) {
    const step = `.properties[${name}]`;
    const known = Object.hasOwn(outside, name) ? optionalRecord(outside[name]) : undefined;
    compareNested(record(child), { schema: known, path: structure.path + step }, path + step, errors);
  }
}
