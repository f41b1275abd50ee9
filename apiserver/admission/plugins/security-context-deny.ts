import type { ApiObject } from '../../../shared/object/object';
import { record, records } from '../../../shared/object/accessors';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from './resources';
import { specOf } from './with-spec';

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

/** Pods may not choose who they are on the node. */
export const securityContextDeny: AdmissionPlugin = {
  concerns: writesOf(PODS, ['CREATE', 'UPDATE']),
  validate(attributes) {
    const field = attributes.object && chosenField(attributes.object);
    if (field !== undefined) throw refusal(attributes, `${field} is forbidden`);
  },
};

function chosenField(pod: ApiObject): string | undefined {
  const spec = specOf(pod);
  const context = record(spec['securityContext']);
  const ofPod = OF_PODS.find(([name]) => context[name] !== undefined);
  if (ofPod !== undefined) return ofPod[1];
  const contexts = ['initContainers', 'containers', 'ephemeralContainers']
    .flatMap((list) => records(spec[list]))
    .map((container) => record(container['securityContext']));
  return OF_CONTAINERS.find(([name]) => contexts.some((each) => each[name] !== undefined))?.[1];
}
