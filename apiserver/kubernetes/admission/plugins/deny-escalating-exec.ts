import type { Pod } from '../../../../shared/api/types/core-v1';
import type { Concern } from '../plugin';
import { pluginOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from '../../cluster/resources';

const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec']);

const connectionsToContainers: Concern = ({ operation, group, resource, subresource }) =>
  operation === 'CONNECT' &&
  group === PODS.group &&
  resource === PODS.resource &&
  SUBRESOURCES.has(subresource);

/** Refuses exec and attach into pods that have privileges on their host. */
export const denyEscalatingExec = pluginOf(connectionsToContainers, {
  validate(attributes, cluster) {
    const { name, namespace } = attributes.write;
    const pod = cluster.get(PODS, name, namespace);
    if (pod === undefined) throw refusal(attributes, `pods ${JSON.stringify(name)} not found`);
    const why = escalation(pod);
    if (why !== undefined) throw refusal(attributes, why);
  },
});

function escalation({ spec }: Pod): string | undefined {
  const into = 'cannot exec into or attach to a';
  if (spec.hostNetwork === true) return `${into} container using host network`;
  if (spec.hostPID === true) return `${into} container using host pid`;
  if (spec.hostIPC === true) return `${into} container using host ipc`;
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const isPrivileged = containers.some(({ securityContext }) => securityContext?.privileged === true);
  return isPrivileged ? `${into} privileged container` : undefined;
}
