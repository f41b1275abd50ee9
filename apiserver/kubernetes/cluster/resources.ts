import type { ResourceName } from './cluster-reader';
import type { StoredKinds } from '../../../shared/api/types/message-types';
import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';

/** The resources that plugins use. */
export const ATTRIBUTES_CLASSES = resourceOf('storage', 'volumeattributesclasses');
export const CERTIFICATE_REQUESTS = resourceOf('certificates', 'certificatesigningrequests');
export const CLAIMS = resourceOf('core', 'persistentvolumeclaims');
export const CSI_NODES = resourceOf('storage', 'csinodes');
export const ENDPOINTS = resourceOf('core', 'endpoints');
export const EVENTS = resourceOf('core', 'events');
export const INGRESS_CLASSES = resourceOf('networking', 'ingressclasses');
export const INGRESSES = resourceOf('networking', 'ingresses');
export const IP_ADDRESSES = resourceOf('networking', 'ipaddresses');
export const LEASES = resourceOf('coordination', 'leases');
export const LIMIT_RANGES = resourceOf('core', 'limitranges');
export const NAMESPACES = resourceOf('core', 'namespaces');
export const NODES = resourceOf('core', 'nodes');
export const PODS = resourceOf('core', 'pods');
export const POD_SECURITY_POLICIES = resourceOf('policy', 'podsecuritypolicies');
export const PRIORITY_CLASSES = resourceOf('scheduling', 'priorityclasses');
export const RESOURCE_QUOTAS = resourceOf('core', 'resourcequotas');
export const RUNTIME_CLASSES = resourceOf('node', 'runtimeclasses');
export const SECRETS = resourceOf('core', 'secrets');
export const SERVICE_ACCOUNTS = resourceOf('core', 'serviceaccounts');
export const SERVICE_CIDRS = resourceOf('networking', 'servicecidrs');
export const SERVICES = resourceOf('core', 'services');
export const STORAGE_CLASSES = resourceOf('storage', 'storageclasses');
export const VOLUMES = resourceOf('core', 'persistentvolumes');

/** Returns a stored resource with the type of its objects. */
function resourceOf<Group extends keyof StoredKinds, Resource extends string & keyof StoredKinds[Group]>(
  group: Group,
  resource: Resource,
): ResourceName<Extract<StoredKinds[Group][Resource], ApiObject>> {
  return { group: GROUP[group], resource };
}
