import { SWAGGER, OPENAPI_3 } from './definitions';
import { definitionName } from './names';
import type { Operation } from './operations';
import type { Parameter } from './parameters';
import { pathParameters, PRETTY } from './parameters';
import { defined } from '../../../shared/defined';

const CODE_WORDS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
};

/** Returns the fields of an operation that both versions have. */
function common({ id, tag, action, kind }: Operation): object {
  return {
    operationId: id,
    tags: [tag],
    ...defined({ 'x-kubernetes-action': action, 'x-kubernetes-group-version-kind': kind }),
  };
}

/**
 * Builds a path item of OpenAPI v2. Parameters common to all its operations are at the path, as in v1.21; with a single operation these
 * are all.
 */
export function swaggerPathItem(
  path: string,
  operations: readonly Operation[],
): Readonly<Record<string, unknown>> {
  const item: Record<string, unknown> = {};
  const ofEach = operations.map((operation) => [
    ...allParameters(path, operations),
    ...operation.query.map((each): PlacedParameter => ({ ...each, in: 'query' })),
  ]);
  const shared = (ofEach[0] ?? []).filter((each) =>
    ofEach.every((all) => all.some((one) => isSame(one, each))),
  );
  for (const [at, operation] of operations.entries()) {
    const own = (ofEach[at] ?? []).filter((each) => !shared.some((one) => isSame(one, each)));
    item[operation.method] = swaggerOperation(operation, own);
  }
  return shared.length === 0 ? item : { ...item, parameters: shared.toSorted(byName).map(swaggerParameter) };
}

function isSame(a: PlacedParameter, b: PlacedParameter): boolean {
  return a.name === b.name && a.in === b.in;
}

/** Path parameters come before query parameters. */
function byName(a: PlacedParameter, b: PlacedParameter): number {
  if (a.name === b.name) return a.in < b.in ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

function swaggerOperation(operation: Operation, own: readonly PlacedParameter[]): object {
  const { answer, body, codes, consumes, produces } = operation;
  const schema = answer === undefined ? { type: 'string' } : SWAGGER.reference(definitionName(answer), {});
  const parameters: object[] = own.toSorted(byName).map(swaggerParameter);
  if (body !== undefined) {
    parameters.unshift({
      in: 'body',
      name: 'body',
      ...(body.required ? { required: true } : {}),
      schema: SWAGGER.reference(definitionName(body.message), {}),
    });
  }
  const success = codes.map((code) => [String(code), { description: CODE_WORDS[code], schema }]);
  return {
    ...common(operation),
    schemes: ['https'],
    consumes,
    produces,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { ...Object.fromEntries(success), 401: { description: CODE_WORDS[401] } },
  };
}

interface PlacedParameter extends Parameter {
  readonly in: 'path' | 'query';
}

/** Returns the parameters of all operations of a path. Connect operations have no `pretty`. */
function allParameters(path: string, operations: readonly Operation[]): readonly PlacedParameter[] {
  const inPath = pathParameters(path).map((each): PlacedParameter => ({ ...each, in: 'path' }));
  const isResource = operations.some(({ action }) => action !== undefined && action !== 'connect');
  return isResource ? [...inPath, { ...PRETTY, in: 'query' }] : inPath;
}

function swaggerParameter({ name, type, description, in: place }: PlacedParameter): object {
  return {
    uniqueItems: true,
    type,
    description,
    name,
    in: place,
    ...(place === 'path' ? { required: true } : {}),
  };
}

/** Builds a path item of OpenAPI v3. */
export function openapi3PathItem(path: string, operations: readonly Operation[]): object {
  const item: Record<string, unknown> = {};
  for (const operation of operations) item[operation.method] = openapi3Operation(operation);
  const parameters = allParameters(path, operations).map(openapi3Parameter);
  // Go decodes an empty list and an absent one differently, and never writes an empty one.
  return parameters.length === 0 ? item : { ...item, parameters };
}

function openapi3Operation(operation: Operation): object {
  const { answer, body, codes, consumes, produces, query } = operation;
  const schema = answer === undefined ? { type: 'string' } : OPENAPI_3.reference(definitionName(answer), {});
  const content = Object.fromEntries(produces.map((type) => [type, { schema }]));
  const success = codes.map((code) => [String(code), { description: CODE_WORDS[code], content }]);
  return {
    ...common(operation),
    ...(query.length === 0 ? {} : { parameters: openapi3Query(query) }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, consumes) }),
    responses: { ...Object.fromEntries(success), 401: { description: CODE_WORDS[401] } },
  };
}

function requestBody(
  { message, required }: NonNullable<Operation['body']>,
  consumes: readonly string[],
): object {
  const schema = OPENAPI_3.reference(definitionName(message), {});
  return {
    content: Object.fromEntries(consumes.map((type) => [type, { schema }])),
    ...(required ? { required: true } : {}),
  };
}

/** Query parameters by their rows, because nearly all operations share a few lists of them. */
const OPENAPI_3_QUERIES = new WeakMap<readonly Parameter[], readonly object[]>();

function openapi3Query(query: readonly Parameter[]): readonly object[] {
  const known = OPENAPI_3_QUERIES.get(query);
  if (known !== undefined) return known;
  const made = query.map((each) => openapi3Parameter({ ...each, in: 'query' }));
  OPENAPI_3_QUERIES.set(query, made);
  return made;
}

function openapi3Parameter({ name, type, description, in: place }: PlacedParameter): object {
  const schema = { type, uniqueItems: true };
  return { name, in: place, description, ...(place === 'path' ? { required: true } : {}), schema };
}
