import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import type { Revised, Spanned } from '../../../shared/api-level';
import { isAtLevel } from '../../../shared/api-level';
import marksData from './data/marks.json';
import policyData from './data/policy.json';
import { contentsAtLevel, translated } from './translate';
import type { KindGate } from '../kinds/field-gates';
import { isOn } from '../kinds/field-gates';
import type { KindSettings } from '../../engine/registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';

interface Content extends Revised<Content> {
  readonly labels?: Readonly<Record<string, string>>;
  readonly aggregationRule?: object;
  readonly roleRef?: object;
  readonly rules?: readonly Rule[];
  /** The feature gate of the object. */
  readonly gate?: string;
}

interface Rule extends Spanned {
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  /** The feature gate of the rule. */
  readonly gate?: string;
}

type Policy = Readonly<Record<PolicyObjects['resource'], Readonly<Record<string, Content>>>>;

/** The data in the names of the dialect, translated at the first use. */
let policyOfDialect: Policy | undefined;

function policy(): Policy {
  policyOfDialect ??= translated(policyData) as unknown as Policy;
  return policyOfDialect;
}

const marks = translated(marksData);

/** The role of all nodes; the authorization mode Node restricts it per node. */
export const NODE_ROLE = 'system:node';
const SCHEDULER_ROLE = translated('system:scheduler');

interface PolicyObjects {
  readonly resource: 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings';
  readonly objects: readonly ApiObject[];
}

/** Returns the default roles and bindings in the order of their creation, without those of disabled features. */
export function policyObjects(settings: KindSettings = DEFAULT_KIND_SETTINGS): readonly PolicyObjects[] {
  const { roles, rolebindings, clusterrolebindings } = policy();
  return [
    { resource: 'clusterroles', objects: objectsOf(rolesWith(settings)) },
    { resource: 'clusterrolebindings', objects: objectsOf(withoutGated(clusterrolebindings, settings)) },
    { resource: 'roles', objects: objectsOf(withoutGated(roles, settings)) },
    { resource: 'rolebindings', objects: objectsOf(withoutGated(rolebindings, settings)) },
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
  const roles = Object.entries(withoutGated(policy().clusterroles, settings));
  return Object.fromEntries(roles.map(([name, role]) => [name, withoutGatedRules(name, role, settings)]));
}

/** Returns what the API level has, without what belongs to gates that are off. */
function withoutGated(
  contents: Readonly<Record<string, Content>>,
  settings: KindSettings,
): Readonly<Record<string, Content>> {
  const off = GATED.filter(({ gate, resources }) => resources === undefined && !isOn(settings, gate));
  return Object.fromEntries(
    Object.entries(contentsAtLevel(contents)).filter(
      ([name, { gate }]) => !off.some(({ role }) => role === name) && isGateOn(gate, settings),
    ),
  );
}

function isGateOn(gate: string | undefined, settings: KindSettings): boolean {
  return gate === undefined || isOn(settings, gate as KindGate);
}

function withoutGatedRules(name: string, role: Content, settings: KindSettings): Content {
  const off = GATED.filter(({ gate, role: of }) => of === name && !isOn(settings, gate)).flatMap(
    ({ resources = [] }) => resources,
  );
  const { rules } = role;
  if (rules === undefined) return role;
  const kept = rules.filter(
    ({ resources = [], gate, ...spanned }) =>
      isAtLevel(spanned) &&
      isGateOn(gate, settings) &&
      (resources.length === 0 || !resources.every((each) => off.includes(each))),
  );
  return { ...role, rules: kept.map(({ since: _since, until: _until, gate: _gate, ...rule }) => rule) };
}

/** Builds the objects from contents keyed by name or `namespace/name`. Their bootstrapping label lets later versions extend them. */
function objectsOf(contents: Readonly<Record<string, Content>>): readonly ApiObject[] {
  return Object.entries(contents).map(([key, { labels, gate: _gate, ...content }]) => ({
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
