import type { Registry } from '../registry/registry';
import { closure, definitionOf, OPENAPI_3 } from './definitions';
import type { Part } from './documents';
import { byPath, messagesOf, servedVersions } from './documents';
import { definitionName } from './names';
import { openapi3PathItem } from './path-items';
import { ENTRIES_PER_TURN, turn } from './turn';

const SECURITY_SCHEMES = {
  BearerToken: { type: 'apiKey', description: 'Bearer token', name: 'authorization', in: 'header' },
};

/** The OpenAPI v3 document of one part of the API, as JSON. `version` is that of the server. */
export async function openapi3Json(registry: Registry, part: Part, version: string): Promise<Buffer> {
  const operations = part.operations();
  const served = servedVersions(registry);
  const messages = [...closure(messagesOf(operations))];
  const paths = await membersText([...byPath(operations)], openapi3PathItem);
  const schemas = await membersText(
    messages.map((message) => [definitionName(message), message] as const),
    (_name, message) => definitionOf(message, OPENAPI_3, served),
  );
  const head = JSON.stringify({ openapi: '3.0.0', info: { title: 'API', version } }).slice(0, -1);
  const security = JSON.stringify({ securitySchemes: SECURITY_SCHEMES }).slice(1);
  return Buffer.from(
    `${head},"paths":{${paths}},"components":{"schemas":{${schemas}},${security},"security":[{"BearerToken":[]}]}`,
  );
}

/** The members of a JSON object, sorted by name, made a few at a time. */
async function membersText<T>(
  entries: readonly (readonly [name: string, from: T])[],
  make: (name: string, from: T) => object,
): Promise<string> {
  const members: string[] = [];
  for (const [name, from] of entries.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))) {
    members.push(`${JSON.stringify(name)}:${JSON.stringify(make(name, from))}`);
    if (members.length % ENTRIES_PER_TURN === 0) await turn();
  }
  return members.join(',');
}
