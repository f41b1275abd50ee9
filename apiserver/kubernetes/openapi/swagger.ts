import { jsonText } from '../../engine/encoding/document';
import type { BaseDocument, Members } from './base-document';
import { baseDocument } from './base-document';
import { closure, definitionOf, SWAGGER } from './definitions';
import type { DocumentOptions, Served } from './documents';
import { byPath, messagesOf, partsOf, servedVersions } from './documents';
import { definitionName } from './names';
import { swaggerPathItem } from './path-items';
import { ENTRIES_PER_TURN, turn } from './turn';

export type Entries = readonly (readonly [name: string, value: object])[];

/** Returns the fields of an OpenAPI v2 document besides its paths and definitions. */
export function swaggerHead(version: string): object {
  return { swagger: '2.0', info: { title: 'API', version } };
}

/** Credentials in the Authorization header, for every operation. */
export const SWAGGER_SECURITY = {
  securityDefinitions: {
    BearerToken: {
      type: 'apiKey',
      description: 'Bearer token',
      name: 'authorization',
      in: 'header',
    },
  },
  security: [{ BearerToken: [] }],
} as const;

/**
 * Generates the paths and then the definitions of an OpenAPI v2 document, sorted by name, in portions that block the event loop only
 * shortly. The portions are not retained, because the document has some megabytes and the encoder needs one at a time.
 */
export async function* swaggerPortions(
  registry: Served,
  options: DocumentOptions,
): AsyncGenerator<{ readonly paths: Entries } | { readonly definitions: Entries }> {
  const roots = new Set(['meta/v1.Status']);
  const paths: [string, Readonly<Record<string, unknown>>][] = [];
  for (const part of partsOf(registry, options)) {
    const operations = part.operations();
    for (const message of messagesOf(operations)) roots.add(message);
    for (const [path, ofPath] of byPath(operations)) paths.push([path, swaggerPathItem(path, ofPath)]);
    await turn();
  }
  paths.sort(byName);
  for (let from = 0; from < paths.length; from += ENTRIES_PER_TURN) {
    yield { paths: paths.slice(from, from + ENTRIES_PER_TURN) };
    await turn();
  }

  const served = servedVersions(registry);
  const messages = [...closure(roots)]
    .map((message) => [definitionName(message), message] as const)
    .toSorted(byName);
  for (let from = 0; from < messages.length; from += ENTRIES_PER_TURN) {
    const portion = messages.slice(from, from + ENTRIES_PER_TURN);
    yield { definitions: portion.map(([name, message]) => [name, definitionOf(message, SWAGGER, served)]) };
    await turn();
  }
}

/** Encodes the whole document of the built-in API as JSON. */
export async function swaggerJson(registry: Served, options: DocumentOptions): Promise<BaseDocument> {
  const paths: string[] = [];
  const definitions: string[] = [];
  for await (const portion of swaggerPortions(registry, options)) {
    if ('paths' in portion) paths.push(...membersJson(portion.paths));
    else definitions.push(...membersJson(portion.definitions));
  }
  const head = JSON.stringify(swaggerHead(options.version)).slice(0, -1);
  const security = JSON.stringify(SWAGGER_SECURITY).slice(1);
  return baseDocument(
    () => [Buffer.from(`${head},"paths":{`), Buffer.from('},"definitions":{'), Buffer.from(`},${security}`)],
    { paths: Buffer.from(paths.join(',')), definitions: Buffer.from(definitions.join(',')) },
  );
}

/** Encodes paths and definitions that are appended to others. */
export function moreSwaggerJson(paths: Entries, definitions: Entries): Members {
  return {
    paths: behindOthers(membersJson(paths)),
    definitions: behindOthers(membersJson(definitions)),
  };
}

function behindOthers(members: readonly string[]): Buffer {
  return Buffer.from(members.map((member) => `,${member}`).join(''));
}

function membersJson(entries: Entries): readonly string[] {
  return entries.map(([name, value]) => `${JSON.stringify(name)}:${jsonText(value)}`);
}

function byName([a]: readonly [string, ...unknown[]], [b]: readonly [string, ...unknown[]]): number {
  return a < b ? -1 : Number(a > b);
}
