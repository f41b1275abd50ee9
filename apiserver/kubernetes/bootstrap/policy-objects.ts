import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import marksData from './data/marks.json';
import policyData from './data/policy.json';
import { translated } from './translate';
import type { KindGate } from '../kinds/field-gates';
import { isOn } from '../kinds/field-gates';
import type { KindSettings } from '../../engine/registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';

interface Content {
  readonly labels?: Readonly<Record<string, string>>;
  readonly aggregationRule?: object;
  readonly roleRef?: object;
  readonly rules?: readonly {
    readonly resources?: readonly string[];
    readonly nonResourceURLs?: readonly string[];
  }[];
}

const marks = translated(marksData);
const policy = translated(policyData);

/** What all nodes may do, whom the mode Node tells apart. */
export const NODE_ROLE = 'system:node';
const SCHEDULER_ROLE = translated('system:scheduler');

interface PolicyObjects {
  readonly resource: 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings';
  readonly objects: readonly ApiObject[];
}

/** The roles and bindings that every cluster has, in the order in which they are written, without those of features that are off. */
export function policyObjects(settings: KindSettings = DEFAULT_KIND_SETTINGS): readonly PolicyObjects[] {
  return [
    { resource: 'clusterroles', objects: objectsOf(rolesWith(settings)) },
    {
      resource: 'clusterrolebindings',
      objects: objectsOf(withoutGated(policy.clusterrolebindings, settings)),
    },
    { resource: 'roles', objects: objectsOf(policy.roles) },
    { resource: 'rolebindings', objects: objectsOf(policy.rolebindings) },
  ];
}

/** What a gate adds to the policy: a whole role with the binding of its name, or the rules of a role that speak of these resources alone. */
interface GatedPolicy {
  readonly gate: KindGate;
  readonly role: string;
  readonly resources?: readonly string[];
}

const GATED: readonly GatedPolicy[] = [
  { gate: 'ExpandPersistentVolumes', role: 'system:controller:expand-controller' },
  { gate: 'GenericEphemeralVolume', role: 'system:controller:ephemeral-volume-controller' },
  { gate: 'TTLAfterFinished', role: 'system:controller:ttl-after-finished-controller' },
  { gate: 'ExpandPersistentVolumes', role: NODE_ROLE, resources: ['persistentvolumeclaims/status'] },
  { gate: 'APIServerIdentity', role: 'system:controller:storage-version-garbage-collector' },
  { gate: 'StorageVersionAPI', role: 'system:controller:storage-version-garbage-collector' },
  { gate: 'CSIMigration', role: 'system:controller:attachdetach-controller', resources: ['csinodes'] },
  { gate: 'CSIStorageCapacity', role: SCHEDULER_ROLE, resources: ['csidrivers', 'csistoragecapacities'] },
];

function rolesWith(settings: KindSettings): Readonly<Record<string, Content>> {
  const roles = Object.entries(withoutGated(policy.clusterroles, settings));
  return Object.fromEntries(roles.map(([name, role]) => [name, withoutGatedRules(name, role, settings)]));
}

function withoutGated<T>(
  contents: Readonly<Record<string, T>>,
  settings: KindSettings,
): Readonly<Record<string, T>> {
  const off = GATED.filter(({ gate, resources }) => resources === undefined && !isOn(settings, gate));
  return Object.fromEntries(
    Object.entries(contents).filter(([name]) => !off.some(({ role }) => role === name)),
  );
}

function withoutGatedRules(name: string, role: Content, settings: KindSettings): Content {
  const off = GATED.filter(({ gate, role: of }) => of === name && !isOn(settings, gate)).flatMap(
    ({ resources = [] }) => resources,
  );
  if (off.length === 0) return role;
  return {
    ...role,
    rules: (role.rules ?? []).filter(
      ({ resources = [] }) => resources.length === 0 || !resources.every((each) => off.includes(each)),
    ),
  };
}

/** By name, or `namespace/name`. All are marked as the server's own, which later versions of the server may extend. */
function objectsOf(contents: Readonly<Record<string, Content>>): readonly ApiObject[] {
  return Object.entries(contents).map(([key, { labels, ...content }]) => ({
    metadata: {
      ...identityOf(key),
      labels: { ...marks.labels, ...labels },
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
