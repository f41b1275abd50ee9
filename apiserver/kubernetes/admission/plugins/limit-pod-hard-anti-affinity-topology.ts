import { LABEL } from '../../../../shared/names';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from '../../cluster/resources';

/** Required pod anti-affinity may use only the hostname topology. */
export const limitPodHardAntiAffinityTopology = pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
  validate(attributes) {
    const { podAntiAffinity } = attributes.object?.spec.affinity ?? {};
    for (const { topologyKey: key } of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ??
      []) {
      if (key !== LABEL.hostname) {
        throw refusal(
          attributes,
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${key} but only key ${LABEL.hostname} is allowed`,
        );
      }
    }
  },
});
