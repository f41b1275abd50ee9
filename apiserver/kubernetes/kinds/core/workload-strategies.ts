import type { PodTemplate, ReplicationController } from '../../../../shared/api/types/core-v1';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { podTemplateRules, replicationControllerRules } from '../apps/workloads-rules';
import { labelledWorkloadStatus } from '../apps/workload-status';
import { keepsTemplate } from '../pod-template/kept-template';
import { keptTemplate } from '../pod-template/pod-spec-fields';

export const podTemplates: Strategy<PodTemplate> = {
  metadataChecks: 'old names',
  ...podTemplateRules,
  returnsDeletedObject: true,
  prepareForCreate: (object, info) => withKeptOwnTemplate(object, info),
  prepareForUpdate: (next, previous, info) => withKeptOwnTemplate(next, info, previous),
};

export const replicationControllers: Strategy<ReplicationController> = {
  ...keepsTemplate,
  ...replicationControllerRules,
  tracksGeneration: true,
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.replicas': '0' },
  subresources: labelledWorkloadStatus('replicationcontrollers'),
};

function withKeptOwnTemplate(object: PodTemplate, info: WriteInfo, previous?: PodTemplate): PodTemplate {
  return { ...object, template: keptTemplate(object.template, info, previous?.template) };
}
