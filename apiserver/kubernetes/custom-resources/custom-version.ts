import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../shared/api/types/apiextensions-v1';
import { stringifyExact } from '../../../shared/object/exact-text';
import type { StructuralSchema } from '../../../shared/structural/structural-schema';
import { compileSchema } from '../../../shared/structural/structural-schema';
import type { CustomVersion, StoredResource } from '../../engine/registry/resource';
import { currentOfEntry } from '../../engine/registry/stored-form';
import type { Entry } from '../../engine/watch-cache/state/entry';
import type { ObjectTable } from '../../engine/registry/object-table';
import { customTable } from './custom-columns';
import type { Definition } from './definition';

/**
 * A definition as it stands in the cache. Parsed it takes many times the room of its bytes, so that the parsed form is kept only as long
 * as somebody else holds it or the garbage collector lets it be.
 */
export class DefinitionSource {
  readonly #stored: StoredResource;
  #entry: Entry;
  #parsed: WeakRef<CustomResourceDefinition> | undefined;

  constructor(stored: StoredResource, entry: Entry) {
    this.#stored = stored;
    this.#entry = entry;
  }

  get object(): CustomResourceDefinition {
    const known = this.#parsed?.deref();
    if (known !== undefined) return known;
    const object = definitionIn(this.#stored, this.#entry);
    this.#parsed = new WeakRef(object);
    return object;
  }

  /** A later state of the same definition, in which what is served of it is the same. */
  update(entry: Entry): void {
    this.#entry = entry;
    this.#parsed = undefined;
  }
}

/** The definition in the cache, which has nothing else where definitions are stored. */
export function definitionIn(stored: StoredResource, entry: Entry): CustomResourceDefinition {
  return currentOfEntry(stored, entry).object as CustomResourceDefinition;
}

let made = 0;

/** One version of a definition; nothing of it is read before it is asked for. */
export class LazyVersion implements CustomVersion {
  readonly id: string;
  readonly preservesUnknownFields: boolean;
  readonly isTerminating: boolean;
  readonly #source: DefinitionSource;
  readonly #name: string;
  readonly #convertsByWebhook: boolean;
  /** Undefined until it is asked for the first time. */
  #compiled: { readonly schema: StructuralSchema | undefined } | undefined;
  #changesOnRead: boolean | undefined;

  constructor(source: DefinitionSource, definition: Definition, name: string) {
    made += 1;
    this.id = `${definition.name}/${name}#${String(made)}`;
    this.preservesUnknownFields = definition.preservesUnknownFields;
    this.isTerminating = definition.isTerminating;
    this.#convertsByWebhook = definition.convertsByWebhook;
    this.#source = source;
    this.#name = name;
  }

  get definition(): CustomResourceDefinition {
    return this.#source.object;
  }

  get version(): Partial<CustomResourceDefinitionVersion> {
    const { versions } = this.definition.spec;
    return versions?.find(({ name }) => name === this.#name) ?? {};
  }

  get schema(): StructuralSchema | undefined {
    this.#compiled ??= { schema: compile(this.version, this.preservesUnknownFields) };
    return this.#compiled.schema;
  }

  readTable(): { readonly table: ObjectTable; readonly id: string } {
    return customTable(this.version);
  }

  /** An object is also read by the schema of the version that it stands in, whichever that is. */
  get changesOnRead(): boolean {
    this.#changesOnRead ??= this.#convertsByWebhook || !isTransparent(this.definition.spec);
    return this.#changesOnRead;
  }
}

function compile(
  { schema }: Partial<CustomResourceDefinitionVersion>,
  preserveUnknownFields: boolean,
): StructuralSchema | undefined {
  const json = schema?.openAPIV3Schema;
  return json === undefined ? undefined : compileSchema(json, { preserveUnknownFields });
}

/** Whether no schema of the definition drops, fills in or brings into form anything. */
function isTransparent({ versions, preserveUnknownFields }: CustomResourceDefinitionSpec): boolean {
  return (versions ?? []).every(({ schema }) => {
    const json = schema?.openAPIV3Schema;
    if (json === undefined) return true;
    if (preserveUnknownFields === true) return !stringifyExact(json).includes(EMBEDDED);
    const names = Object.keys(json).filter((name) => name !== 'type' && name !== 'description');
    return names.length === 1 && json['x-kubernetes-preserve-unknown-fields'] === true;
  });
}

const EMBEDDED = 'x-kubernetes-embedded-resource';
