import { forEachLimited } from '../../shared/concurrency/for-each-limited';
import type { ApiObject, ObjectMeta } from '../../shared/meta/object';
import { GROUP } from '../../shared/names';
import type { StoreContext } from '../registry/object-store';
import type { Registry } from '../registry/registry';
import { createMissing } from './create-missing';
import marksData from './data/marks.json';
import objectsData from './data/objects.json';
import policyData from './data/policy.json';
import { translated } from './translate';

/** Objects under way at the same time. */
const CREATIONS_AT_ONCE = 8;

type Content = Readonly<Record<string, unknown>>;

interface FirstObjects {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** By name, or `namespace/name`. */
  readonly contents: Readonly<Record<string, Content>>;
  readonly objectOf: (metadata: ObjectMeta, content: Content) => ApiObject;
}

const marks = translated(marksData);
const objects = translated(objectsData);
const policy = translated(policyData);

/** Objects whose content is their spec. */
const withSpec = (metadata: ObjectMeta, spec: Content): ApiObject => ({ metadata, spec });

/** Rules of access, marked as the server's own, which later versions of the server may extend. */
const withMarks = (metadata: ObjectMeta, { labels, ...content }: Content): ApiObject => ({
  metadata: {
    ...metadata,
    labels: { ...marks.labels, ...(labels as Readonly<Record<string, string>> | undefined) },
    annotations: marks.annotations,
  },
  ...content,
});

const plain = (metadata: ObjectMeta, content: Content): ApiObject => ({ metadata, ...content });

const SCHEDULING = { group: GROUP.scheduling, version: 'v1', objectOf: plain };
const FLOWCONTROL = { group: GROUP.flowcontrol, version: 'v1beta1', objectOf: withSpec };
const RBAC = { group: GROUP.rbac, version: 'v1', objectOf: withMarks };

/** What every cluster has from its first start on, in the order in which it is needed. */
const FIRST_OBJECTS: readonly FirstObjects[] = [
  { ...SCHEDULING, resource: 'priorityclasses', contents: objects.priorityclasses },
  { ...FLOWCONTROL, resource: 'prioritylevelconfigurations', contents: objects.prioritylevelconfigurations },
  { ...FLOWCONTROL, resource: 'flowschemas', contents: objects.flowschemas },
  { ...RBAC, resource: 'clusterroles', contents: policy.clusterroles },
  { ...RBAC, resource: 'clusterrolebindings', contents: policy.clusterrolebindings },
  { ...RBAC, resource: 'roles', contents: policy.roles },
  { ...RBAC, resource: 'rolebindings', contents: policy.rolebindings },
];

/** Creates what is missing of the kinds that are served. What exists is left as it is. */
export async function createFirstObjects(
  store: StoreContext,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  for (const { group, version, resource, contents, objectOf } of FIRST_OBJECTS) {
    const endpoint = registry.endpoint(group, version, resource);
    if (endpoint === undefined) continue;
    await forEachLimited(Object.entries(contents), CREATIONS_AT_ONCE, ([key, content]) =>
      createMissing(store, endpoint, objectOf(identityOf(key), content), signal),
    );
  }
}

/** A key with a namespace holds two names, which `translated` takes for one and leaves alone. */
export function identityOf(key: string): ObjectMeta {
  const at = key.indexOf('/');
  if (at < 0) return { name: key };
  return { namespace: translated(key.slice(0, at)), name: translated(key.slice(at + 1)) };
}
