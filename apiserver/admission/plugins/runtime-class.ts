import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import type { AdmissionAttributes } from '../../registry/admission';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, optionalText, record, records, stringMap } from '../../../shared/object/accessors';
import type { ClusterReader } from '../cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { refusal } from '../refusal';
import { PODS, RUNTIME_CLASSES } from './resources';
import { mergedTolerations } from './tolerations';
import { specOf, withSpec } from './with-spec';

/** A pod of a runtime class gets what the class says of overhead and of the nodes it runs on. */
export const runtimeClass: AdmissionPlugin = {
  concerns: writesOf(PODS, ['CREATE']),
  mutate(attributes, cluster) {
    const { object } = attributes;
    const found = object && classOf(attributes, object, cluster);
    if (object === undefined || found === undefined) return object;
    return withScheduling(attributes, withOverhead(attributes, object, found), found);
  },
  validate(attributes, cluster) {
    const { object } = attributes;
    if (object === undefined) return;
    const wanted = overheadOf(classOf(attributes, object, cluster));
    const overhead = optionalRecord(specOf(object)['overhead']);
    if (wanted !== undefined && !deepEqual(wanted, overhead)) throw wrongOverhead(attributes);
    if (wanted === undefined && overhead !== undefined) {
      throw refusal(
        attributes,
        'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      );
    }
  },
};

function classOf(
  attributes: AdmissionAttributes,
  pod: ApiObject,
  cluster: ClusterReader,
): ApiObject | undefined {
  const name = optionalText(specOf(pod)['runtimeClassName']);
  if (name === undefined) return undefined;
  const found = cluster.get(RUNTIME_CLASSES, name);
  if (found !== undefined) return found;
  throw refusal(attributes, `pod rejected: RuntimeClass "${name}" not found`);
}

function overheadOf(found: ApiObject | undefined): Json | undefined {
  const overhead = optionalRecord(found?.['overhead']);
  return overhead && optionalRecord(overhead['podFixed']);
}

function withOverhead(attributes: AdmissionAttributes, pod: ApiObject, found: ApiObject): ApiObject {
  const wanted = overheadOf(found);
  if (wanted === undefined) return pod;
  const given = optionalRecord(specOf(pod)['overhead']);
  if (given !== undefined && !deepEqual(given, wanted)) throw wrongOverhead(attributes);
  return withSpec(pod, { overhead: wanted });
}

function wrongOverhead(attributes: AdmissionAttributes): Error {
  return refusal(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function withScheduling(attributes: AdmissionAttributes, pod: ApiObject, found: ApiObject): ApiObject {
  const scheduling = optionalRecord(found['scheduling']);
  if (scheduling === undefined) return pod;
  const spec = specOf(pod);
  const own = stringMap(record(spec['nodeSelector']));
  const wanted = stringMap(record(scheduling['nodeSelector']));
  for (const [key, value] of Object.entries(wanted)) {
    const mine = own[key];
    if (mine !== undefined && mine !== value) {
      const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}`;
      throw refusal(attributes, `${why}; pod.spec.nodeSelector[${key}] = ${mine}`);
    }
  }
  const nodeSelector = { ...own, ...wanted };
  const tolerations = mergedTolerations(records(spec['tolerations']), records(scheduling['tolerations']));
  return withSpec(pod, {
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  });
}
