import type { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../../shared/api/types/apps-v1';
import { deepEqual } from '../../../shared/object/clone';
import type { ObjectMeta } from '../../../shared/object/object';
import type { Strategy, WriteInfo } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import { isOn } from '../field-gates';
import { keepsTemplate, withKeptTemplate } from '../pod-template/kept-template';
import { statefulSetRules } from './stateful-sets-rules';
import { workloadStatus } from './workload-status';
import { daemonSetRules, deploymentRules, replicaSetRules } from './workloads-rules';
import { withFirstTemplateGeneration, withNextTemplateGeneration } from './template-generation';

export const deployments: Strategy<Deployment> = {
  metadataChecks: 'old names',
  ...keepsTemplate,
  ...deploymentRules,
  tracksGeneration: true,
  /** Annotations count as desired state here: the controller hands them on to ReplicaSets. */
  prepareForUpdate(next, previous, info) {
    const kept = withKeptTemplate(next, info, previous);
    if (deepEqual(annotationsOf(next.metadata), annotationsOf(previous.metadata))) return kept;
    return { ...kept, metadata: { ...kept.metadata, generation: (previous.metadata.generation ?? 0) + 1 } };
  },
  subresources: {
    status: {
      ...workloadStatus('deployments').status,
      prepareForUpdate(next, previous) {
        const updated = statusSubresource.prepareForUpdate(next, previous);
        const { labels: _labels, ...metadata } = updated.metadata;
        const { labels } = previous.metadata;
        return { ...updated, metadata: { ...metadata, ...(labels === undefined ? {} : { labels }) } };
      },
    },
  },
};

function annotationsOf({ annotations = {} }: ObjectMeta): Readonly<Record<string, string>> {
  return annotations;
}

/** `maxSurge` belongs to a feature that is off by default. */
function withoutSurge(daemonSet: DaemonSet): DaemonSet {
  const { spec } = daemonSet;
  const { updateStrategy } = spec;
  const { rollingUpdate } = updateStrategy;
  if (rollingUpdate?.maxSurge === undefined) return daemonSet;
  const { maxSurge: _surge, ...kept } = rollingUpdate;
  return { ...daemonSet, spec: { ...spec, updateStrategy: { ...updateStrategy, rollingUpdate: kept } } };
}

function keptDaemonSet(daemonSet: DaemonSet, info: WriteInfo, previous?: DaemonSet): DaemonSet {
  const kept = withKeptTemplate(daemonSet, info, previous);
  const hadOne = previous?.spec.updateStrategy.rollingUpdate?.maxSurge !== undefined;
  return hadOne || isOn(info.settings, 'DaemonSetUpdateSurge') ? kept : withoutSurge(kept);
}

export const daemonSets: Strategy<DaemonSet> = {
  ...daemonSetRules,
  tracksGeneration: true,
  prepareForCreate: (object, info) => withFirstTemplateGeneration(keptDaemonSet(object, info)),
  prepareForUpdate: (next, previous, info) =>
    withNextTemplateGeneration(keptDaemonSet(next, info, previous), previous),
  subresources: {
    status: {
      ...workloadStatus('daemonsets').status,
      prepareForUpdate: (next, previous) =>
        withNextTemplateGeneration(statusSubresource.prepareForUpdate(next, previous), previous),
    },
  },
};

export const replicaSets: Strategy<ReplicaSet> = {
  ...keepsTemplate,
  ...replicaSetRules,
  tracksGeneration: true,
  subresources: workloadStatus('replicasets'),
};

export const statefulSets: Strategy<StatefulSet> = {
  ...keepsTemplate,
  ...statefulSetRules,
  tracksGeneration: true,
  subresources: workloadStatus('statefulsets'),
};
