import type { ApiObject } from '../../../shared/object/object';
import type { Strategy } from '../../registry/strategy';
import { validatePodTemplate, validateReplicationController } from '../apps/workloads-rules';
import { workloadStatus } from '../apps/workload-status';
import { keepsTemplate } from '../pod-template/kept-template';
import { keptTemplate } from '../pod-template/pod-spec-fields';

export const podTemplates: Strategy = {
  returnsDeletedObject: true,
  prepareForCreate: withKeptOwnTemplate,
  prepareForUpdate: withKeptOwnTemplate,
  validate: validatePodTemplate,
};

export const replicationControllers: Strategy = {
  ...keepsTemplate,
  tracksGeneration: true,
  defaultPropagation: 'Orphan',
  selectableFields: { 'status.replicas': '0' },
  validate: validateReplicationController,
  subresources: workloadStatus('replicationcontrollers'),
};

function withKeptOwnTemplate(object: ApiObject): ApiObject {
  return object['template'] === undefined
    ? object
    : { ...object, template: keptTemplate(object['template']) };
}
