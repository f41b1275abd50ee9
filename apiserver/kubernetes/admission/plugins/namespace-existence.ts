import { notFound } from '../../../../shared/errors/status-error';
import type { AdmissionPlugin, Concern } from '../plugin';
import { NAMESPACES } from '../../cluster/resources';

const inNamespaces: Concern = ({ namespaced }) => namespaced;

/** Creates a missing namespace. */
export type ProvideNamespace = (name: string, signal: AbortSignal) => Promise<void>;

/** Refuses writes in a namespace that does not exist. */
export const namespaceExists: AdmissionPlugin = {
  concerns: (subject) => inNamespaces(subject) && subject.operation !== 'CONNECT',
  validate({ write: { namespace } }, cluster) {
    if (namespace !== '' && cluster.get(NAMESPACES, namespace) === undefined) {
      throw notFound(NAMESPACES, namespace);
    }
  },
};

/** Creates the namespace of the first object. A dry run creates none. */
export function namespaceAutoProvision(provide: ProvideNamespace): AdmissionPlugin {
  return {
    concerns: (subject) => inNamespaces(subject) && subject.operation === 'CREATE',
    async mutate({ write: { namespace, dryRun }, object }, cluster, signal) {
      if (!dryRun && namespace !== '' && cluster.get(NAMESPACES, namespace) === undefined) {
        await provide(namespace, signal);
      }
      return object;
    },
  };
}
