import { jsonText } from '../../../engine/encoding/document';
import type { HashedMembers, Members } from '../base-document';
import { hashOf } from '../base-document';
import { moreSwaggerProtobuf } from '../gnostic';
import type { Entries } from '../swagger';
import { moreSwaggerJson } from '../swagger';
import { ENTRIES_PER_TURN, turn } from '../turn';
import type { OtherDocument } from './other-documents';
import type { OtherSwagger, SwaggerSchema } from './other-swagger';
import { definitionOfReference, referenceTo, usedDefinitions, withReferences } from './references';

const FORMS = { json: moreSwaggerJson, protobuf: moreSwaggerProtobuf } as const;

/** What stands in the document already. */
export interface Taken {
  readonly paths: ReadonlySet<string>;
  /** Digests by name, for {@link digestOf}; empty for one that nothing equals. */
  readonly definitions: ReadonlyMap<string, string>;
}

/**
 * What other servers add to a document of v2 that has `taken`. Of two that have the same path, the one before it keeps it; a definition whose name stands
 * for another one already becomes `<name>_v2`, as in kube-aggregator.
 */
export async function membersOfOthers(
  taken: Taken,
  others: readonly OtherDocument[],
  format: keyof typeof FORMS,
): Promise<readonly HashedMembers[]> {
  const paths = new Set(taken.paths);
  const definitions = new Map(taken.definitions);
  const all: HashedMembers[] = [];
  for (const { swagger } of others) {
    const read = JSON.parse(swagger.toString('utf8')) as OtherSwagger;
    await turn();
    const added = addedBy(read, { paths, definitions });
    for (const path of Object.keys(added.paths)) paths.add(path);
    all.push(await encoded(added, format));
  }
  return all;
}

/** The same for two definitions that say the same, in whatever order; which kinds they are is left out. */
export function digestOf(definition: object): string {
  const { [GROUP_VERSION_KIND]: _kinds, ...rest } = definition as { readonly [GROUP_VERSION_KIND]?: unknown };
  return hashOf(Buffer.from(jsonText(sorted(rest))));
}

const GROUP_VERSION_KIND = 'x-kubernetes-group-version-kind';

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}

interface TakenNow {
  readonly paths: ReadonlySet<string>;
  /** Gets those that are added. */
  readonly definitions: Map<string, string>;
}

function addedBy(swagger: OtherSwagger, { paths: takenPaths, definitions: taken }: TakenNow): OtherSwagger {
  const paths = Object.fromEntries(Object.entries(swagger.paths).filter(([path]) => !takenPaths.has(path)));
  const definitions = usedDefinitions(paths, swagger.definitions);
  const names = new Map<string, string>();
  const added = new Map<string, SwaggerSchema>();
  for (const [name, definition] of Object.entries(definitions)) {
    const digest = digestOf(definition);
    const free = nameFor(name, digest, { taken, others: definitions });
    names.set(name, free);
    if (taken.get(free) === digest) continue;
    added.set(free, definition);
  }
  for (const [name, definition] of added) taken.set(name, digestOf(definition));
  const renamed = (reference: string): string => {
    const name = definitionOfReference(reference) ?? '';
    return referenceTo(names.get(name) ?? name);
  };
  return withReferences({ paths, definitions: Object.fromEntries(added) }, renamed);
}

/** The name itself, or the first of `<name>_v2`, `<name>_v3`, … that is free or stands for the very same. */
function nameFor(
  name: string,
  digest: string,
  { taken, others }: { readonly taken: ReadonlyMap<string, string>; readonly others: object },
): string {
  const isGood = (each: string): boolean =>
    taken.has(each) ? taken.get(each) === digest : each === name || !Object.hasOwn(others, each);
  let candidate = name;
  for (let version = 2; !isGood(candidate); version++) candidate = `${name}_v${String(version)}`;
  return candidate;
}

async function encoded(swagger: OtherSwagger, format: keyof typeof FORMS): Promise<HashedMembers> {
  const encode = FORMS[format];
  const parts: Members[] = [];
  for (const portion of portionsOf(Object.entries(swagger.paths))) {
    parts.push(encode(portion, []));
    await turn();
  }
  for (const portion of portionsOf(Object.entries(swagger.definitions))) {
    parts.push(encode([], portion));
    await turn();
  }
  const paths = Buffer.concat(parts.map((each) => each.paths));
  const definitions = Buffer.concat(parts.map((each) => each.definitions));
  return { paths, definitions, hash: hashOf(paths, definitions) };
}

function* portionsOf(entries: Entries): Generator<Entries> {
  for (let from = 0; from < entries.length; from += ENTRIES_PER_TURN) {
    yield entries.slice(from, from + ENTRIES_PER_TURN);
  }
}
