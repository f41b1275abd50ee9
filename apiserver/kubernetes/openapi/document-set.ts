import { apiLevel } from '../../../shared/api-level';
import { dialect } from '../../../shared/names';
import { apiVersionOf } from '../../../shared/object/object';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import type { Taken } from './aggregated/merge';
import { digestOf, membersOfOthers } from './aggregated/merge';
import { openapi3OfOther } from './aggregated/openapi3-of-others';
import type { OtherDocument } from './aggregated/other-documents';
import type { BaseDocument, HashedMembers } from './base-document';
import { hashOf, withMembers } from './base-document';
import type { CustomDocuments, CustomNames, SwaggerFormat } from './custom-documents';
import { createCustomDocuments } from './custom-documents';
import type { DocumentOptions, Part, Served } from './documents';
import { builtInOf, customEndpoints, partsOf, servedVersions } from './documents';
import { swaggerProtobuf } from './gnostic';
import type { BuiltInSchemas } from './openapi3';
import { createBuiltInSchemas, openapi3Json } from './openapi3';
import { swaggerJson, swaggerPortions } from './swagger';
import { turn } from './turn';

export const V3_ROOT = '/openapi/v3';

export interface HashedDocument {
  /** The document is their concatenation. */
  readonly pieces: readonly Buffer[];
  /** Hexadecimal. */
  readonly hash: string;
}

/** The documents of one registry, each built once. */
export interface DocumentSet {
  /** The parts of v3. */
  readonly partNames: ReadonlySet<string>;
  readonly swagger: (format: SwaggerFormat) => Promise<HashedDocument>;
  /** The index of v3. */
  readonly index: () => Promise<HashedDocument>;
  /** `name` is one of `partNames`. */
  readonly part: (name: string) => Promise<HashedDocument>;
}

type Make = () => Promise<HashedDocument>;

/** A part of v3. Its hash may be known before it is made. */
interface LazyPart {
  readonly make: Make;
  readonly hash: () => Promise<string>;
}

function lazyPart(make: Make): LazyPart {
  return { make, hash: async () => (await make()).hash };
}

/**
 * Returns the documents of a registry, merged with those of extension API servers. Built-in documents are built once per process.
 * Documents of custom resources are reused if an earlier registry had them.
 */
export function createDocumentSets(
  options: DocumentOptions,
  others: () => readonly OtherDocument[] = () => NO_OTHERS,
): (registry: Registry) => DocumentSet {
  const custom = createCustomDocuments(options);
  const versionParts = createVersionParts(custom);
  const sets = new WeakMap<
    Registry,
    { readonly others: readonly OtherDocument[]; readonly set: DocumentSet }
  >();
  let builtIn: BuiltIn | undefined;
  const setOf = (registry: Registry, current: readonly OtherDocument[]): DocumentSet => {
    builtIn ??= createBuiltIn(builtInOf(registry), options);
    const { base, schemas, taken } = builtIn;
    const endpoints = customEndpoints(registry);
    // The server's own documents take precedence over those of extension API servers. A built-in version cannot have custom resources.
    const parts = new Map([...partsOfOthers(current), ...versionParts(endpoints, schemas), ...builtIn.parts]);
    const ofVersions = [...endpoints.values()].flat();
    const membersOfExtensions = async (format: SwaggerFormat): Promise<readonly HashedMembers[]> =>
      current.length === 0
        ? []
        : membersOfOthers(withNames(await taken(), custom.names(ofVersions)), current, format);
    const swagger = (format: SwaggerFormat): Make =>
      once(async () =>
        joined(await base[format](), [
          ...(await custom.members(ofVersions, format)),
          ...(await membersOfExtensions(format)),
        ]),
      );
    const swaggers = { json: swagger('json'), protobuf: swagger('protobuf') };
    return createSet(parts, (format) => swaggers[format]());
  };
  return (registry) => {
    const current = others();
    const known = sets.get(registry);
    if (known?.others === current) return known.set;
    const made = { others: current, set: setOf(registry, current) };
    sets.set(registry, made);
    return made.set;
  };
}

const NO_OTHERS: readonly OtherDocument[] = [];

function partsOfOthers(others: readonly OtherDocument[]): ReadonlyMap<string, LazyPart> {
  const ofGroups = others.filter(({ group }) => group !== '');
  return new Map(
    ofGroups.map((other) => [
      `apis/${apiVersionOf(other)}`,
      lazyPart(once(async () => Promise.resolve(hashed(openapi3OfOther(other))))),
    ]),
  );
}

/** A definition of a custom resource equals no other. */
function withNames({ paths, definitions }: Taken, names: CustomNames): Taken {
  return {
    paths: new Set([...paths, ...names.paths]),
    definitions: new Map([...definitions, ...names.definitions.map((name): [string, string] => [name, ''])]),
  };
}

/** The part of all documents that never changes. */
interface BuiltIn {
  readonly schemas: BuiltInSchemas;
  readonly base: Readonly<Record<SwaggerFormat, () => Promise<HashedBase>>>;
  readonly parts: ReadonlyMap<string, LazyPart>;
  /** The names that extension API servers cannot use. */
  readonly taken: () => Promise<Taken>;
}

interface HashedBase extends BaseDocument {
  readonly hash: string;
}

function createBuiltIn(served: Served, options: DocumentOptions): BuiltIn {
  const hashedBase = async (made: Promise<BaseDocument>): Promise<HashedBase> => {
    const base = await made;
    return { ...base, hash: hashOf(base.bytes) };
  };
  const schemas = createBuiltInSchemas(served, options.enums);
  const inputs = inputsOf(served, options);
  return {
    schemas,
    base: {
      json: once(async () => hashedBase(swaggerJson(served, options))),
      protobuf: once(async () => hashedBase(swaggerProtobuf(served, options))),
    },
    parts: new Map(
      partsOf(served, options).map((part) => [part.name, builtInPart(part, schemas, options, inputs)]),
    ),
    taken: once(async () => takenBy(served, options)),
  };
}

/** The index needs the hashes of all documents, but hardly a client reads more than some of them. */
function builtInPart(
  part: Part,
  schemas: BuiltInSchemas,
  { version }: DocumentOptions,
  inputs: string | undefined,
): LazyPart {
  const make = async (): Promise<Buffer> => openapi3Json(part, schemas, version);
  if (inputs === undefined) return lazyPart(once(async () => hashed(await make())));
  const hash = hashOf(Buffer.from(`${inputs} ${part.name}`));
  return {
    make: once(async () => ({ pieces: [await make()], hash })),
    hash: async () => Promise.resolve(hash),
  };
}

/** Returns the hash of everything that documents of the built-in API are made from; undefined if the code is not identified. */
function inputsOf(served: Served, { commit, ...options }: DocumentOptions): string | undefined {
  if (commit === undefined) return undefined;
  const rows = servedVersions(served).map(({ group, version }) => [
    group,
    version,
    // Feature gates switch single subresources of a row.
    served.endpointsOf(group, version).map(({ row, subresources }) => [row, [...subresources.keys()]]),
  ]);
  return hashOf(Buffer.from(JSON.stringify([commit, dialect, apiLevel, options, rows])));
}

async function takenBy(served: Served, options: DocumentOptions): Promise<Taken> {
  const paths = new Set<string>();
  const definitions = new Map<string, string>();
  for await (const portion of swaggerPortions(served, options)) {
    if ('paths' in portion) for (const [path] of portion.paths) paths.add(path);
    else for (const [name, definition] of portion.definitions) definitions.set(name, digestOf(definition));
  }
  return { paths, definitions };
}

/** Returns the v3 parts of custom resources by name, reusing the unchanged ones of the last registry. */
function createVersionParts(
  custom: CustomDocuments,
): (
  endpoints: ReadonlyMap<string, readonly Endpoint[]>,
  schemas: BuiltInSchemas,
) => ReadonlyMap<string, LazyPart> {
  let last: ReadonlyMap<string, { readonly endpoints: readonly Endpoint[]; readonly part: LazyPart }> =
    new Map();
  return (all, schemas) => {
    const previous = last;
    last = new Map(
      [...all].map(([name, endpoints]) => {
        const known = previous.get(name);
        if (known !== undefined && areEqual(known.endpoints, endpoints)) return [name, known];
        const part = lazyPart(once(async () => hashed(await custom.part(endpoints, schemas))));
        return [name, { endpoints, part }];
      }),
    );
    return new Map([...last].map(([name, { part }]) => [name, part]));
  };
}

function areEqual(some: readonly Endpoint[], others: readonly Endpoint[]): boolean {
  return (
    some.length === others.length &&
    some.every((each, index) => each.custom?.id === others[index]?.custom?.id)
  );
}

function createSet(parts: ReadonlyMap<string, LazyPart>, swagger: DocumentSet['swagger']): DocumentSet {
  const part: DocumentSet['part'] = async (name) => {
    const found = parts.get(name);
    if (found === undefined) throw new Error(`no part ${name}`);
    return found.make();
  };
  return {
    partNames: new Set(parts.keys()),
    swagger,
    index: once(async () => {
      const paths: Record<string, object> = {};
      for (const [name, { hash: hashOfPart }] of [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
        const hash = await hashOfPart();
        // A small document does not yield by itself.
        await turn();
        paths[name] = { serverRelativeURL: `${V3_ROOT}/${name}?hash=${hash}` };
      }
      return hashed(Buffer.from(JSON.stringify({ paths })));
    }),
    part,
  };
}

/** Single-flight: concurrent calls share one build. The next call after a failure retries it. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return async () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

function hashed(body: Buffer): HashedDocument {
  return { pieces: [body], hash: hashOf(body) };
}

/** The hash is computed from the hashes of the parts, so that nothing is hashed twice. */
function joined(base: HashedBase, members: readonly HashedMembers[]): HashedDocument {
  const pieces = withMembers(base, members);
  if (members.length === 0) return { pieces, hash: base.hash };
  return { pieces, hash: hashOf(Buffer.from([base, ...members].map(({ hash }) => hash).join())) };
}
