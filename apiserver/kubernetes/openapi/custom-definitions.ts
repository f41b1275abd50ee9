import type {
  CustomResourceDefinitionVersion,
  CustomResourceValidation,
} from '../../../shared/api/types/apiextensions-v1';
import { describeField } from '../../../shared/api/descriptions';
import type { Endpoint } from '../../engine/registry/resource';
import { fieldsOf } from '../../../shared/object/accessors';
import { customSchema } from './custom-schema';
import type { JsonSchema, SchemaForm } from './definitions';
import { described, TYPE_META } from './definitions';
import { customMessage, definitionName } from './names';

/** Definitions that those of custom resources reference. */
export const CUSTOM_ROOTS: readonly string[] = ['meta/v1.ObjectMeta', 'meta/v1.ListMeta'];

/** Returns the definitions of a custom resource and of its list, by name; empty for a built-in resource. */
export function customDefinitions(
  { row, custom }: Endpoint,
  form: SchemaForm,
): readonly (readonly [name: string, schema: JsonSchema])[] {
  if (custom === undefined) return [];
  const { schema: validation } = fieldsOf<CustomResourceDefinitionVersion>(custom.version);
  const { openAPIV3Schema } = fieldsOf<CustomResourceValidation>(validation);
  const message = customMessage(row, row.kind);
  const schema = customSchema(openAPIV3Schema, form, { preservesUnknown: custom.preservesUnknownFields });
  const kind = (name: string): JsonSchema => ({
    'x-kubernetes-group-version-kind': [{ group: row.group, kind: name, version: row.version }],
  });
  return [
    [definitionName(message), { ...schema, ...kind(row.kind) }],
    [
      definitionName(customMessage(row, row.listKind)),
      {
        description: `A list of objects of the kind ${row.kind}.`,
        type: 'object',
        required: ['items'],
        properties: {
          ...TYPE_META,
          items: {
            description: `List of ${row.resource}.`,
            type: 'array',
            items: form.reference(definitionName(message), {}),
          },
          metadata: form.reference(
            definitionName('meta/v1.ListMeta'),
            described(describeField('core/v1.PodList', 'metadata')),
          ),
        },
        ...kind(row.listKind),
      },
    ],
  ];
}
