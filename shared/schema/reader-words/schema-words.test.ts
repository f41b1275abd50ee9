import type { FieldKind } from '../types';
import { messageType } from '../types';
import { schemaUnionWords } from './schema-words';

const UNIONS = {
  schemaOrArray: 'apiextensions/v1.JSONSchemaPropsOrArray',
  schemaOrBool: 'apiextensions/v1.JSONSchemaPropsOrBool',
  schemaOrStringArray: 'apiextensions/v1.JSONSchemaPropsOrStringArray',
} as const;

type Union = keyof typeof UNIONS & FieldKind;

function wordsOf(kind: Union, json: string): string | undefined {
  return schemaUnionWords(Buffer.from(json), kind, messageType(UNIONS[kind]));
}

/** JSON that stands where a schema or something else may stand, and what v1.21 says of it. */
const ROWS: readonly (readonly [Union, string, string])[] = [
  [
    'schemaOrArray',
    '{"title":5}',
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.title of type string',
  ],
  [
    'schemaOrArray',
    '{"properties":{"a":{"items":{"title":5}}}}',
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.properties.items of type string',
  ],
  [
    'schemaOrArray',
    '[{"type":"a"},5]',
    'json: cannot unmarshal number into Go value of type v1.JSONSchemaProps',
  ],
  [
    'schemaOrArray',
    '[{"type":["a"]}]',
    'json: cannot unmarshal array into Go struct field JSONSchemaProps.type of type string',
  ],
  [
    'schemaOrBool',
    '{"maximum":"x"}',
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.maximum of type float64',
  ],
  [
    'schemaOrBool',
    '{"maxLength":1.5}',
    'json: cannot unmarshal number 1.5 into Go struct field JSONSchemaProps.maxLength of type int64',
  ],
  [
    'schemaOrBool',
    '{"maxLength":9223372036854775808}',
    'json: cannot unmarshal number 9223372036854775808 into Go struct field JSONSchemaProps.maxLength of type int64',
  ],
  [
    'schemaOrArray',
    '{"required":"a"}',
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.required of type []string',
  ],
  [
    'schemaOrArray',
    '{"required":[1]}',
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.required of type string',
  ],
  [
    'schemaOrArray',
    '{"enum":{}}',
    'json: cannot unmarshal object into Go struct field JSONSchemaProps.enum of type []v1.JSON',
  ],
  [
    'schemaOrArray',
    '{"properties":[]}',
    'json: cannot unmarshal array into Go struct field JSONSchemaProps.properties of type map[string]v1.JSONSchemaProps',
  ],
  [
    'schemaOrArray',
    '{"properties":{"a":5}}',
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.properties of type v1.JSONSchemaProps',
  ],
  [
    'schemaOrArray',
    '{"allOf":[null,{"not":[]}]}',
    'json: cannot unmarshal array into Go struct field JSONSchemaProps.allOf.not of type v1.JSONSchemaProps',
  ],
  [
    'schemaOrArray',
    '{"externalDocs":{"url":1}}',
    'json: cannot unmarshal number into Go struct field ExternalDocumentation.externalDocs.url of type string',
  ],
  ['schemaOrArray', '{"additionalProperties":"x"}', 'boolean or JSON schema expected'],
  ['schemaOrStringArray', '[1]', 'json: cannot unmarshal number into Go value of type string'],
  [
    'schemaOrArray',
    '{"dependencies":{"a":[1]}}',
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.dependencies of type string',
  ],
  [
    'schemaOrArray',
    '{"dependencies":true}',
    'json: cannot unmarshal bool into Go struct field JSONSchemaProps.dependencies of type v1.JSONSchemaDependencies',
  ],
  [
    'schemaOrArray',
    '{"definitions":"x"}',
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.definitions of type v1.JSONSchemaDefinitions',
  ],
  [
    'schemaOrArray',
    '{"$schema":1,"nullable":0}',
    'json: cannot unmarshal number into Go struct field JSONSchemaProps.$schema of type v1.JSONSchemaURL',
  ],
  [
    'schemaOrArray',
    '{"x-kubernetes-list-map-keys":{}}',
    'json: cannot unmarshal object into Go struct field JSONSchemaProps.x-kubernetes-list-map-keys of type []string',
  ],
  [
    'schemaOrArray',
    '{"nullable":"x"}',
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.nullable of type bool',
  ],
  [
    'schemaOrArray',
    '{"items":true,"minItems":"1"}',
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.minItems of type int64',
  ],
  ['schemaOrBool', '[]', 'boolean or JSON schema expected'],
  [
    'schemaOrArray',
    '{"anyOf":true}',
    'json: cannot unmarshal bool into Go struct field JSONSchemaProps.anyOf of type []v1.JSONSchemaProps',
  ],
  [
    'schemaOrArray',
    '{"default":{"title":5},"unknown":[{}],"example":"x","id":true}',
    'json: cannot unmarshal bool into Go struct field JSONSchemaProps.id of type string',
  ],
  [
    'schemaOrArray',
    '{"minimum":true}',
    'json: cannot unmarshal bool into Go struct field JSONSchemaProps.minimum of type float64',
  ],
  [
    'schemaOrArray',
    '{"items":[{"title":{}}]}',
    'json: cannot unmarshal object into Go struct field JSONSchemaProps.items of type string',
  ],
];

test.each(ROWS)('%s %s', (kind, json, words) => {
  expect(wordsOf(kind, json)).toBe(words);
});

test.each<[Union, string]>([
  ['schemaOrArray', 'true'],
  ['schemaOrArray', '5'],
  ['schemaOrArray', '[]'],
  ['schemaOrArray', '[{"type":"a"},null]'],
  ['schemaOrBool', 'false'],
  ['schemaOrBool', '{}'],
  ['schemaOrBool', '{"default":{"title":5},"unknown":[{}],"enum":[1,"a"],"items":{"minItems":3}}'],
  ['schemaOrStringArray', '["a"]'],
  ['schemaOrStringArray', '"a"'],
])('nothing is said of %s %s', (kind, json) => {
  expect(wordsOf(kind, json)).toBeUndefined();
});
