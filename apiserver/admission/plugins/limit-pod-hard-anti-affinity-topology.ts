import { LABEL } from '../../../shared/names';
import { record, records, text } from '../../../shared/object/accessors';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS } from './resources';
import { specOf } from './with-spec';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** A pod may keep others off its node, and not off a whole zone or region. */
export const limitPodHardAntiAffinityTopology: AdmissionPlugin = {
  concerns: writesOf(PODS, ['CREATE', 'UPDATE']),
  validate(attributes) {
    const affinity = record(specOf(attributes.object)['affinity']);
    for (const term of records(record(affinity['podAntiAffinity'])[REQUIRED])) {
      const key = text(term['topologyKey']);
      if (key !== LABEL.hostname) {
        throw refusal(
          attributes,
          `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${key} but only key ${LABEL.hostname} is allowed`,
        );
      }
    }
  },
};
