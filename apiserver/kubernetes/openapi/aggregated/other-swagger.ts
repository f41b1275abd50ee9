import { isJsonObject } from '../../../../shared/object/clone';
import type { ReadonlyJson } from '../../../../shared/object/json';
import { fields } from '../../../../shared/object/json';
import type { FieldForm, GnosticMessage } from '../gnostic-fields';
import {
  BODY_PARAMETER,
  OPERATION,
  PATH_ITEM,
  PATH_PARAMETER,
  QUERY_PARAMETER,
  RESPONSE,
  SCHEMA,
} from '../gnostic-fields';
import { definitionOfReference, withReferences } from './references';

/** The v2 document of an extension API server, restricted to what can be merged. */
export interface OtherSwagger {
  readonly paths: Named<SwaggerPathItem>;
  readonly definitions: Named<SwaggerSchema>;
}

export type Named<T> = Readonly<Record<string, T>>;

/** Its operations, by method, are siblings of its parameters. */
export interface SwaggerPathItem {
  readonly parameters?: readonly SwaggerParameter[];
}

/** Unlisted fields are passed on unchanged; likewise in the other types. */
export interface SwaggerOperation {
  readonly parameters?: readonly SwaggerParameter[];
  readonly responses?: Named<{ readonly description?: string; readonly schema?: SwaggerSchema }>;
  readonly consumes?: readonly string[];
  readonly produces?: readonly string[];
  readonly schemes?: readonly string[];
}

export interface SwaggerParameter {
  readonly in: 'body' | 'path' | 'query';
  readonly name?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly type?: string;
  readonly uniqueItems?: boolean;
  readonly schema?: SwaggerSchema;
}

export interface SwaggerSchema {
  readonly $ref?: string;
  readonly items?: SwaggerSchema;
  readonly allOf?: readonly SwaggerSchema[];
  readonly properties?: Named<SwaggerSchema>;
  readonly additionalProperties?: boolean | SwaggerSchema;
}

/** Limits the nesting depth; real schemas are not nested so deeply. */
const DEPTH_MAX = 200;

/** An APIService routes only these paths to its server. */
const SERVED_BELOW = '/apis/';

/**
 * Parses an OpenAPI v2 document (JSON). Fields without a Protobuf form and dangling references are dropped, because clients fail on the
 * whole document otherwise. Throws an Error that describes why the document is invalid.
 */
export function readSwagger(text: Buffer): OtherSwagger {
  const { swagger, ...said } = fields<OtherSwagger & { swagger: string }>(JSON.parse(text.toString('utf8')));
  if (swagger !== '2.0') throw new Error('it is no document of OpenAPI v2');
  const paths = fittedNamed(PATH_ITEM, said.paths, 0);
  const definitions = fittedNamed(SCHEMA, said.definitions, 0);
  const served = Object.entries(paths).filter(([path]) => path.startsWith(SERVED_BELOW));
  const closed = withReferences({ paths: Object.fromEntries(served), definitions }, (reference) =>
    Object.hasOwn(definitions, definitionOfReference(reference) ?? '') ? reference : undefined,
  );
  // The field tables define the form of each field.
  return closed;
}

/** Returns undefined if the value does not have the form. */
type Fit = (value: unknown, depth: number) => unknown;

const textOf: Fit = (value) => (typeof value === 'string' ? value : undefined);
const flagOf: Fit = (value) => (typeof value === 'boolean' ? value : undefined);
const schemaOf: Fit = (value, depth) => fittedMessage(SCHEMA, value, depth);
const never: Fit = () => undefined;

const FITS: Readonly<Record<FieldForm, Fit>> = {
  text: textOf,
  texts: listOf(textOf),
  flag: flagOf,
  number: (value) => (typeof value === 'number' ? value : undefined),
  integer: (value) => (Number.isSafeInteger(value) ? value : undefined),
  any: (value, depth) => (isShallow(value, depth) ? value : undefined),
  anys: listOf((value, depth) => (isShallow(value, depth) ? value : undefined)),
  type: (value) => textOf(Array.isArray(value) && value.length === 1 ? value[0] : value, 0),
  schema: schemaOf,
  'wrapped schema': (value, depth) =>
    schemaOf(Array.isArray(value) && value.length === 1 ? value[0] : value, depth),
  'schema or flag': (value, depth) => flagOf(value, depth) ?? schemaOf(value, depth),
  'list of schemas': listOf(schemaOf),
  schemas: (value, depth) => fittedNamed(SCHEMA, value, depth),
  'path items': (value, depth) => fittedNamed(PATH_ITEM, value, depth),
  responses: (value, depth) => fittedNamed(RESPONSE, value, depth),
  parameters: listOf((value, depth) => {
    const message = PARAMETERS.get(fields<SwaggerParameter>(value).in);
    return message && fittedMessage(message, value, depth);
  }),
  operation: (value, depth) => fittedMessage(OPERATION, value, depth),
  info: never,
  security: never,
  'security definitions': never,
};

const PARAMETERS: ReadonlyMap<unknown, GnosticMessage> = new Map([
  ['body', BODY_PARAMETER],
  ['path', PATH_PARAMETER],
  ['query', QUERY_PARAMETER],
]);

function listOf(fit: Fit): Fit {
  return (value, depth) =>
    Array.isArray(value)
      ? value.map((each) => fit(each, depth)).filter((each) => each !== undefined)
      : undefined;
}

function fittedNamed(message: GnosticMessage, values: unknown, depth: number): Named<ReadonlyJson> {
  if (!isJsonObject(values)) return {};
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const fitted = fittedMessage(message, value, depth);
      return fitted === undefined ? [] : [[name, fitted] as const];
    }),
  );
}

function fittedMessage(
  { fields: known, extensions }: GnosticMessage,
  value: unknown,
  depth: number,
): ReadonlyJson | undefined {
  if (!isJsonObject(value)) return undefined;
  if (depth > DEPTH_MAX) throw new Error('it is nested too deeply');
  const kept = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    if (key.startsWith('x-')) {
      return extensions === undefined || !isShallow(each, depth) ? [] : [[key, each]];
    }
    const form = Object.hasOwn(known, key) ? known[key]?.[1] : undefined;
    const fitted = form && FITS[form](each, depth + 1);
    return fitted === undefined ? [] : [[key, fitted]];
  });
  return Object.fromEntries(kept);
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < DEPTH_MAX && Object.values(value).every((each) => isShallow(each, depth + 1));
}
