/**
 * The Protobuf messages of OpenAPI v2 (package `openapi.v2` of gnostic): field numbers by JSON key. It has only the fields that documents
 * of this server and of extension API servers contain. A key that begins with `x-` goes to `extensions`.
 */

/** The encoding of a field's value. */
export type FieldForm =
  | 'text'
  | 'texts'
  | 'flag'
  | 'number'
  | 'integer'
  /** Any value, as its YAML text. */
  | 'any'
  | 'anys'
  /** One string in a message of its own. */
  | 'type'
  /** A schema, or one inside a message with the single field 1. */
  | 'schema'
  | 'wrapped schema'
  | 'schema or flag'
  | 'list of schemas'
  /** A list of named values, inside a message; the number is that of the list entry. */
  | 'schemas'
  | 'path items'
  | 'responses'
  | 'parameters'
  | 'operation'
  | 'info'
  | 'security'
  | 'security definitions';

export interface GnosticMessage {
  readonly fields: Readonly<Record<string, readonly [number: number, form: FieldForm]>>;
  /** The field number of the vendor extensions. */
  readonly extensions?: number;
}

export const DOCUMENT: GnosticMessage = {
  fields: {
    swagger: [1, 'text'],
    info: [2, 'info'],
    paths: [8, 'path items'],
    definitions: [9, 'schemas'],
    security: [12, 'security'],
    securityDefinitions: [13, 'security definitions'],
  },
};

export const INFO: GnosticMessage = { fields: { title: [1, 'text'], version: [2, 'text'] } };

export const SCHEMA: GnosticMessage = {
  fields: {
    $ref: [1, 'text'],
    format: [2, 'text'],
    title: [3, 'text'],
    description: [4, 'text'],
    default: [5, 'any'],
    multipleOf: [6, 'number'],
    maximum: [7, 'number'],
    exclusiveMaximum: [8, 'flag'],
    minimum: [9, 'number'],
    exclusiveMinimum: [10, 'flag'],
    maxLength: [11, 'integer'],
    minLength: [12, 'integer'],
    pattern: [13, 'text'],
    maxItems: [14, 'integer'],
    minItems: [15, 'integer'],
    uniqueItems: [16, 'flag'],
    maxProperties: [17, 'integer'],
    minProperties: [18, 'integer'],
    required: [19, 'texts'],
    enum: [20, 'anys'],
    additionalProperties: [21, 'schema or flag'],
    type: [22, 'type'],
    items: [23, 'wrapped schema'],
    allOf: [24, 'list of schemas'],
    properties: [25, 'schemas'],
    readOnly: [27, 'flag'],
    example: [30, 'any'],
  },
  extensions: 31,
};

export const PATH_ITEM: GnosticMessage = {
  fields: {
    get: [2, 'operation'],
    put: [3, 'operation'],
    post: [4, 'operation'],
    delete: [5, 'operation'],
    options: [6, 'operation'],
    head: [7, 'operation'],
    patch: [8, 'operation'],
    parameters: [9, 'parameters'],
  },
};

export const OPERATION: GnosticMessage = {
  fields: {
    tags: [1, 'texts'],
    summary: [2, 'text'],
    description: [3, 'text'],
    operationId: [5, 'text'],
    produces: [6, 'texts'],
    consumes: [7, 'texts'],
    parameters: [8, 'parameters'],
    responses: [9, 'responses'],
    schemes: [10, 'texts'],
    deprecated: [11, 'flag'],
  },
  extensions: 13,
};

export const RESPONSE: GnosticMessage = {
  fields: { description: [1, 'text'], schema: [2, 'wrapped schema'] },
};

export const BODY_PARAMETER: GnosticMessage = {
  fields: {
    description: [1, 'text'],
    name: [2, 'text'],
    in: [3, 'text'],
    required: [4, 'flag'],
    schema: [5, 'schema'],
  },
};

export const QUERY_PARAMETER: GnosticMessage = {
  fields: {
    required: [1, 'flag'],
    in: [2, 'text'],
    description: [3, 'text'],
    name: [4, 'text'],
    type: [6, 'text'],
    uniqueItems: [20, 'flag'],
  },
};

export const PATH_PARAMETER: GnosticMessage = {
  fields: {
    required: [1, 'flag'],
    in: [2, 'text'],
    description: [3, 'text'],
    name: [4, 'text'],
    type: [5, 'text'],
    uniqueItems: [19, 'flag'],
  },
};

export const API_KEY: GnosticMessage = {
  fields: { type: [1, 'text'], name: [2, 'text'], in: [3, 'text'], description: [4, 'text'] },
};
