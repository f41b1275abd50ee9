import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import type { Strategy, SubresourceStrategy } from '../../registry/strategy';
import { statusSubresource } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { optionalRecord, record } from '../../../shared/object/accessors';
import { validateCronJob, validateJob, validateJobUpdate } from '../batch/jobs-rules';
import { leaseRules } from '../coordination/leases-rules';
import { withPrivilegeRule } from '../pod-template/privileged-containers';
import { validateStatefulSet, validateStatefulSetUpdate } from './stateful-sets-rules';
import type { WorkloadWithStatus } from './workload-status';
import { validateWorkloadStatus } from './workload-status';
import {
  validateControllerRevision,
  validateControllerRevisionUpdate,
  validateDaemonSet,
  validateDeployment,
  validatePodTemplate,
  validateReplicaSet,
  validateReplicationController,
  validateSelectorUpdate,
} from './workloads-rules';
import { withGeneratedSelector } from '../batch/job-selector';
import { keptTemplate } from '../pod-template/pod-spec-fields';
import { withFirstTemplateGeneration, withNextTemplateGeneration } from './template-generation';

/** `change` applied to the spec, where there is one. */
function withSpec(object: ApiObject, change: (spec: Json) => Json): ApiObject {
  const spec = optionalRecord(object['spec']);
  return spec === undefined ? object : { ...object, spec: change(spec) };
}

function withTemplate(spec: Json): Json {
  return spec['template'] === undefined ? spec : { ...spec, template: keptTemplate(spec['template']) };
}

/** The object with `spec.template` as pods keep it. */
function withKeptTemplate(object: ApiObject): ApiObject {
  return withSpec(object, withTemplate);
}

/** Where most kinds have it. */
const TEMPLATE = 'spec.template';

const keepsTemplate = { prepareForCreate: withKeptTemplate, prepareForUpdate: withKeptTemplate };

function statusOf(kind: WorkloadWithStatus): { readonly status: SubresourceStrategy } {
  return { status: { ...statusSubresource, validateUpdate: validateWorkloadStatus(kind) } };
}

const deployments: Strategy = {
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
      ...statusOf('deployments').status,
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

const daemonSets: Strategy = {
  tracksGeneration: true,
  prepareForCreate: (object) => withFirstTemplateGeneration(withoutSurge(object)),
  prepareForUpdate: (next, previous) => withNextTemplateGeneration(withoutSurge(next), previous),
  validate: validateDaemonSet,
  validateUpdate: validateSelectorUpdate,
  subresources: {
    status: {
      ...statusOf('daemonsets').status,
      prepareForUpdate: (next, previous) =>
        withNextTemplateGeneration(statusSubresource.prepareForUpdate(next, previous), previous),
    },
  },
};

const replicaSets: Strategy = {
  ...keepsTemplate,
  tracksGeneration: true,
  selectableFields: { 'status.replicas': '0' },
  validate: validateReplicaSet,
  validateUpdate: validateSelectorUpdate,
  subresources: statusOf('replicasets'),
};

const statefulSets: Strategy = {
  ...keepsTemplate,
  tracksGeneration: true,
  validate: validateStatefulSet,
  validateUpdate: validateStatefulSetUpdate,
  subresources: statusOf('statefulsets'),
};

/** apps. */
export const apps: Readonly<Record<string, Strategy>> = {
  controllerrevisions: {
    validate: validateControllerRevision,
    validateUpdate: validateControllerRevisionUpdate,
  },
  daemonsets: withPrivilegeRule(daemonSets, TEMPLATE),
  deployments: withPrivilegeRule(deployments, TEMPLATE),
  replicasets: withPrivilegeRule(replicaSets, TEMPLATE),
  statefulsets: withPrivilegeRule(statefulSets, TEMPLATE),
};

/** The spec of a Job as v1.21 keeps it: indexed and suspended Jobs are features that are off there. */
function keptJobSpec(spec: Json): Json {
  const { completionMode: _mode, suspend: _suspend, ...kept } = spec;
  return withTemplate(kept);
}

function withKeptJobTemplate(object: ApiObject): ApiObject {
  return withSpec(object, (spec) => {
    const template = optionalRecord(spec['jobTemplate']);
    if (template === undefined) return spec;
    return { ...spec, jobTemplate: { ...template, spec: keptJobSpec(record(template['spec'])) } };
  });
}

const cronJobs: Strategy = {
  defaultPropagationIn: { v1beta1: 'Orphan' },
  prepareForCreate: withKeptJobTemplate,
  prepareForUpdate: withKeptJobTemplate,
  validate: validateCronJob,
};

const jobs: Strategy = {
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.successful': '0' },
  fieldSources: { 'status.successful': ['status.succeeded'] },
  prepareForCreate: (object) => withGeneratedSelector(withSpec(object, keptJobSpec)),
  prepareForUpdate: (object) => withSpec(object, keptJobSpec),
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  subresources: statusOf('jobs'),
};

/** batch. */
export const batch: Readonly<Record<string, Strategy>> = {
  cronjobs: withPrivilegeRule(cronJobs, 'spec.jobTemplate.spec.template'),
  jobs: withPrivilegeRule(jobs, TEMPLATE),
};

const podTemplates: Strategy = {
  returnsDeletedObject: true,
  prepareForCreate: withKeptOwnTemplate,
  prepareForUpdate: withKeptOwnTemplate,
  validate: validatePodTemplate,
};

const replicationControllers: Strategy = {
  ...keepsTemplate,
  tracksGeneration: true,
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.replicas': '0' },
  validate: validateReplicationController,
  subresources: statusOf('replicationcontrollers'),
};

/** Rows of core that are workloads too. */
export const coreWorkloads: Readonly<Record<string, Strategy>> = {
  podtemplates: withPrivilegeRule(podTemplates, 'template'),
  replicationcontrollers: withPrivilegeRule(replicationControllers, TEMPLATE),
};

function withKeptOwnTemplate(object: ApiObject): ApiObject {
  return object['template'] === undefined
    ? object
    : { ...object, template: keptTemplate(object['template']) };
}

/** coordination. */
export const coordination: Readonly<Record<string, Strategy>> = {
  leases: { createsOnUpdate: true, requiresResourceVersion: true, ...leaseRules },
};
