import { createHash } from 'node:crypto';
import type { ApiObject } from '../../../shared/object/object';
import { FIELD_GATES, SERVER_GATES } from '../kinds/field-gates';
import { DEFAULT_KIND_SETTINGS } from '../../engine/registry/strategy';
import { loadInDialect } from '../../../shared/testing/load-at-level';
import type * as PolicyObjects from './policy-objects';
import { policyObjects } from './policy-objects';
import facts from './testing/policy-facts.json';

/**
 * `testing/policy-facts.json` holds a digest of every role and binding of kube-apiserver v1.21, in the names of each dialect. It was
 * generated from the project's tables of facts and names of v1.21, independently of the code under test.
 */

const DIALECTS = ['orch', 'kubernetes'] as const;
const RESOURCES = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const;

/**
 * Roles and bindings that the table of facts does not contain: those of controllers whose feature gates are on by default in v1.21, and of
 * controllers that v1.21 does not have.
 */
const BEYOND_FACTS = ['ephemeral-volume-controller', 'ttl-after-finished-controller'].map(
  (name) => `system:controller:${name}`,
);
/** Roles with additional rules, each with a resource of these: by such a gate, or for kinds that v1.21 does not have. */
const EXTENDED: Readonly<Record<string, string>> = {
  'system:scheduler': 'csistoragecapacities',
  'system:kube-scheduler': 'csistoragecapacities',
};

/** The policy of each gate, as in kube-apiserver's bootstrappolicy: roles with their bindings, or rules of a role. */
const OF_GATES: readonly (readonly [gate: string, lost: readonly string[], without: readonly string[]])[] = [
  [
    'ExpandPersistentVolumes',
    ['system:controller:expand-controller'],
    ['system:node persistentvolumeclaims/status'],
  ],
  ['GenericEphemeralVolume', ['system:controller:ephemeral-volume-controller'], []],
  ['TTLAfterFinished', ['system:controller:ttl-after-finished-controller'], []],
  ['APIServerIdentity', ['system:controller:storage-version-garbage-collector'], []],
  ['StorageVersionAPI', ['system:controller:storage-version-garbage-collector'], []],
  ['CSIMigration', [], ['system:controller:attachdetach-controller csinodes']],
  ['CSIStorageCapacity', [], ['system:scheduler csidrivers', 'system:scheduler csistoragecapacities']],
];

const rulesIn = (objects: readonly ApiObject[]): readonly string[] =>
  objects.flatMap((role) =>
    ((role['rules'] ?? []) as readonly { readonly resources?: readonly string[] }[]).flatMap(
      ({ resources = [] }) => resources.map((resource) => `${nameOf(role)} ${resource}`),
    ),
  );

test.each(OF_GATES)('%s off: only the policy of the gate is missing', (gate, lost, without) => {
  const all = [...FIELD_GATES, ...SERVER_GATES];
  const on = policyObjects({ ...DEFAULT_KIND_SETTINGS, gates: new Set(all) });
  const gates = new Set(all.filter((each) => each !== gate));
  const off = policyObjects({ ...DEFAULT_KIND_SETTINGS, gates });
  for (const [index, { resource, objects }] of on.entries()) {
    const kept = off[index]?.objects ?? [];
    const isOfCluster = resource.startsWith('cluster');
    expect(objects.map(nameOf).filter((name) => !kept.map(nameOf).includes(name))).toEqual(
      isOfCluster ? lost : [],
    );
    const others = objects.filter((object) => !lost.includes(nameOf(object)));
    const rules = rulesIn(kept);
    expect(rulesIn(others).filter((each) => !rules.includes(each))).toEqual(
      resource === 'clusterroles' ? without : [],
    );
  }
});

describe.each(DIALECTS)('in the dialect %s', (dialect) => {
  let objectsOf: (resource: string) => readonly ApiObject[] = () => [];

  beforeAll(() => {
    const { policyObjects: ofDialect } = loadInDialect(dialect, () =>
      jest.requireActual<typeof PolicyObjects>('./policy-objects'),
    );
    objectsOf = (resource) => ofDialect().find((each) => each.resource === resource)?.objects ?? [];
  });

  test.each(RESOURCES)('the %s are those of v1.21, each with its content', (resource) => {
    const known: Readonly<Record<string, string>> = facts[dialect][resource];
    const found = objectsOf(resource);
    const names = found.map(nameOf).filter((name) => !BEYOND_FACTS.includes(name));
    expect(names.toSorted()).toEqual(Object.keys(known).toSorted());
    const other = found.filter(
      (object) => isKnown(nameOf(object)) && digestOf(object) !== known[nameOf(object)],
    );
    // Their rules differ from those of v1.21. A role with more of them on purpose is named in EXTENDED.
    expect(other.map(nameOf)).toEqual([]);
  });

  test('every object beyond the facts exists', () => {
    const roles = objectsOf('clusterroles');
    expect(roles.map(nameOf)).toEqual(expect.arrayContaining(BEYOND_FACTS));
    const extended = roles.filter((role) => Object.hasOwn(EXTENDED, nameOf(role)));
    expect(extended).not.toEqual([]);
    const without = extended.filter((role) => !JSON.stringify(role).includes(EXTENDED[nameOf(role)] ?? '-'));
    expect(without.map(nameOf)).toEqual([]);
  });
});

function isKnown(name: string): boolean {
  return !BEYOND_FACTS.includes(name) && !Object.hasOwn(EXTENDED, name);
}

function nameOf({ metadata: { name = '', namespace = '' } }: ApiObject): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** Returns the first 16 hexadecimal digits of the SHA-256 of the compact JSON with sorted keys. */
function digestOf(object: ApiObject): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(object)))
    .digest('hex')
    .slice(0, 16);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}
