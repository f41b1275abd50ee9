import { withNextGeneration } from '../../../../shared/meta/generation';
import type {
  DaemonSet,
  Deployment,
  ReplicaSet,
  RollingUpdateDaemonSet,
  StatefulSet,
} from '../../../../shared/api/types/apps-v1';
import { deepEqual } from '../../../../shared/object/clone';
import type { ObjectMeta } from '../../../../shared/object/object';
import type { IntOrString } from '../../../../shared/object/values';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
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
  resets: { status: ['metadata.labels'] },
  /** Annotations count as desired state here: the controller hands them on to ReplicaSets. */
  prepareForUpdate(next, previous, info) {
    const kept = withKeptTemplate(next, info, previous);
    if (deepEqual(annotationsOf(next.metadata), annotationsOf(previous.metadata))) return kept;
    return withNextGeneration(kept, previous);
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

/** `maxSurge` belongs to a feature that is off by default: it is none then, unless there has been some. */
function keptDaemonSet(daemonSet: DaemonSet, info: WriteInfo, previous?: DaemonSet): DaemonSet {
  const kept = withKeptTemplate(daemonSet, info, previous);
  if (isOn(info.settings, 'DaemonSetUpdateSurge')) return kept;
  const { updateStrategy } = kept.spec;
  const { rollingUpdate } = updateStrategy;
  if (rollingUpdate === undefined) return kept;
  const hadSome = !isNone(previous?.spec.updateStrategy.rollingUpdate?.maxSurge);
  const settled = hadSome ? withoutZeroShare(rollingUpdate) : { ...rollingUpdate, maxSurge: 0 };
  return { ...kept, spec: { ...kept.spec, updateStrategy: { ...updateStrategy, rollingUpdate: settled } } };
}

/** Without the feature some pods must be allowed to be missing. Upstream sees to it for this one way of writing none. */
function withoutZeroShare(rollingUpdate: RollingUpdateDaemonSet): RollingUpdateDaemonSet {
  return rollingUpdate.maxUnavailable === '0%' ? { ...rollingUpdate, maxUnavailable: 1 } : rollingUpdate;
}

function isNone(share: IntOrString | undefined): boolean {
  return share === undefined || share === 0 || share === '';
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
