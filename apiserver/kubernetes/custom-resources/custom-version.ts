import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../shared/api/types/apiextensions-v1';
import { stringifyExact } from '../../../shared/object/exact-text';
import type { RuleNode } from '../../../shared/cel/schema/rule-tree';
import { ruleTreeOf } from '../../../shared/cel/schema/rule-tree';
import type { StructuralSchema } from '../../../shared/structural/structural-schema';
import { compileSchema } from '../../../shared/structural/structural-schema';
import type { CustomVersion, StoredResource } from '../../engine/registry/resource';
import { SERVES_VALIDATION_RULES } from '../kinds/apiextensions/crd-rules';
import { currentOfEntry } from '../../engine/registry/stored-form';
import type { Entry } from '../../engine/watch-cache/state/entry';
import type { ObjectTable } from '../../engine/registry/object-table';
import { customTable } from './custom-columns';
import type { Definition } from './definition';

/** A definition in the cache. Its parsed form takes many times the memory of its bytes, so it is held by a weak reference. */
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

  /** Replaces the entry with a later state that serves the same. */
  update(entry: Entry): void {
    this.#entry = entry;
    this.#parsed = undefined;
  }
}

/** Returns the definition of a cache entry. The cache of this resource contains only definitions. */
export function definitionIn(stored: StoredResource, entry: Entry): CustomResourceDefinition {
  return currentOfEntry(stored, entry).object as CustomResourceDefinition;
}

let made = 0;

/** One version of a definition; it is parsed on first use. */
export class LazyVersion implements CustomVersion {
  readonly id: string;
  readonly preservesUnknownFields: boolean;
  readonly isTerminating: boolean;
  readonly #source: DefinitionSource;
  readonly #name: string;
  readonly #convertsByWebhook: boolean;
  /** Undefined until the first use. */
  #compiled: { readonly schema: StructuralSchema | undefined } | undefined;
  #rules: { readonly tree: RuleNode | undefined } | undefined;
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

  /** The validation rules, which are compiled on first use; undefined where there are none. */
  get rules(): RuleNode | undefined {
    this.#rules ??= { tree: rulesOf(this.version) };
    return this.#rules.tree;
  }

  readTable(): { readonly table: ObjectTable; readonly id: string } {
    return customTable(this.version);
  }

  /** A stored object is also decoded by the schema of its stored version, which can be any version. */
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

function rulesOf({ schema }: Partial<CustomResourceDefinitionVersion>): RuleNode | undefined {
  const json = schema?.openAPIV3Schema;
  return json === undefined || !SERVES_VALIDATION_RULES ? undefined : ruleTreeOf(json);
}

/** Returns whether no schema of the definition prunes, defaults or coerces anything. */
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
