import { RESOURCE } from '../../../shared/api/resource-names';
import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Registry } from '../../engine/registry/registry';
import { createMissing } from './create-missing';
import objectsData from './data/objects.json';
import { contentsAtLevel, translated } from './translate';

/** Maximum number of concurrent creations. */
const CREATIONS_AT_ONCE = 8;

type Content = Readonly<Record<string, unknown>>;

/** If this level is missing, the store was never initialized: it is created last. */
const LAST_LEVEL = 'exempt';

interface FirstObjects {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Keyed by name. */
  readonly contents: Readonly<Record<string, Content>>;
  readonly objectOf: (metadata: ObjectMeta, content: Content) => ApiObject;
}

/** Builds an object whose content is its spec. */
const withSpec = (metadata: ObjectMeta, spec: Content): ApiObject => ({ metadata, spec });

const plain = (metadata: ObjectMeta, content: Content): ApiObject => ({ metadata, ...content });

const SCHEDULING = { group: GROUP.scheduling, version: 'v1', objectOf: plain };
const FLOWCONTROL = { group: GROUP.flowcontrol, version: RESOURCE.flowschemas.version, objectOf: withSpec };
const LEVELS = 'prioritylevelconfigurations';

/** The objects that every cluster has from its first start besides the RBAC policy, in the order of their dependencies. */
function firstObjects(): readonly FirstObjects[] {
  return [{ ...SCHEDULING, resource: 'priorityclasses', contents: contentsOf(objectsData.priorityclasses) }];
}

/** `flow-objects` restores the mandatory objects. The others are suggested, and an administrator may delete them permanently. */
function suggestedObjects(): readonly FirstObjects[] {
  const { [LAST_LEVEL]: last = {}, ...levels } = contentsOf(objectsData.prioritylevelconfigurations);
  return [
    { ...FLOWCONTROL, resource: LEVELS, contents: levels },
    { ...FLOWCONTROL, resource: 'flowschemas', contents: contentsOf(objectsData.flowschemas) },
    { ...FLOWCONTROL, resource: LEVELS, contents: { [LAST_LEVEL]: last } },
  ];
}

/** The contents in the dialect of this process. Only a start with an empty store needs them. */
function contentsOf(contents: object): Readonly<Record<string, Content>> {
  return contentsAtLevel(translated(contents) as Readonly<Record<string, Content>>);
}

/**
 * Creates the missing objects of served kinds and keeps existing ones. Suggested objects are created only in a new store, as in
 * kube-apiserver.
 */
export async function createFirstObjects(
  store: WriteContext,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  for (const each of firstObjects()) await createEach(store, registry, each, signal);
  const levels = registry.endpoint(GROUP.flowcontrol, RESOURCE.prioritylevelconfigurations.version, LEVELS);
  if (levels === undefined) return;
  const cached = store.cache.resource(levels.stored.keyPrefix);
  // During a cache reload, existing objects would seem to be missing.
  await cached.whenReady(signal);
  if (cached.get(LAST_LEVEL) !== undefined) return;
  for (const each of suggestedObjects()) await createEach(store, registry, each, signal);
}

async function createEach(
  store: WriteContext,
  registry: Registry,
  { group, version, resource, contents, objectOf }: FirstObjects,
  signal: AbortSignal,
): Promise<void> {
  const endpoint = registry.endpoint(group, version, resource);
  if (endpoint === undefined) return;
  await forEachLimited(Object.entries(contents), CREATIONS_AT_ONCE, ([name, content]) =>
    createMissing(store, endpoint, objectOf({ name }, content), signal),
  );
}
