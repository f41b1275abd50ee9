import type { JSONSchemaProps } from '../../../../shared/api/types/apiextensions-v1';

/** One schema, where there may also be a list of schemas or of texts, a boolean, or nothing. */
export function isSchema(part: unknown): part is JSONSchemaProps {
  return typeof part === 'object' && part !== null && !Array.isArray(part);
}

/** The schema of all items of a list; undefined where there is none, or one for each. */
export function itemsOf({ items }: JSONSchemaProps): JSONSchemaProps | undefined {
  return isSchema(items) ? items : undefined;
}

/** The schema of a field, by a name that may be any text. */
export function propertyOf({ properties }: JSONSchemaProps, name: string): JSONSchemaProps | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
