import { GROUP } from '../../../shared/names';
import type { ResourceName } from '../plugin';

const core = (resource: string): ResourceName => ({ group: GROUP.core, resource });

/** The resources that plugins look at. */
export const CLAIMS = core('persistentvolumeclaims');
export const LIMIT_RANGES = core('limitranges');
export const NAMESPACES = core('namespaces');
export const NODES = core('nodes');
export const PODS = core('pods');
export const RESOURCE_QUOTAS = core('resourcequotas');
export const SERVICE_ACCOUNTS = core('serviceaccounts');
export const SERVICES = core('services');
export const VOLUMES = core('persistentvolumes');
export const CERTIFICATE_REQUESTS: ResourceName = {
  group: GROUP.certificates,
  resource: 'certificatesigningrequests',
};
export const INGRESS_CLASSES: ResourceName = { group: GROUP.networking, resource: 'ingressclasses' };
export const INGRESSES: ResourceName = { group: GROUP.networking, resource: 'ingresses' };
export const PRIORITY_CLASSES: ResourceName = { group: GROUP.scheduling, resource: 'priorityclasses' };
export const RUNTIME_CLASSES: ResourceName = { group: GROUP.node, resource: 'runtimeclasses' };
export const STORAGE_CLASSES: ResourceName = { group: GROUP.storage, resource: 'storageclasses' };
