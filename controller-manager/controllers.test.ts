import { FIELD_GATES, SERVER_GATES } from '../apiserver/kubernetes/kinds/field-gates';
import { DEFAULT_KIND_SETTINGS } from '../apiserver/engine/registry/strategy';
import { policyObjects } from '../apiserver/kubernetes/bootstrap/policy-objects';
import type { ApiObject } from '../shared/object/object';
import { NAMESPACE } from '../shared/names';
import { isOnByDefault } from '../shared/flags/feature-gate-table';
import { controllersWith } from './controllers';
import type { ManagerGate } from './runtime/controller-options';
import { MANAGER_GATES } from './runtime/controller-options';

interface Binding extends ApiObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
  }[];
}

const objects = (...resources: readonly string[]): readonly ApiObject[] =>
  policyObjects({ ...DEFAULT_KIND_SETTINGS, gates: new Set([...FIELD_GATES, ...SERVER_GATES]) })
    .filter(({ resource }) => resources.includes(resource))
    .flatMap((each) => each.objects);
const roles = new Set(objects('clusterroles', 'roles').map(({ metadata }) => metadata.name));
const bindings = objects('clusterrolebindings', 'rolebindings') as readonly Binding[];

/** Returns the rules and the binding that `apiserver/kubernetes/bootstrap/data/policy.json` lacks for this service account. */
function missing(account: string): readonly string[] {
  const name = `system:controller:${account}`;
  const isBound = bindings.some(
    ({ roleRef, subjects = [] }) =>
      roleRef.name === name &&
      subjects.some(
        (subject) =>
          subject.kind === 'ServiceAccount' &&
          subject.namespace === NAMESPACE.system &&
          subject.name === account,
      ),
  );
  return [...(roles.has(name) ? [] : [`the role ${name}`]), ...(isBound ? [] : [`a binding of ${name}`])];
}

/** Their controllers have no role at levels before them. */
const LATER_GATES: readonly ManagerGate[] = ['MultiCIDRServiceAllocator', 'VolumeAttributesClass'];

test('the service account of every controller is bound to a default role of its name', () => {
  // The other gates only add controllers to those of every level.
  const isThere = (gate: ManagerGate): boolean => !LATER_GATES.includes(gate) || isOnByDefault(gate);
  const gates = Object.fromEntries(MANAGER_GATES.map((gate) => [gate, isThere(gate)]));
  const controllers = controllersWith(gates as Parameters<typeof controllersWith>[0]);
  const lacking = controllers.flatMap(({ name, account }) =>
    (account === undefined ? [] : missing(account)).map((what) => `${name} lacks ${what}`),
  );
  expect(lacking).toEqual([]);
});

test('an account without a role is detected', () => {
  expect(missing('made-up-controller')).toEqual([
    'the role system:controller:made-up-controller',
    'a binding of system:controller:made-up-controller',
  ]);
});
