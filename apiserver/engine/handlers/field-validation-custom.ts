import { isJsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { DecodeError, decodeObject } from '../../../shared/schema/decode';
import { messageType } from '../../../shared/schema/types';
import { prune } from '../../../shared/structural/prune';
import type { StructuralSchema } from '../../../shared/structural/structural-schema';
import type { Endpoint } from '../registry/resource';

/** Paths of the fields that are pruned from a decoded custom resource. Empty for any other kind. */
export function droppedFields({ custom }: Pick<Endpoint, 'custom'>, object: ApiObject): readonly string[] {
  if (custom?.schema === undefined) return [];
  const { schema } = custom;
  const { object: known, pruned } = prune(schema, { ...object });
  return [...pruned, ...embeddedFields(schema, known, '')];
}

/** Paths of unknown fields in the metadata of embedded objects. */
function embeddedFields(
  schema: StructuralSchema | undefined,
  value: unknown,
  path: string,
): readonly string[] {
  if (schema?.hasEmbedded !== true) return [];
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => embeddedFields(schema.items, each, `${path}[${String(index)}]`));
  }
  if (!isJsonObject(value)) return [];
  const { additionalProperties: more } = schema;
  const inner = Object.entries(value).flatMap(([name, each]) => {
    const declared = schema.properties.get(name) ?? (typeof more === 'object' ? more : undefined);
    return embeddedFields(declared, each, path === '' ? name : `${path}.${name}`);
  });
  return schema.isEmbedded ? [...metadataFields(value['metadata'], `${path}.metadata`), ...inner] : inner;
}

/** Metadata of a wrong type has another error. */
function metadataFields(metadata: unknown, path: string): readonly string[] {
  if (!isJsonObject(metadata)) return [];
  try {
    const { unknownFields } = decodeObject(messageType('meta/v1.ObjectMeta'), metadata, {
      unknown: 'report',
    });
    return unknownFields.map((name) => `${path}.${name}`);
  } catch (error) {
    if (error instanceof DecodeError) return [];
    throw error;
  }
}
