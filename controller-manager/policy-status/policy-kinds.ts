import type {
  ParamKind,
  ValidatingAdmissionPolicySpec,
} from '../../shared/api/types/admissionregistration-v1';
import { parseGroupVersion } from '../../shared/api/resources';
import type { CheckedKind } from '../../shared/cel/admission/type-check';
import type { JsonSchema } from '../../shared/cel/schema/data-types';
import type { Client } from '../../shared/client/client';
import type { Discovery } from '../../shared/client/discovery';
import { discover } from '../../shared/client/discovery';
import type { Clock } from '../../shared/concurrency/clock';
import { hasCode } from '../../shared/client/status';
import type { GroupVersionKind } from '../../shared/object/object';

/** Upstream's limit of types for which a policy is checked (k8s.io/apiserver `policy/validating/typechecking.go`). */
const KINDS_MAX = 10;
/** The most schemas within one kind, references resolved: a document may refer to itself in ways that grow without bound. */
const SCHEMAS_MAX = 100_000;

/** A kind that a policy matches. */
export interface MatchedKind extends CheckedKind {
  /** `apps/v1, Kind=Deployment` */
  readonly text: string;
}

/** How long resources are known, in milliseconds, as the mapper of upstream's controllers has it. */
const KNOWN_MS_MAX = 30_000;

/** The resources of the server, discovered once for all policies that are checked at about the same time. */
export class KnownResources {
  readonly #client: Client;
  readonly #clock: Clock;
  #known: { readonly sinceMs: number; readonly discovery: Discovery } | undefined;

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async read(signal: AbortSignal): Promise<Discovery> {
    const known = this.#known;
    return known !== undefined && this.#clock.now() - known.sinceMs < KNOWN_MS_MAX
      ? known.discovery
      : this.readAgain(signal);
  }

  async readAgain(signal: AbortSignal): Promise<Discovery> {
    const sinceMs = this.#clock.now();
    const discovery = await discover(this.#client, { signal });
    this.#known = { sinceMs, discovery };
    return discovery;
  }
}

/** Finds the kinds that one policy matches, and their schemas, as the server describes them now. */
export class PolicyKinds {
  readonly #client: Client;
  readonly #signal: AbortSignal;
  readonly #resources: KnownResources;
  readonly #documents = new Map<string, Promise<Schemas>>();
  #isDiscovered = false;

  constructor(client: Client, resources: KnownResources, signal: AbortSignal) {
    this.#client = client;
    this.#resources = resources;
    this.#signal = signal;
  }

  /** Returns the kinds of the rules that name groups, versions and resources, by group, version and kind; those without a schema are left out. */
  async matched({ matchConstraints }: ValidatingAdmissionPolicySpec): Promise<readonly MatchedKind[]> {
    const found = new Map<string, GroupVersionKind>();
    for (const { apiGroups = [], apiVersions = [], resources = [] } of matchConstraints?.resourceRules ??
      []) {
      let count = 0;
      if (hasWildcard(apiGroups) || hasWildcard(apiVersions)) continue;
      const named = resources.filter((resource) => !/[*/]/u.test(resource));
      for (const group of sorted(apiGroups)) {
        for (const version of sorted(apiVersions)) {
          for (const resource of sorted(named)) {
            for (const kind of await this.#kindsOf({ group, version, resource })) {
              found.set(textOf(kind), kind);
              count += 1;
              if (count === KINDS_MAX) return this.#described(found);
            }
          }
        }
      }
    }
    return this.#described(found);
  }

  /** Returns the kind of the parameters; undefined for a policy without them. */
  async params(paramKind: ParamKind | undefined): Promise<CheckedKind | undefined> {
    if (paramKind === undefined) return undefined;
    const { apiVersion = '', kind = '' } = paramKind;
    return { kind, schema: await this.#schemaOf({ ...parseGroupVersion(apiVersion), kind }) };
  }

  async #described(found: ReadonlyMap<string, GroupVersionKind>): Promise<readonly MatchedKind[]> {
    const kinds: MatchedKind[] = [];
    for (const [text, kind] of Array.from(found).sort(([, a], [, b]) => compareKinds(a, b))) {
      const schema = await this.#schemaOf(kind);
      if (schema !== undefined) kinds.push({ text, kind: kind.kind, schema });
    }
    return kinds;
  }

  /** As upstream's mapper: the core group, whose name is empty, matches any group. */
  async #kindsOf({
    group,
    version,
    resource,
  }: {
    readonly group: string;
    readonly version: string;
    readonly resource: string;
  }): Promise<readonly GroupVersionKind[]> {
    const find = ({ resources }: Discovery): readonly GroupVersionKind[] =>
      resources.filter(
        (row) =>
          (group === '' || row.group === group) &&
          row.version === version &&
          row.resource === resource.toLowerCase(),
      );
    const known = find(await this.#resources.read(this.#signal));
    if (known.length > 0 || this.#isDiscovered) return known;
    // Once for each policy: the kind may be new.
    this.#isDiscovered = true;
    return find(await this.#resources.readAgain(this.#signal));
  }

  async #schemaOf(kind: GroupVersionKind): Promise<JsonSchema | undefined> {
    const { group, version } = kind;
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    const reading = this.#documents.get(path) ?? this.#read(path);
    this.#documents.set(path, reading);
    const schemas = await reading;
    const name = Object.keys(schemas).find((each) => isOfKind(schemas[each], kind));
    return name === undefined ? undefined : resolved(schemas, name);
  }

  async #read(path: string): Promise<Schemas> {
    try {
      const document = await this.#client.getJson(`/openapi/v3/${path}`, { signal: this.#signal });
      return (document as OpenApi).components?.schemas ?? {};
    } catch (error) {
      if (hasCode(error, 404)) return {};
      throw error;
    }
  }
}

interface OpenApi {
  readonly components?: { readonly schemas?: Schemas };
}

type Schemas = Readonly<Record<string, ReferringSchema>>;

/** A schema of an OpenAPI document, which refers to others. */
interface ReferringSchema extends JsonSchema {
  readonly $ref?: string;
  readonly allOf?: readonly ReferringSchema[];
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
}

function isOfKind(schema: ReferringSchema | undefined, { group, version, kind }: GroupVersionKind): boolean {
  const kinds = schema?.['x-kubernetes-group-version-kind'] ?? [];
  return kinds.some((each) => each.group === group && each.version === version && each.kind === kind);
}

const REFERENCE = '#/components/schemas/';

/**
 * Returns the schema of this name with all references resolved (k8s.io/apiserver `cel/openapi/resolver/refs.go`): one that leads back to
 * itself is an object without properties. Returns undefined for an unknown reference and for more schemas than a kind may have.
 */
function resolved(schemas: Schemas, root: string): JsonSchema | undefined {
  const open = new Set<string>([root]);
  let left = SCHEMAS_MAX;
  const resolve = (given: ReferringSchema): JsonSchema => {
    left -= 1;
    if (left < 0) throw new UnresolvedError();
    const name = referenceOf(given)?.replace(REFERENCE, '');
    if (name === undefined) return withParts(given);
    if (open.has(name)) return { type: 'object' };
    const referred = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (referred === undefined) throw new UnresolvedError();
    open.add(name);
    const whole = withParts(referred);
    open.delete(name);
    return whole;
  };
  const withParts = (schema: ReferringSchema): JsonSchema => {
    const { properties, additionalProperties, items, format } = schema;
    return {
      ...schema,
      // Built-in kinds have the format, custom ones the extension.
      ...(format === 'int-or-string' ? { 'x-kubernetes-int-or-string': true } : {}),
      ...(properties === undefined
        ? {}
        : {
            properties: Object.fromEntries(
              Object.entries(properties).map(([name, each]) => [name, resolve(each)] as const),
            ),
          }),
      ...(isObject(additionalProperties) ? { additionalProperties: resolve(additionalProperties) } : {}),
      ...(isObject(items) ? { items: resolve(items) } : {}),
    };
  };
  const schema = schemas[root];
  try {
    return schema && withParts(schema);
  } catch (error) {
    if (error instanceof UnresolvedError) return undefined;
    throw error;
  }
}

class UnresolvedError extends Error {}

/** A reference may be wrapped in `allOf`, to have a description. */
function referenceOf({ $ref, allOf = [] }: ReferringSchema): string | undefined {
  if ($ref !== undefined) return $ref;
  for (const each of allOf) {
    const reference = referenceOf(each);
    if (reference !== undefined) return reference;
  }
  return undefined;
}

function isObject(value: unknown): value is ReferringSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasWildcard(names: readonly string[]): boolean {
  return names.some((name) => name.includes('*'));
}

function sorted(names: readonly string[]): readonly string[] {
  return Array.from(names).sort();
}

function textOf({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}

function compareKinds(a: GroupVersionKind, b: GroupVersionKind): number {
  return compareTexts(a.group, b.group) || compareTexts(a.version, b.version) || compareTexts(a.kind, b.kind);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
