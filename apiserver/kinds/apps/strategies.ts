import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import type { Strategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import { optionalRecord, record } from '../../../shared/object/accessors';
import { keepsTemplate, withKeptTemplate, withSpec } from '../pod-template/kept-template';
import { validateStatefulSet, validateStatefulSetUpdate } from './stateful-sets-rules';
import { workloadStatus } from './workload-status';
import {
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateSelectorUpdate,
} from './workloads-rules';
import { withFirstTemplateGeneration, withNextTemplateGeneration } from './template-generation';

export const deployments: Strategy = {
  ...keepsTemplate,
  tracksGeneration: true,
  /** Annotations count as desired state here: the controller hands them on to ReplicaSets. */
  prepareForUpdate(next, previous) {
    const kept = withKeptTemplate(next);
    if (deepEqual(annotationsOf(next), annotationsOf(previous))) return kept;
    return { ...kept, metadata: { ...kept.metadata, generation: (previous.metadata.generation ?? 0) + 1 } };
  },
  validate: validateDeployment,
  validateUpdate: validateSelectorUpdate,
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

function annotationsOf({ metadata }: ApiObject): Readonly<Record<string, string>> {
  return metadata.annotations ?? {};
}

/** `maxSurge` belongs to a feature that is off in v1.21. */
function withoutSurge(object: ApiObject): ApiObject {
  return withSpec(withKeptTemplate(object), (spec) => {
    const strategy = record(spec['updateStrategy']);
    const rolling = optionalRecord(strategy['rollingUpdate']);
    if (rolling?.['maxSurge'] === undefined) return spec;
    const { maxSurge: _surge, ...kept } = rolling;
    return { ...spec, updateStrategy: { ...strategy, rollingUpdate: kept } };
  });
}

export const daemonSets: Strategy = {
  tracksGeneration: true,
  prepareForCreate: (object) => withFirstTemplateGeneration(withoutSurge(object)),
  prepareForUpdate: (next, previous) => withNextTemplateGeneration(withoutSurge(next), previous),
  validate: validateDaemonSet,
  validateUpdate: validateSelectorUpdate,
  subresources: {
    status: {
      ...workloadStatus('daemonsets').status,
      prepareForUpdate: (next, previous) =>
        withNextTemplateGeneration(statusSubresource.prepareForUpdate(next, previous), previous),
    },
  },
};

export const replicaSets: Strategy = {
  ...keepsTemplate,
  tracksGeneration: true,
  selectableFields: { 'status.replicas': '0' },
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUpdate,
  subresources: workloadStatus('replicasets'),
};

export const statefulSets: Strategy = {
  ...keepsTemplate,
  tracksGeneration: true,
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  subresources: workloadStatus('statefulsets'),
};
