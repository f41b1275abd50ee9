import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import marksData from './data/marks.json';
import policyData from './data/policy.json';
import { translated } from './translate';

type Content = Readonly<Record<string, unknown>>;

const marks = translated(marksData);
const policy = translated(policyData);

/** The roles and bindings that every cluster has, in the order in which they are written. */
export const POLICY_OBJECTS: readonly {
  readonly resource: 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings';
  readonly objects: readonly ApiObject[];
}[] = [
  { resource: 'clusterroles', objects: objectsOf(policy.clusterroles) },
  { resource: 'clusterrolebindings', objects: objectsOf(policy.clusterrolebindings) },
  { resource: 'roles', objects: objectsOf(policy.roles) },
  { resource: 'rolebindings', objects: objectsOf(policy.rolebindings) },
];

/** By name, or `namespace/name`. All are marked as the server's own, which later versions of the server may extend. */
function objectsOf(contents: Readonly<Record<string, Content>>): readonly ApiObject[] {
  return Object.entries(contents).map(([key, { labels, ...content }]) => ({
    metadata: {
      ...identityOf(key),
      labels: { ...marks.labels, ...(labels as Readonly<Record<string, string>> | undefined) },
      annotations: marks.annotations,
    },
    ...content,
  }));
}

/** A key with a namespace holds two names, which `translated` takes for one and leaves alone. */
export function identityOf(key: string): ObjectMeta {
  const at = key.indexOf('/');
  if (at < 0) return { name: key };
  return { namespace: translated(key.slice(0, at)), name: translated(key.slice(at + 1)) };
}
