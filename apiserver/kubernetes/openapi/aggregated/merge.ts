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

/** The paths and definitions that the document already has. */
export interface Taken {
  readonly paths: ReadonlySet<string>;
  /** Digests by name, from {@link digestOf}; empty for a definition that equals no other. */
  readonly definitions: ReadonlyMap<string, string>;
}

/**
 * Returns the paths and definitions that extension API servers add to a v2 document with `taken`. The first server with a path keeps it.
 * A definition with the name of a different one becomes `<name>_v2`, as in kube-aggregator.
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

/** Returns a digest that is equal for definitions that differ only in key order or in their kinds. */
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
  /** Receives the added definitions. */
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

/** Returns the name itself, or the first of `<name>_v2`, `<name>_v3`, … that is free or has the same definition. */
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
