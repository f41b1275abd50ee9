import type { Attack } from './attack';
import { NOISY } from './victim';

const WORDS = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'];
const RBAC = 'rbac.authorization.k8s.io';

/** Names of properties that every JavaScript object inherits, as the kind of a role (prototype pollution). */
export const WORDS_OF_OBJECTS: readonly Attack[] = [
  {
    name: 'F6: role bindings to a `constructor`',
    atOnce: 4,
    round: async (victim, signal) => {
      for (const version of VERSIONS) {
        for (const kind of WORDS) {
          const path = `/apis/${RBAC}/${version}/namespaces/${NOISY}/rolebindings`;
          const body = { metadata: { name: 'x' }, roleRef: { apiGroup: RBAC, kind, name: 'x' } };
          await victim.ask({ method: 'POST', path, body }, signal);
        }
      }
    },
  },
];
