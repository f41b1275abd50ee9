import type { JsonSchema } from './definitions';
import { ownKeyMap } from '../../../shared/own-key-map';

interface SpecialSchema {
  readonly v2: JsonSchema;
  /** The form in v3, if it is more precise. */
  readonly v3?: JsonSchema;
}

/** Definitions whose JSON differs from their message: custom scalars, values of any form, and types without a message. */
export const SPECIAL_SCHEMAS = ownKeyMap<SpecialSchema>({
  'meta/v1.Time': {
    v2: {
      description: 'A moment as RFC 3339 text in UTC, to the second.',
      type: 'string',
      format: 'date-time',
    },
  },
  'meta/v1.MicroTime': {
    v2: {
      description: 'A moment as RFC 3339 text in UTC, to the microsecond.',
      type: 'string',
      format: 'date-time',
    },
  },
  'meta/v1.FieldsV1': { v2: { description: 'A set of fields, as a trie.', type: 'object' } },
  'meta/v1.Patch': {
    v2: { description: 'The changes to make, in the form that the Content-Type names.', type: 'object' },
  },
  'resource.Quantity': {
    v2: { description: 'An amount: a number with an optional suffix, as 500m or 1.5Gi.', type: 'string' },
    v3: {
      description: 'An amount: a number with an optional suffix, as 500m or 1.5Gi.',
      oneOf: [{ type: 'string' }, { type: 'number' }],
    },
  },
  'intstr.IntOrString': {
    v2: { description: 'A number, or text such as 25%.', type: 'string', format: 'int-or-string' },
    v3: {
      description: 'A number, or text such as 25%.',
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    },
  },
  'runtime.RawExtension': { v2: { description: 'An object of any kind.', type: 'object' } },
  'apiextensions/v1.JSON': { v2: { description: 'Any JSON value.' } },
  'apiextensions/v1.JSONSchemaPropsOrArray': { v2: { description: 'A schema, or a list of schemas.' } },
  'apiextensions/v1.JSONSchemaPropsOrBool': { v2: { description: 'A schema, or a boolean.' } },
  'apiextensions/v1.JSONSchemaPropsOrStringArray': { v2: { description: 'A schema, or a list of names.' } },
  'version.Info': {
    v2: {
      description: 'Which server answers.',
      type: 'object',
      required: versionFields(),
      properties: Object.fromEntries(versionFields().map((name) => [name, { type: 'string' }])),
    },
  },
});

function versionFields(): readonly string[] {
  return [
    'major',
    'minor',
    'gitVersion',
    'gitCommit',
    'gitTreeState',
    'buildDate',
    'goVersion',
    'compiler',
    'platform',
  ];
}
