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

/** The role of all nodes; the authorization mode Node restricts it per node. */
export const NODE_ROLE = 'system:node';
const SCHEDULER_ROLE = translated('system:scheduler');

interface PolicyObjects {
  readonly resource: 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings';
  readonly objects: readonly ApiObject[];
}

/** Returns the default roles and bindings in the order of their creation, without those of disabled features. */
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

/** The policy of a gate: a role with the binding of its name, or the rules of a role for these resources only. */
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

/** Builds the objects from contents keyed by name or `namespace/name`. Their bootstrapping label lets later versions extend them. */
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

/** A key with a namespace consists of two names, which `translated` would treat as one unknown name. */
export function identityOf(key: string): ObjectMeta {
  const at = key.indexOf('/');
  if (at < 0) return { name: key };
  return { namespace: translated(key.slice(0, at)), name: translated(key.slice(at + 1)) };
}
