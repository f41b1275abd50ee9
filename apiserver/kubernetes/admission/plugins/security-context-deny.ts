import type { Pod } from '../../../../shared/api/types/core-v1';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from '../../cluster/resources';

const OF_PODS = [
  ['supplementalGroups', 'pod.Spec.SecurityContext.SupplementalGroups'],
  ['seLinuxOptions', 'pod.Spec.SecurityContext.SELinuxOptions'],
  ['runAsUser', 'pod.Spec.SecurityContext.RunAsUser'],
  ['fsGroup', 'pod.Spec.SecurityContext.FSGroup'],
] as const;
const OF_CONTAINERS = [
  ['seLinuxOptions', 'SecurityContext.SELinuxOptions'],
  ['runAsUser', 'SecurityContext.RunAsUser'],
] as const;

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** Refuses pods that set their own security context. */
export const securityContextDeny = pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
  validate(attributes) {
    const field = attributes.object && chosenField(attributes.object);
    if (field !== undefined) throw refusal(attributes, `${field} is forbidden`);
  },
});

function chosenField({ spec }: Pod): string | undefined {
  const ofPod = OF_PODS.find(([name]) => spec.securityContext?.[name] !== undefined);
  if (ofPod !== undefined) return ofPod[1];
  const contexts = CONTAINER_LISTS.flatMap((list) => spec[list] ?? []).map((each) => each.securityContext);
  return OF_CONTAINERS.find(([name]) => contexts.some((each) => each?.[name] !== undefined))?.[1];
}
