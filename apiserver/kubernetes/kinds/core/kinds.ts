import { kindsOf } from '../kind';
import { bindings } from './bindings';
import { componentStatuses } from './component-statuses';
import { configMaps } from './config-maps';
import { endpoints } from './endpoints';
import { events } from './events';
import { limitRanges } from './limit-ranges';
import { namespaces } from './namespaces';
import { nodes } from './nodes';
import { persistentVolumeClaims } from './persistent-volume-claims';
import { persistentVolumes } from './persistent-volumes';
import { podTemplates } from './pod-templates';
import { pods } from './pods/pods';
import { replicationControllers } from './replication-controllers';
import { resourceQuotas } from './resource-quotas';
import { secrets } from './secrets';
import { serviceAccounts } from './service-accounts';
import { services } from './services/services';

export const core = kindsOf(
  'core',
  {
    configmaps: configMaps,
    endpoints,
    events,
    limitranges: limitRanges,
    namespaces,
    nodes,
    persistentvolumeclaims: persistentVolumeClaims,
    persistentvolumes: persistentVolumes,
    pods,
    podtemplates: podTemplates,
    replicationcontrollers: replicationControllers,
    resourcequotas: resourceQuotas,
    secrets,
    serviceaccounts: serviceAccounts,
    services,
  },
  { bindings, componentstatuses: componentStatuses },
);
