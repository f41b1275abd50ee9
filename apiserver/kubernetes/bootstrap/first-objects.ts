import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import type { WriteContext } from '../../engine/registry/write-context';
import type { Registry } from '../../engine/registry/registry';
import { createMissing } from './create-missing';
import objectsData from './data/objects.json';
import { translated } from './translate';

/** Objects under way at the same time. */
const CREATIONS_AT_ONCE = 8;

type Content = Readonly<Record<string, unknown>>;

/** As long as this one is missing, the store has not been filled before: it is made last. */
const LAST_LEVEL = 'exempt';

interface FirstObjects {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** By name. */
  readonly contents: Readonly<Record<string, Content>>;
  readonly objectOf: (metadata: ObjectMeta, content: Content) => ApiObject;
}

const objects = translated(objectsData);

/** Objects whose content is their spec. */
const withSpec = (metadata: ObjectMeta, spec: Content): ApiObject => ({ metadata, spec });

const plain = (metadata: ObjectMeta, content: Content): ApiObject => ({ metadata, ...content });

const SCHEDULING = { group: GROUP.scheduling, version: 'v1', objectOf: plain };

/** What every cluster has from its first start on besides its policy, in the order in which it is needed. */
const FIRST_OBJECTS: readonly FirstObjects[] = [
  { ...SCHEDULING, resource: 'priorityclasses', contents: objects.priorityclasses },
];

const FLOWCONTROL = { group: GROUP.flowcontrol, version: 'v1beta1', objectOf: withSpec };
const LEVELS = 'prioritylevelconfigurations';

/** Of these, those that are mandatory are kept by `flow-objects`; the others are suggestions, which an administrator may remove for good. */
const SUGGESTED_OBJECTS: readonly FirstObjects[] = [
  { ...FLOWCONTROL, resource: LEVELS, contents: without(objects.prioritylevelconfigurations, LAST_LEVEL) },
  { ...FLOWCONTROL, resource: 'flowschemas', contents: objects.flowschemas },
  {
    ...FLOWCONTROL,
    resource: LEVELS,
    contents: { [LAST_LEVEL]: objects.prioritylevelconfigurations[LAST_LEVEL] },
  },
];

/**
 * Creates what is missing of the kinds that are served, and leaves what exists as it is. Suggested objects are created in a new store only,
 * as kube-apiserver does it.
 */
export async function createFirstObjects(
  store: WriteContext,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  for (const each of FIRST_OBJECTS) await createEach(store, registry, each, signal);
  const levels = registry.endpoint(GROUP.flowcontrol, 'v1beta1', LEVELS);
  if (levels === undefined) return;
  const cached = store.cache.resource(levels.stored.keyPrefix);
  // Objects that are being read anew would look as if they were missing.
  await cached.whenReady(signal);
  if (cached.get(LAST_LEVEL) !== undefined) return;
  for (const each of SUGGESTED_OBJECTS) await createEach(store, registry, each, signal);
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

function without(
  contents: Readonly<Record<string, Content>>,
  name: string,
): Readonly<Record<string, Content>> {
  return Object.fromEntries(Object.entries(contents).filter(([each]) => each !== name));
}
