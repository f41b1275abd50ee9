import type { StoredResource } from '../engine/registry/resource';
import { GROUP } from '../../shared/names';
import { ownKeyMap } from '../../shared/own-key-map';

/**
 * Resources that configure the server itself: rights, identities, admission, flow control, and what is served. A write of one is
 * acknowledged once the watch cache of this replica has it, so that it applies to every request that begins after the response; at the latest after
 * `SETTLE_MS_MAX` of write-target.ts (one second), even if the cache is late.
 */
const CONFIGURATION_RESOURCES = ownKeyMap<readonly string[]>({
  [GROUP.flowcontrol]: ['flowschemas', 'prioritylevelconfigurations'],
  [GROUP.rbac]: ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'],
  [GROUP.admissionregistration]: [
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'validatingwebhookconfigurations',
  ],
  [GROUP.policy]: ['podsecuritypolicies'],
  [GROUP.core]: ['limitranges', 'namespaces', 'resourcequotas', 'secrets', 'serviceaccounts'],
  [GROUP.apiextensions]: ['customresourcedefinitions'],
  [GROUP.apiregistration]: ['apiservices'],
  [GROUP.scheduling]: ['priorityclasses'],
  [GROUP.storage]: ['storageclasses'],
  [GROUP.networking]: ['ingressclasses'],
  [GROUP.node]: ['runtimeclasses'],
});

/** Returns whether the resource configures the server itself. */
export function isConfigurationResource({ group, resource }: StoredResource): boolean {
  return CONFIGURATION_RESOURCES.get(group)?.includes(resource) === true;
}
