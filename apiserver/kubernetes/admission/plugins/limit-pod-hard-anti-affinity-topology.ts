import { LABEL } from '../../../../shared/names';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from '../../cluster/resources';

/** A pod may keep others off its node, and not off a whole zone or region. */
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
