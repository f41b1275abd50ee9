import { GROUP } from '../../../shared/names';
import { pathSegmentName } from '../../../shared/meta/name-rules';
import { scaleBySelectorMap } from '../autoscaling/scale';
import { createdAtRow } from '../columns/created-at';
import type { KindGroup } from '../kind';
import { TEMPLATE } from '../pod-template/kept-template';
import { withPrivilegeRule } from '../pod-template/privileged-containers';
import { bindPod } from './bind-pod';
import {
  componentStatusRow,
  configMapRow,
  namespaceRow,
  podTemplateRow,
  replicationControllerRow,
  resourceQuotaRow,
  secretRow,
  serviceAccountRow,
} from './columns';
import { componentStatuses } from './component-status';
import { configMapRules } from './config-maps-rules';
import { endpointsRules } from './endpoints-rules';
import { ephemeralContainersView } from './ephemeral-containers';
import { eventRow } from './events-columns';
import { eventRules } from './events-rules';
import { evictPod } from './evict-pod';
import { limitRangeRules } from './limit-ranges-rules';
import { namespaces } from './namespaces-strategy';
import { nodeRow } from './nodes-columns';
import { nodeRules } from './nodes-rules';
import { persistentVolumeClaimRules } from './persistent-volume-claims-rules';
import { persistentVolumeRules } from './persistent-volumes-rules';
import { podRow, podRowConditions } from './pods-columns';
import { pods } from './pods-strategy';
import { resourceQuotaRules } from './resource-quotas-rules';
import { secretTextAsData } from './secret-text';
import { secretRules } from './secrets-rules';
import { endpointsRow, serviceRow } from './services-columns';
import { services } from './services-strategy';
import { requestToken } from './token-request';
import { persistentVolumeClaimRow, persistentVolumeRow } from './volumes-columns';
import { podTemplates, replicationControllers } from './workload-strategies';

export const core: KindGroup = {
  group: GROUP.core,
  kinds: {
    bindings: { virtual: { create: bindPod } },
    componentstatuses: { virtual: componentStatuses, row: componentStatusRow },
    configmaps: { strategy: configMapRules, row: configMapRow },
    endpoints: { strategy: { createsOnUpdate: true, ...endpointsRules }, row: endpointsRow },
    events: {
      strategy: {
        nameRule: pathSegmentName,
        ...eventRules,
        createsOnUpdate: true,
        expires: true,
        defaultPropagation: 'Unsupported',
        selectableFields: {
          'involvedObject.kind': '',
          'involvedObject.namespace': '',
          'involvedObject.name': '',
          'involvedObject.uid': '',
          'involvedObject.apiVersion': '',
          'involvedObject.resourceVersion': '',
          'involvedObject.fieldPath': '',
          reason: '',
          reportingComponent: '',
          source: '',
          type: '',
        },
        fieldSources: { source: ['source.component', 'reportingComponent'] },
        indexedFields: ['involvedObject.uid'],
      },
      row: eventRow,
    },
    limitranges: {
      strategy: { createsOnUpdate: true, isNamedByUid: true, ...limitRangeRules },
      row: createdAtRow,
    },
    namespaces: { strategy: namespaces, row: namespaceRow },
    nodes: {
      strategy: {
        ...nodeRules,
        keepsStatusOnCreate: true,
        selectableFields: { 'spec.unschedulable': 'false' },
      },
      row: nodeRow,
    },
    persistentvolumeclaims: {
      strategy: { returnsDeletedObject: true, ...persistentVolumeClaimRules },
      row: persistentVolumeClaimRow,
    },
    persistentvolumes: {
      strategy: { returnsDeletedObject: true, ...persistentVolumeRules },
      row: persistentVolumeRow,
    },
    pods: {
      strategy: pods,
      row: podRow,
      rowConditions: podRowConditions,
      subresources: {
        binding: { is: 'operation', run: bindPod },
        ephemeralcontainers: {
          is: 'view',
          view: ephemeralContainersView,
          isServed: ({ ephemeralContainers }) => ephemeralContainers,
        },
        eviction: { is: 'operation', run: evictPod },
      },
    },
    podtemplates: { strategy: withPrivilegeRule(podTemplates, 'template'), row: podTemplateRow },
    replicationcontrollers: {
      strategy: withPrivilegeRule(replicationControllers, TEMPLATE),
      row: replicationControllerRow,
      subresources: { scale: { is: 'view', view: scaleBySelectorMap } },
    },
    resourcequotas: {
      strategy: { returnsDeletedObject: true, ...resourceQuotaRules },
      row: resourceQuotaRow,
    },
    secrets: {
      strategy: { selectableFields: { type: '' }, ...secretRules },
      row: secretRow,
      received: secretTextAsData,
    },
    serviceaccounts: {
      strategy: { returnsDeletedObject: true },
      row: serviceAccountRow,
      subresources: { token: { is: 'operation', run: requestToken } },
    },
    services: { strategy: services, row: serviceRow },
  },
};
