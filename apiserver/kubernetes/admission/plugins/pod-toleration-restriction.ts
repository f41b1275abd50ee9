import type { Pod, Toleration } from '../../../../shared/api/types/core-v1';
import { ANNOTATION, TAINT } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { qosClassOf } from '../../kinds/core/pods/pod-qos';
import { fieldsOf, records } from '../../../../shared/object/accessors';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { NAMESPACES, PODS } from '../../cluster/resources';
import { areWithin, mergedTolerations } from './tolerations';
import { withSpec } from './with-spec';
import { writtenTolerations } from './written-tolerations';

const UNDER_PRESSURE: Toleration = { key: TAINT.memoryPressure, operator: 'Exists', effect: 'NoSchedule' };

interface Configuration {
  readonly default: readonly Toleration[];
  readonly whitelist: readonly Toleration[];
}

/** Applies default and allowed tolerations of the namespace or of the configuration to pods. */
export function podTolerationRestriction(configuration: unknown): AdmissionPlugin {
  const given = fieldsOf<Configuration>(configuration);
  const fallback = { defaults: tolerationsIn(given.default), allowed: tolerationsIn(given.whitelist) };

  const check = (attributes: AdmissionAttributes, pod: Pod, cluster: ClusterReader): void => {
    const { tolerations = [] } = pod.spec;
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

  return pluginOf(writesOf(PODS, ['CREATE', 'UPDATE']), {
    mutate(attributes, cluster) {
      const { object, operation } = attributes;
      if (object === undefined) return object;
      const annotation = ANNOTATION.namespaceDefaultTolerations;
      const defaults =
        operation === 'CREATE' ? (ofNamespace(attributes, cluster, annotation) ?? fallback.defaults) : [];
      const isBestEffort = qosClassOf(object.spec) === 'BestEffort';
      const added = isBestEffort ? defaults : [...defaults, UNDER_PRESSURE];
      const pod = added.length === 0 ? object : withTolerations(object, added);
      check(attributes, pod, cluster);
      return pod;
    },
    validate(attributes, cluster) {
      if (attributes.object !== undefined) check(attributes, attributes.object, cluster);
    },
  });
}

function withTolerations(pod: Pod, added: readonly Toleration[]): Pod {
  return withSpec(pod, { tolerations: mergedTolerations(pod.spec.tolerations ?? [], added) });
}

/** Configuration and annotations are unvalidated: only objects are certain. */
function tolerationsIn(list: unknown): readonly Toleration[] {
  return records(list);
}

/** Returns the annotation's list, where an empty text is an empty list; undefined without an annotation. */
function ofNamespace(
  attributes: AdmissionAttributes,
  cluster: ClusterReader,
  annotation: string,
): readonly Toleration[] | undefined {
  const { annotations = {} } = cluster.get(NAMESPACES, attributes.write.namespace)?.metadata ?? {};
  const text = annotations[annotation];
  if (text === undefined) return undefined;
  const list = writtenTolerations(text);
  if (typeof list !== 'string') return list;
  throw refusal(attributes, list);
}
