import { DecodeError } from '../../../shared/schema/decode';
import { UNSTRUCTURED } from '../../../shared/schema/types';
import type { ResourceRow, SubresourceRow } from '../../../shared/api/resources';
import { defined } from '../../../shared/defined';
import type { NullsOf } from '../../../shared/defaults/defaults';
import type { FieldError } from '../../../shared/errors/field-error';
import type { JsonObject } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { byVersionPriority } from '../../../shared/meta/version-priority';
import { GROUP } from '../../../shared/names';
import { TooManyDefaultsError, withDefaults } from '../../../shared/structural/defaults';
import { coerceEmbedded } from '../../../shared/structural/embedded';
import { prune } from '../../../shared/structural/prune';
import type { Endpoint, ResourceDefinition, StoredResource } from '../../engine/registry/resource';
import { createRegistry } from '../../engine/registry/registry';
import type { Guard } from '../../engine/storage/backend';
import type { CallConversion } from './conversion/conversion-webhook';
import { conversionWebhookOf } from './conversion/conversion-webhook';
import { Converter } from './conversion/converter';
import { explainScaleMisfit } from '../kinds/explain-misfit';
import { customScale } from './custom-scale';
import { customStorage } from './custom-storage';
import type { StrategyVersion } from './custom-strategy';
import { customStrategy } from './custom-strategy';
import type { DefinitionSource } from './custom-version';
import { LazyVersion } from './custom-version';
import type { Definition, DefinitionVersion } from './definition';

/** The endpoints of one definition. */
export interface CustomEndpoints {
  readonly stored: StoredResource;
  /** The endpoint of the storage version, even if that is not served. Deletion of all objects uses it. */
  readonly hub: Endpoint;
  /** The served versions, the preferred version first. */
  readonly served: readonly Endpoint[];
}

/**
 * Returns the endpoints of a definition; undefined if it has no storage version. `reliesOn` is called for every write and returns the
 * write's guards. It throws if the write must not happen.
 */
export function customEndpoints(
  definition: Definition,
  source: DefinitionSource,
  {
    reliesOn,
    callConversion,
  }: {
    readonly reliesOn: (operation: 'CREATE' | 'UPDATE') => Guard;
    readonly callConversion: CallConversion;
  },
): CustomEndpoints | undefined {
  const converter = definition.convertsByWebhook
    ? new Converter(() => conversionWebhookOf(source.object), callConversion)
    : undefined;
  const hub = definition.versions.find(({ isStored }) => isStored);
  if (hub === undefined) return undefined;
  const versions = new Map(
    definition.versions.map((each) => [
      each.name,
      { ...each, lazy: new LazyVersion(source, definition, each.name) },
    ]),
  );
  const lazy = new Map([...versions].map(([name, each]) => [name, each.lazy]));
  const shared = {
    strategy: customStrategy(versions, reliesOn),
    storage: customStorage(definition.group, lazy, { hub: hub.name, converter }),
    hub: { row: rowOf(definition, hub), type: UNSTRUCTURED },
  };
  const all = [...versions.values()].toSorted((a, b) => byVersionPriority(a.name, b.name));
  const newest = all.find(({ isServed, isDeprecated }) => isServed && !isDeprecated);
  const registry = createRegistry(
    all.map((version) => ({ ...shared, ...versionDefinition(definition, version, newest) })),
    0,
  );
  const made = all.flatMap(
    ({ name }) => registry.endpoint(definition.group, name, shared.hub.row.resource) ?? [],
  );
  const endpoints = made.length === 1 ? made : decodeThenConvert(made);
  const endpointOf = ({ name }: DefinitionVersion): Endpoint | undefined =>
    endpoints.find(({ row }) => row.version === name);
  const endpoint = endpointOf(hub);
  if (endpoint === undefined) return undefined;
  const served = all.filter(({ isServed }) => isServed).flatMap((each) => endpointOf(each) ?? []);
  return { stored: endpoint.stored, hub: endpoint, served };
}

/**
 * With several versions, writes decode in the version of the request and then convert to the storage version. The validation rules of a
 * version apply only to its own fields.
 */
function decodeThenConvert(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const versions = new Map<string, Endpoint>();
  return endpoints.map((endpoint) => {
    const { row, apiVersion } = endpoint;
    const stored = { ...endpoint.stored, version: row.version, apiVersion };
    const own: Endpoint = { ...endpoint, stored, versions };
    versions.set(apiVersion, own);
    return own;
  });
}

/** Builds the version-specific part; `newest` is the version that deprecation warnings recommend. */
function versionDefinition(
  definition: Definition,
  version: StrategyVersion,
  newest: DefinitionVersion | undefined,
): Omit<ResourceDefinition, 'strategy' | 'storage' | 'hub'> {
  const { scale, lazy } = version;
  const deprecation = deprecationOf(definition, version, newest);
  return {
    row: rowOf(definition, version),
    type: UNSTRUCTURED,
    custom: lazy,
    applyDefaults: (object, nulls) => pruneAndDefault(object, lazy, nulls),
    servedSubresources: ['status', 'scale'],
    explainMisfit: explainScaleMisfit,
    ...(scale === undefined
      ? {}
      : { specialSubresources: { scale: { is: 'view', view: customScale(scale) } } }),
    ...defined({ deprecation }),
  };
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
/** Discovery verbs of a terminating resource. Updates still work, because clients must be able to remove finalizers. */
const VERBS_AT_THE_END = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];

function rowOf(definition: Definition, version: DefinitionVersion): ResourceRow {
  const { group, acceptedNames, wantedNames, isTerminating } = definition;
  const { plural } = wantedNames;
  const { singular, kind, listKind, shortNames, categories } = acceptedNames;
  const groupVersion = { group, version: version.name };
  const hub = definition.versions.find(({ isStored }) => isStored) ?? version;
  return {
    ...groupVersion,
    resource: plural,
    kind,
    listKind,
    singularName: singular,
    namespaced: definition.isNamespaced,
    verbs: isTerminating ? VERBS_AT_THE_END : VERBS,
    shortNames,
    categories,
    subresources: subresourcesOf(version, { ...groupVersion, kind }),
    schema: schemaName({ ...groupVersion, kind }),
    isServedByDefault: true,
    hub: { group, version: hub.name },
  };
}

interface KindRow {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

function schemaName({ group, version, kind }: KindRow): string {
  return `${group}/${version}.${kind}`;
}

function subresourcesOf({ hasStatus, scale }: DefinitionVersion, own: KindRow): readonly SubresourceRow[] {
  const status = { ...own, name: 'status', verbs: SUBRESOURCE_VERBS, schema: schemaName(own) };
  const scaled = {
    name: 'scale',
    kind: 'Scale',
    group: GROUP.autoscaling,
    version: 'v1',
    verbs: SUBRESOURCE_VERBS,
    schema: 'autoscaling/v1.Scale',
  };
  return [...(hasStatus ? [status] : []), ...(scale === undefined ? [] : [scaled])];
}

/** Prunes and defaults an object of a request by its definition. Throws DecodeError. */
function pruneAndDefault(object: ApiObject, { schema }: LazyVersion, nulls: NullsOf = 'dropped'): ApiObject {
  if (schema === undefined) return object;
  const given: unknown = object;
  const { object: known } = prune(schema, given as JsonObject);
  const { object: formed, errors } = coerceEmbedded(schema, known, { drop: false });
  // As upstream, apply requests are decoded without the schema. Embedded objects are checked by validation only.
  if (errors.length > 0 && nulls === 'dropped') throw new DecodeError(errors.map(textOf).join(', '));
  try {
    return withDefaults(schema, formed, { keepsNulls: nulls === 'kept' }) as unknown as ApiObject;
  } catch (error) {
    throw error instanceof TooManyDefaultsError ? new DecodeError(error.message, { cause: error }) : error;
  }
}

function textOf({ field, message }: FieldError): string {
  return `${field}: ${message}`;
}

/** Returns the warning for a deprecated version. It recommends the newest version that is not deprecated, if clients prefer that one. */
function deprecationOf(
  { group, wantedNames }: Definition,
  { name, isDeprecated, deprecationWarning }: DefinitionVersion,
  newest: DefinitionVersion | undefined,
): string | undefined {
  if (!isDeprecated) return undefined;
  if (deprecationWarning !== undefined) return deprecationWarning;
  const isNewer = newest !== undefined && byVersionPriority(newest.name, name) < 0;
  const instead = isNewer ? `; use ${group}/${newest.name} ${wantedNames.kind}` : '';
  return `${group}/${name} ${wantedNames.kind} is deprecated${instead}`;
}
