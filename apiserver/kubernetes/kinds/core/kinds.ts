import { GROUP } from '../../../../shared/names';
import { pathSegmentName } from '../../../../shared/meta/name-rules';
import { scaleBySelectorMap } from '../autoscaling/scale';
import { CREATED_AT_TABLE } from '../../../engine/registry/object-table';
import { kindsOf } from '../kind';
import { bindPod } from './bind-pod';
import {
  componentStatusTable,
  configMapTable,
  namespaceTable,
  podTemplateTable,
  replicationControllerTable,
  resourceQuotaTable,
  secretTable,
  serviceAccountTable,
} from './columns';
import { componentStatuses } from './component-status';
import { configMapRules } from './config-maps-rules';
import { attachToPod, execInPod, forwardToPod, logOfPod } from './connect-pods';
import { proxyToNode, proxyToPod, proxyToService } from './connect-proxies';
import { endpointsRules } from './endpoints-rules';
import { ephemeralContainersView } from './ephemeral-containers';
import { eventTable } from './events-columns';
import { eventRules } from './events-rules';
import { evictPod } from './evict-pod';
import { limitRangeRules } from './limit-ranges-rules';
import { namespaces, withNameLabel } from './namespaces-strategy';
import { nodeTable } from './nodes-columns';
import { nodeRules } from './nodes-rules';
import { persistentVolumeClaimRules } from './persistent-volume-claims-rules';
import { persistentVolumeRules } from './persistent-volumes-rules';
import { podTable, podRowConditions } from './pods-columns';
import { pods } from './pods-strategy';
import { resourceQuotaRules } from './resource-quotas-rules';
import { secretTextAsData } from './secret-text';
import { secretRules } from './secrets-rules';
import { endpointsTable, serviceTable } from './services-columns';
import { serviceAccounts } from './service-accounts-strategy';
import { services } from './services-strategy';
import { requestToken } from './token-request';
import { persistentVolumeClaimTable, persistentVolumeTable } from './volumes-columns';
import { podTemplates, replicationControllers } from './workload-strategies';

export const core = kindsOf(
  'core',
  {
    configmaps: { strategy: configMapRules, table: configMapTable },
    endpoints: { strategy: { createsOnUpdate: true, ...endpointsRules }, table: endpointsTable },
    events: {
      strategy: {
        nameRule: pathSegmentName,
        metadataChecks: 'afterwards',
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
      table: eventTable,
    },
    limitranges: {
      strategy: { createsOnUpdate: true, isNamedByUid: true, ...limitRangeRules },
      table: CREATED_AT_TABLE,
    },
    namespaces: { strategy: namespaces, table: namespaceTable, received: withNameLabel },
    nodes: {
      strategy: {
        ...nodeRules,
        keepsStatusOnCreate: true,
        selectableFields: { 'spec.unschedulable': 'false' },
      },
      table: nodeTable,
      subresources: { proxy: { is: 'connection', to: proxyToNode } },
    },
    persistentvolumeclaims: {
      strategy: { returnsDeletedObject: true, ...persistentVolumeClaimRules },
      table: persistentVolumeClaimTable,
    },
    persistentvolumes: {
      strategy: { returnsDeletedObject: true, ...persistentVolumeRules },
      table: persistentVolumeTable,
    },
    pods: {
      strategy: pods,
      table: podTable,
      rowConditions: podRowConditions,
      subresources: {
        attach: { is: 'connection', to: attachToPod },
        binding: { is: 'operation', run: bindPod },
        ephemeralcontainers: {
          is: 'view',
          view: ephemeralContainersView,
          isServed: ({ ephemeralContainers }) => ephemeralContainers,
        },
        eviction: { is: 'operation', run: evictPod },
        exec: { is: 'connection', to: execInPod },
        log: { is: 'connection', to: logOfPod },
        portforward: { is: 'connection', to: forwardToPod },
        proxy: { is: 'connection', to: proxyToPod },
      },
    },
    podtemplates: { strategy: podTemplates, table: podTemplateTable },
    replicationcontrollers: {
      strategy: replicationControllers,
      table: replicationControllerTable,
      subresources: {
        scale: { is: 'view', view: { ...scaleBySelectorMap, missing: { group: GROUP.autoscaling } } },
      },
    },
    resourcequotas: {
      strategy: { metadataChecks: 'old names', returnsDeletedObject: true, ...resourceQuotaRules },
      table: resourceQuotaTable,
    },
    secrets: {
      strategy: { selectableFields: { type: '' }, ...secretRules },
      table: secretTable,
      received: secretTextAsData,
    },
    serviceaccounts: {
      strategy: serviceAccounts,
      table: serviceAccountTable,
      subresources: { token: { is: 'operation', run: requestToken } },
    },
    services: {
      strategy: services,
      table: serviceTable,
      subresources: { proxy: { is: 'connection', to: proxyToService } },
    },
  },
  {
    bindings: { virtual: { create: bindPod } },
    componentstatuses: { virtual: componentStatuses, table: componentStatusTable },
  },
);
