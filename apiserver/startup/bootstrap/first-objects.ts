import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import { GROUP } from '../../../shared/names';
import type { WriteContext } from '../../registry/write-context';
import type { Registry } from '../../registry/registry';
import { createMissing } from './create-missing';
import objectsData from './data/objects.json';
import { translated } from './translate';

/** Objects under way at the same time. */
const CREATIONS_AT_ONCE = 8;

type Content = Readonly<Record<string, unknown>>;

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
const FLOWCONTROL = { group: GROUP.flowcontrol, version: 'v1beta1', objectOf: withSpec };

/** What every cluster has from its first start on besides its policy, in the order in which it is needed. */
const FIRST_OBJECTS: readonly FirstObjects[] = [
  { ...SCHEDULING, resource: 'priorityclasses', contents: objects.priorityclasses },
  { ...FLOWCONTROL, resource: 'prioritylevelconfigurations', contents: objects.prioritylevelconfigurations },
  { ...FLOWCONTROL, resource: 'flowschemas', contents: objects.flowschemas },
];

/** Creates what is missing of the kinds that are served. What exists is left as it is. */
export async function createFirstObjects(
  store: WriteContext,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  for (const { group, version, resource, contents, objectOf } of FIRST_OBJECTS) {
    const endpoint = registry.endpoint(group, version, resource);
    if (endpoint === undefined) continue;
    await forEachLimited(Object.entries(contents), CREATIONS_AT_ONCE, ([name, content]) =>
      createMissing(store, endpoint, objectOf({ name }, content), signal),
    );
  }
}
