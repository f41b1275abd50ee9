import { jsonText } from '../../engine/encoding/document';
import type { GroupVersion } from '../../../shared/object/object';
import type { Endpoint } from '../../engine/registry/resource';
import { CUSTOM_ROOTS, customDefinitions } from './custom-definitions';
import { closure, definitionOf, OPENAPI_3 } from './definitions';
import type { DocumentOptions, Part, Served } from './documents';
import { byPath, messagesOf, servedVersions } from './documents';
import { definitionName } from './names';
import type { Operation } from './operations';
import { openapi3PathItem } from './path-items';
import { ENTRIES_PER_TURN, turn } from './turn';

const SECURITY_SCHEMES = {
  BearerToken: { type: 'apiKey', description: 'Bearer token', name: 'authorization', in: 'header' },
};

/** Encodes the OpenAPI v3 document of one built-in part of the API as JSON. `version` is that of the server. */
export async function openapi3Json(
  registry: Served,
  part: Part,
  { version, enums }: Pick<DocumentOptions, 'version' | 'enums'>,
): Promise<Buffer> {
  const operations = part.operations();
  const schemas = builtInSchemas(messagesOf(operations), servedVersions(registry), enums);
  return documentJson({ operations, schemas, version });
}

export interface CustomPart {
  /** The endpoints of one group version. */
  readonly endpoints: readonly Endpoint[];
  readonly operations: readonly Operation[];
  /** The built-in API. */
  readonly builtIn: Served;
  readonly version: string;
  readonly enums: boolean;
}

/** Encodes the OpenAPI v3 document of a group version of custom resources. */
export async function customOpenapi3Json(part: CustomPart): Promise<Buffer> {
  const { endpoints, operations, builtIn, version, enums } = part;
  const own = new Map(
    endpoints.flatMap((endpoint) =>
      customDefinitions(endpoint, OPENAPI_3).map(([name, schema]): Schema => [name, () => schema]),
    ),
  );
  const messages = messagesOf(operations).filter((message) => !own.has(definitionName(message)));
  const others = builtInSchemas([...messages, ...CUSTOM_ROOTS], servedVersions(builtIn), enums);
  return documentJson({ operations, schemas: [...own, ...others], version });
}

type Schema = readonly [name: string, make: () => object];

/** Returns the schemas of these messages and of all that they reference. */
function builtInSchemas(
  messages: readonly string[],
  served: readonly GroupVersion[],
  enums: boolean,
): readonly Schema[] {
  const form = { ...OPENAPI_3, enums };
  return [...closure(messages)].map((message) => [
    definitionName(message),
    () => definitionOf(message, form, served),
  ]);
}

async function documentJson(content: {
  readonly operations: readonly Operation[];
  readonly schemas: readonly Schema[];
  readonly version: string;
}): Promise<Buffer> {
  const paths = await membersText([...byPath(content.operations)], openapi3PathItem);
  const schemas = await membersText(content.schemas, (_name, make) => make());
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
  make: (name: string, from: T) => object,
): Promise<string> {
  const members: string[] = [];
  for (const [name, from] of entries.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))) {
    members.push(`${JSON.stringify(name)}:${jsonText(make(name, from))}`);
    if (members.length % ENTRIES_PER_TURN === 0) await turn();
  }
  return members.join(',');
}
