import { jsonText } from '../../engine/encoding/document';
import type { Endpoint } from '../../engine/registry/resource';
import { CUSTOM_ROOTS, customDefinitions } from './custom-definitions';
import { closure, definitionOf, OPENAPI_3 } from './definitions';
import type { Part, Served } from './documents';
import { byPath, messagesOf, servedVersions } from './documents';
import { definitionName } from './names';
import type { Operation } from './operations';
import { openapi3PathItem } from './path-items';
import { ENTRIES_PER_TURN, turn } from './turn';

const SECURITY_SCHEMES = {
  BearerToken: { type: 'apiKey', description: 'Bearer token', name: 'authorization', in: 'header' },
};

/** A schema by its name in the documents, and its JSON. */
type Schema = readonly [name: string, text: () => string];

/** Returns the schemas of messages and of all that they reference. */
export type BuiltInSchemas = (messages: readonly string[]) => readonly Schema[];

/** Returns the schemas of the built-in API. Each is encoded once, because most documents share the schemas of metadata and of pods. */
export function createBuiltInSchemas(registry: Served, enums: boolean): BuiltInSchemas {
  const form = { ...OPENAPI_3, enums };
  const served = servedVersions(registry);
  const texts = new Map<string, string>();
  const textOf = (message: string): string => {
    const text = texts.get(message) ?? jsonText(definitionOf(message, form, served));
    texts.set(message, text);
    return text;
  };
  return (messages) =>
    [...closure(messages)].map((message) => [definitionName(message), () => textOf(message)]);
}

/** Encodes the OpenAPI v3 document of one built-in part of the API as JSON. `version` is that of the server. */
export async function openapi3Json(part: Part, schemas: BuiltInSchemas, version: string): Promise<Buffer> {
  const operations = part.operations();
  return documentJson({ operations, schemas: schemas(messagesOf(operations)), version });
}

export interface CustomPart {
  /** The endpoints of one group version. */
  readonly endpoints: readonly Endpoint[];
  readonly operations: readonly Operation[];
  readonly schemas: BuiltInSchemas;
  readonly version: string;
}

/** Encodes the OpenAPI v3 document of a group version of custom resources. */
export async function customOpenapi3Json(part: CustomPart): Promise<Buffer> {
  const { endpoints, operations, schemas, version } = part;
  const own = new Map(
    endpoints.flatMap((endpoint) =>
      customDefinitions(endpoint, OPENAPI_3).map(([name, schema]): Schema => [name, () => jsonText(schema)]),
    ),
  );
  const messages = messagesOf(operations).filter((message) => !own.has(definitionName(message)));
  const others = schemas([...messages, ...CUSTOM_ROOTS]);
  return documentJson({ operations, schemas: [...own, ...others], version });
}

async function documentJson(content: {
  readonly operations: readonly Operation[];
  readonly schemas: readonly Schema[];
  readonly version: string;
}): Promise<Buffer> {
  const paths = await membersText([...byPath(content.operations)], (path, operations) =>
    jsonText(openapi3PathItem(path, operations)),
  );
  const schemas = await membersText(content.schemas, (_name, text) => text());
  const info = { title: 'API', version: content.version };
  const head = JSON.stringify({ openapi: '3.0.0', info }).slice(0, -1);
  const security = JSON.stringify({ securitySchemes: SECURITY_SCHEMES }).slice(1);
  return Buffer.from(
    `${head},"paths":{${paths}},"components":{"schemas":{${schemas}},${security},"security":[{"BearerToken":[]}]}`,
  );
}

/** Encodes the members of a JSON object sorted by name, yielding to the event loop in between. */
async function membersText<T>(
  entries: readonly (readonly [name: string, from: T])[],
  textOf: (name: string, from: T) => string,
): Promise<string> {
  const members: string[] = [];
  for (const [name, from] of entries.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))) {
    members.push(`${JSON.stringify(name)}:${textOf(name, from)}`);
    if (members.length % ENTRIES_PER_TURN === 0) await turn();
  }
  return members.join(',');
}
