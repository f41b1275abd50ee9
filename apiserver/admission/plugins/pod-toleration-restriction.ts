import type { Pod } from '../../../shared/api/types/core-v1';
import type { ApiObject } from '../../../shared/object/object';
import { ANNOTATION, TAINT } from '../../../shared/names';
import type { AdmissionAttributes } from '../../registry/admission';
import { qosClassOf } from '../../kinds/core/pod-qos';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record, records } from '../../../shared/object/accessors';
import type { ClusterReader } from '../cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { writesOf } from '../plugin';
import { refusal } from '../refusal';
import { NAMESPACES, PODS } from './resources';
import { areWithin, mergedTolerations } from './tolerations';
import { specOf, withSpec } from './with-spec';

const UNDER_PRESSURE: Json = { key: TAINT.memoryPressure, operator: 'Exists', effect: 'NoSchedule' };

/** What pods of a namespace tolerate by default, and at most, as the namespace or the configuration of the server says. */
export function podTolerationRestriction(configuration: unknown): AdmissionPlugin {
  const given = record(configuration);
  const fallback = { defaults: records(given['default']), allowed: records(given['whitelist']) };

  const check = (attributes: AdmissionAttributes, pod: ApiObject, cluster: ClusterReader): void => {
    const tolerations = records(specOf(pod)['tolerations']);
    if (tolerations.length === 0) return;
    const ofItsNamespace = ofNamespace(attributes, cluster, ANNOTATION.namespaceTolerationsAllowed);
    const allowed = ofItsNamespace ?? fallback.allowed;
    if (allowed.length === 0 || areWithin(tolerations, allowed)) return;
    const whose = ofItsNamespace === undefined ? 'cluster' : 'namespace';
    throw refusal(
      attributes,
      `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${whose} whitelist`,
    );
  };

  return {
    concerns: writesOf(PODS, ['CREATE', 'UPDATE']),
    mutate(attributes, cluster) {
      const { object, operation } = attributes;
      if (object === undefined) return object;
      const annotation = ANNOTATION.namespaceDefaultTolerations;
      const defaults =
        operation === 'CREATE' ? (ofNamespace(attributes, cluster, annotation) ?? fallback.defaults) : [];
      const isBestEffort = qosClassOf((object as Pod).spec) === 'BestEffort';
      const added = isBestEffort ? defaults : [...defaults, UNDER_PRESSURE];
      const pod = added.length === 0 ? object : withTolerations(object, added);
      check(attributes, pod, cluster);
      return pod;
    },
    validate(attributes, cluster) {
      if (attributes.object !== undefined) check(attributes, attributes.object, cluster);
    },
  };
}

function withTolerations(pod: ApiObject, added: readonly Json[]): ApiObject {
  return withSpec(pod, { tolerations: mergedTolerations(records(specOf(pod)['tolerations']), added) });
}

/** The list in the annotation, where an empty text is an empty list; undefined where the namespace says nothing. */
function ofNamespace(
  attributes: AdmissionAttributes,
  cluster: ClusterReader,
  annotation: string,
): readonly Json[] | undefined {
  const { annotations = {} } = cluster.get(NAMESPACES, attributes.write.namespace)?.metadata ?? {};
  const text = annotations[annotation];
  if (text === undefined) return undefined;
  const list = text === '' ? [] : parsedList(text);
  if (list !== undefined) return list;
  throw refusal(attributes, `the annotation ${annotation} of the namespace is no list of tolerations`);
}

/** A list of JSON objects; undefined for any other text. What cannot be read must not count as a list that restricts nothing. */
function parsedList(text: string): readonly Json[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return [];
    return Array.isArray(value) && value.every((each) => optionalRecord(each) !== undefined)
      ? records(value)
      : undefined;
  } catch {
    return undefined;
  }
}
