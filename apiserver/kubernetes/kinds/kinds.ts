import { GROUP } from '../../../shared/names';
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
} from './admissionregistration/mutating-admission-policies';
import {
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from './admissionregistration/validating-admission-policies';
import { webhookConfigurations } from './admissionregistration/webhook-configurations';
import { customResourceDefinitions } from './apiextensions/custom-resource-definitions';
import { apiServices } from './apiregistration/api-services';
import { storageVersions } from './apiserverinternal/storage-versions';
import { controllerRevisions } from './apps/controller-revisions';
import { daemonSets } from './apps/daemon-sets';
import { deployments } from './apps/deployments';
import { replicaSets } from './apps/replica-sets';
import { statefulSets } from './apps/stateful-sets';
import { selfSubjectReviews, tokenReviews } from './authentication/reviews';
import {
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
} from './authorization/access-reviews';
import { horizontalPodAutoscalers } from './autoscaling/horizontal-pod-autoscalers';
import { cronJobs } from './batch/cron-jobs';
import { jobs } from './batch/jobs';
import { certificateSigningRequests } from './certificates/certificate-signing-requests';
import { clusterTrustBundles } from './certificates/cluster-trust-bundles';
import { podCertificateRequests } from './certificates/pod-certificate-requests';
import { leaseCandidates } from './coordination/lease-candidates';
import { leases } from './coordination/leases';
import { bindings } from './core/bindings';
import { componentStatuses } from './core/component-statuses';
import { configMaps } from './core/config-maps';
import { endpoints } from './core/endpoints';
import { events } from './core/events';
import { limitRanges } from './core/limit-ranges';
import { namespaces } from './core/namespaces';
import { nodes } from './core/nodes';
import { persistentVolumeClaims } from './core/persistent-volume-claims';
import { persistentVolumes } from './core/persistent-volumes';
import { podTemplates } from './core/pod-templates';
import { pods } from './core/pods/pods';
import { replicationControllers } from './core/replication-controllers';
import { resourceQuotas } from './core/resource-quotas';
import { secrets } from './core/secrets';
import { serviceAccounts } from './core/service-accounts';
import { services } from './core/services/services';
import { endpointSlices } from './discovery/endpoint-slices';
import { flowSchemas } from './flowcontrol/flow-schemas';
import { priorityLevelConfigurations } from './flowcontrol/priority-level-configurations';
import { ingressClasses } from './networking/ingress-classes';
import { ingresses } from './networking/ingresses';
import { ipAddresses } from './networking/ip-addresses';
import { networkPolicies } from './networking/network-policies';
import { serviceCidrs } from './networking/service-cidrs';
import { runtimeClasses } from './node/runtime-classes';
import { podDisruptionBudgets } from './policy/pod-disruption-budgets';
import { podSecurityPolicies } from './policy/pod-security-policies';
import { clusterRoleBindings, roleBindings } from './rbac/role-bindings';
import { clusterRoles, roles } from './rbac/roles';
import { deviceClasses } from './resource/device-classes';
import { deviceTaintRules } from './resource/device-taint-rules';
import { resourceClaimTemplates } from './resource/resource-claim-templates';
import { resourceClaims } from './resource/resource-claims';
import { resourcePoolStatusRequests } from './resource/resource-pool-status-requests';
import { resourceSlices } from './resource/resource-slices';
import { podGroups } from './scheduling/pod-groups';
import { priorityClasses } from './scheduling/priority-classes';
import { workloads } from './scheduling/workloads';
import { csiDrivers } from './storage/csi-drivers';
import { csiNodes } from './storage/csi-nodes';
import { csiStorageCapacities } from './storage/csi-storage-capacities';
import { storageClasses } from './storage/storage-classes';
import { volumeAttachments } from './storage/volume-attachments';
import { volumeAttributesClasses } from './storage/volume-attributes-classes';
import { storageVersionMigrations } from './storagemigration/storage-version-migrations';
import type { Kind, KindGroup } from './kind';
import { kindsOf } from './kind';

/** Every kind with something of its own, by the group it is stored in. A kind that is served under a second name is found under its first. */
export const KINDS: readonly KindGroup[] = [
  kindsOf('admissionregistration', {
    mutatingadmissionpolicies: mutatingAdmissionPolicies,
    mutatingadmissionpolicybindings: mutatingAdmissionPolicyBindings,
    mutatingwebhookconfigurations: webhookConfigurations,
    validatingadmissionpolicies: validatingAdmissionPolicies,
    validatingadmissionpolicybindings: validatingAdmissionPolicyBindings,
    validatingwebhookconfigurations: webhookConfigurations,
  }),
  kindsOf('apiextensions', {
    customresourcedefinitions: customResourceDefinitions,
  }),
  kindsOf('apiregistration', { apiservices: apiServices }),
  kindsOf('apiserverinternal', { storageversions: storageVersions }),
  kindsOf('apps', {
    controllerrevisions: controllerRevisions,
    daemonsets: daemonSets,
    deployments,
    replicasets: replicaSets,
    statefulsets: statefulSets,
  }),
  {
    group: GROUP.authentication,
    kinds: { selfsubjectreviews: selfSubjectReviews, tokenreviews: tokenReviews },
  },
  {
    group: GROUP.authorization,
    kinds: {
      localsubjectaccessreviews: localSubjectAccessReviews,
      selfsubjectaccessreviews: selfSubjectAccessReviews,
      selfsubjectrulesreviews: selfSubjectRulesReviews,
      subjectaccessreviews: subjectAccessReviews,
    },
  },
  kindsOf('autoscaling', { horizontalpodautoscalers: horizontalPodAutoscalers }),
  kindsOf('batch', { cronjobs: cronJobs, jobs }),
  kindsOf('certificates', {
    certificatesigningrequests: certificateSigningRequests,
    clustertrustbundles: clusterTrustBundles,
    podcertificaterequests: podCertificateRequests,
  }),
  kindsOf('coordination', { leasecandidates: leaseCandidates, leases }),
  kindsOf(
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
  ),
  kindsOf('discovery', { endpointslices: endpointSlices }),
  kindsOf('flowcontrol', {
    flowschemas: flowSchemas,
    prioritylevelconfigurations: priorityLevelConfigurations,
  }),
  kindsOf('networking', {
    ingressclasses: ingressClasses,
    ingresses,
    ipaddresses: ipAddresses,
    networkpolicies: networkPolicies,
    servicecidrs: serviceCidrs,
  }),
  kindsOf('node', { runtimeclasses: runtimeClasses }),
  kindsOf('policy', {
    poddisruptionbudgets: podDisruptionBudgets,
    podsecuritypolicies: podSecurityPolicies,
  }),
  kindsOf('rbac', {
    clusterrolebindings: clusterRoleBindings,
    clusterroles: clusterRoles,
    rolebindings: roleBindings,
    roles,
  }),
  kindsOf('resource', {
    deviceclasses: deviceClasses,
    devicetaintrules: deviceTaintRules,
    resourceclaims: resourceClaims,
    resourceclaimtemplates: resourceClaimTemplates,
    resourcepoolstatusrequests: resourcePoolStatusRequests,
    resourceslices: resourceSlices,
  }),
  kindsOf('scheduling', { podgroups: podGroups, priorityclasses: priorityClasses, workloads }),
  kindsOf('storage', {
    csidrivers: csiDrivers,
    csinodes: csiNodes,
    csistoragecapacities: csiStorageCapacities,
    storageclasses: storageClasses,
    volumeattachments: volumeAttachments,
    volumeattributesclasses: volumeAttributesClasses,
  }),
  kindsOf('storagemigration', { storageversionmigrations: storageVersionMigrations }),
];

const NO_BEHAVIOUR: Kind = {};

const KINDS_OF_GROUP: ReadonlyMap<string, ReadonlyMap<string, Kind>> = new Map(
  KINDS.map(({ group, kinds }) => [group, new Map(Object.entries(kinds))]),
);

/** What is particular to the kind of a resource; `group` is the one in which it is stored. */
export function kindOf(group: string, resource: string): Kind {
  return KINDS_OF_GROUP.get(group)?.get(resource) ?? NO_BEHAVIOUR;
}
