import { deepEqual } from '../../../../shared/object/clone';
import type { Pod } from '../../../../shared/api/types/core-v1';
import type { RuntimeClass } from '../../../../shared/api/types/node-v1';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS, RUNTIME_CLASSES } from '../../cluster/resources';
import { mergedTolerations } from './tolerations';
import { withSpec } from './with-spec';

/** Applies the scheduling constraints and, with the gate, the overhead of a pod's runtime class. */
export const runtimeClass = (hasOverhead: boolean): AdmissionPlugin =>
  pluginOf(writesOf(PODS, ['CREATE']), {
    mutate(attributes, cluster) {
      const { object } = attributes;
      const found = object && classOf(attributes, object, cluster);
      if (object === undefined || found === undefined) return object;
      const pod = hasOverhead ? withOverhead(attributes, object, found) : object;
      return withScheduling(attributes, pod, found);
    },
    validate(attributes, cluster) {
      const { object } = attributes;
      if (object === undefined) return;
      const found = classOf(attributes, object, cluster);
      if (!hasOverhead) return;
      const wanted = found?.overhead?.podFixed;
      const { overhead } = object.spec;
      if (wanted !== undefined && !deepEqual(wanted, overhead)) throw wrongOverhead(attributes);
      if (wanted === undefined && overhead !== undefined) {
        throw refusal(
          attributes,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        );
      }
    },
  });

function classOf(
  attributes: AdmissionAttributes,
  { spec: { runtimeClassName: name } }: Pod,
  cluster: ClusterReader,
): RuntimeClass | undefined {
  if (name === undefined) return undefined;
  const found = cluster.get(RUNTIME_CLASSES, name);
  if (found !== undefined) return found;
  throw refusal(attributes, `pod rejected: RuntimeClass "${name}" not found`);
}

function withOverhead(attributes: AdmissionAttributes, pod: Pod, found: RuntimeClass): Pod {
  const wanted = found.overhead?.podFixed;
  if (wanted === undefined) return pod;
  const given = pod.spec.overhead;
  if (given !== undefined && !deepEqual(given, wanted)) throw wrongOverhead(attributes);
  return withSpec(pod, { overhead: wanted });
}

function wrongOverhead(attributes: AdmissionAttributes): Error {
  return refusal(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function withScheduling(attributes: AdmissionAttributes, pod: Pod, { scheduling }: RuntimeClass): Pod {
  if (scheduling === undefined) return pod;
  const { nodeSelector: own = {}, tolerations: given = [] } = pod.spec;
  const { nodeSelector: wanted = {}, tolerations: added = [] } = scheduling;
  for (const [key, value] of Object.entries(wanted)) {
    const mine = own[key];
    if (mine !== undefined && mine !== value) {
      const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}`;
      throw refusal(attributes, `${why}; pod.spec.nodeSelector[${key}] = ${mine}`);
    }
  }
  const nodeSelector = { ...own, ...wanted };
  const tolerations = mergedTolerations(given, added);
  return withSpec(pod, {
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  });
}
