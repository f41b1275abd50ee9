import type {
  Endpoints,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
  Service,
  ServiceAccount,
} from '../../../../shared/api/types/core-v1';
import type { StatefulSet } from '../../../../shared/api/types/apps-v1';
import type { CronJob, JobSpec } from '../../../../shared/api/types/batch-v1';
import type { EndpointSlice } from '../../../../shared/api/types/discovery-v1';
import type { Ingress, NetworkPolicy } from '../../../../shared/api/types/networking-v1';
import type { RuntimeClass } from '../../../../shared/api/types/node-v1';
import type { ResourceSlice } from '../../../../shared/api/types/resource-v1';
import type { CSIDriver, CSIStorageCapacity, StorageClass } from '../../../../shared/api/types/storage-v1';
import { SLICE_CONTROLLERS, TIME_ZONE_ADVICE } from '../../../../shared/deprecated-names';
import { goQuote } from '../../../../shared/errors/go-quote';
import { dns1123LabelProblems } from '../../../../shared/meta/dns-names';
import { ANNOTATION, SECRET_TYPE } from '../../../../shared/names';
import { WORKLOAD_LABEL } from '../../../../shared/workload-names';
import type { ApiObject } from '../../../../shared/object/object';
import type { ReadonlyJson } from '../../../../shared/object/json';
import { objectAt } from '../../../../shared/object/json';
import { deepEqual } from '../../../../shared/object/clone';
import { ownKeyMap } from '../../../../shared/own-key-map';
import type { Strategy, SubresourceStrategy, WarnHook } from '../../../engine/registry/strategy';
import { statusSubresource } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { POD_PLACES } from '../pod-template/pod-places';
import { cidrWarnings, ipWarnings } from './address-warnings';
import { keyPairProblem, quotaWarnings, serviceWarnings, volumeWarnings } from './core-warnings';
import { nodeLabelAdvice, nodeSelectorWarnings } from './node-labels';
import type { PodParts } from './pod-warnings';
import { appArmorWarnings, claimWarnings, podWarnings } from './pod-warnings';

/**
 * Warnings about objects that are valid, but hardly what was meant. Source: WarningsOnCreate and WarningsOnUpdate of the strategies of v1.36.
 */

/** Types a hook: the registry gives it objects of its kind only. */
function of<T extends ApiObject>(hook: WarnHook<T>): WarnHook {
  return hook as unknown as WarnHook;
}

const HOOKS = ownKeyMap<WarnHook>({
  'core/endpoints': of<Endpoints>(({ metadata, subsets = [] }) =>
    metadata.labels?.[WORKLOAD_LABEL.endpointsManagedBy] === 'endpoint-controller'
      ? []
      : subsets.flatMap(({ addresses = [], notReadyAddresses = [] }, index) =>
          Object.entries({ addresses, notReadyAddresses }).flatMap(([name, list]) =>
            list.flatMap(({ ip }, place) =>
              ipWarnings(ip, `subsets[${String(index)}].${name}[${String(place)}].ip`),
            ),
          ),
        ),
  ),
  'core/nodes': of<Node>(({ spec }) => [
    ...(spec.configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
    ...((spec.externalID ?? '') === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
    ...(spec.podCIDRs ?? []).flatMap((network, index) =>
      cidrWarnings(network, `spec.podCIDRs[${String(index)}]`),
    ),
  ]),
  'core/persistentvolumeclaims': of<PersistentVolumeClaim>(({ metadata, spec }) => [
    ...(metadata.annotations?.[ANNOTATION.betaStorageClass] === undefined
      ? []
      : [
          `metadata.annotations[${ANNOTATION.betaStorageClass}]: deprecated since v1.8; use "storageClassName" attribute instead`,
        ]),
    ...claimWarnings(spec, 'spec'),
  ]),
  'core/persistentvolumes': of<PersistentVolume>(volumeWarnings),
  'core/pods': of<Pod>((pod, previous, { sent, settings }) =>
    previous === undefined
      ? [
          ...labelNameWarning(pod, "the Pod's hostname"),
          ...podWarnings(pod, '', settings),
          ...appArmorWarnings((sent ?? pod) as Pod),
        ]
      : [],
  ),
  'core/resourcequotas': of<ResourceQuota>(({ spec }, previous) =>
    previous === undefined ? quotaWarnings(spec.hard ?? {}) : [],
  ),
  'core/secrets': of<Secret>(({ type, data }) => {
    const { 'tls.crt': certificate, 'tls.key': key } = data ?? {};
    const problem = type === SECRET_TYPE.tls ? keyPairProblem(certificate ?? '', key ?? '') : undefined;
    return problem === undefined ? [] : [problem];
  }),
  'core/serviceaccounts': of<ServiceAccount>(({ metadata }, previous) => {
    const key = ANNOTATION.enforceMountableSecrets;
    const had = previous?.metadata.annotations?.[key] !== undefined;
    return had || metadata.annotations?.[key] === undefined
      ? []
      : [
          `metadata.annotations[${key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
        ];
  }),
  'core/services': of<Service>(serviceWarnings),
  'apps/statefulsets': of<StatefulSet>(({ spec }, previous) => [
    // The second path is upstream's.
    ...(spec.volumeClaimTemplates ?? []).flatMap((claim, index) =>
      claimWarnings(
        claim.spec,
        `spec.volumeClaimTemplates[${String(index)}]${previous === undefined ? '' : '.Spec'}`,
      ),
    ),
    ...((spec.revisionHistoryLimit ?? 0) < 0
      ? [
          'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
        ]
      : []),
  ]),
  'batch/cronjobs': of<CronJob>(({ spec }, previous) =>
    previous !== undefined && spec.schedule.includes('TZ') ? [TIME_ZONE_ADVICE] : [],
  ),
  'discovery/endpointslices': of<EndpointSlice>(({ metadata, addressType, endpoints }, previous) => [
    ...(previous === undefined && addressType === 'FQDN'
      ? ['spec.addressType: FQDN endpoints are deprecated']
      : []),
    ...(SLICE_CONTROLLERS.includes(metadata.labels?.[WORKLOAD_LABEL.sliceManagedBy])
      ? []
      : (endpoints ?? []).flatMap(({ addresses }, index) =>
          (addresses ?? []).flatMap((address, place) =>
            ipWarnings(address, `endpoints[${String(index)}].addresses[${String(place)}]`),
          ),
        )),
  ]),
  'networking/ingresses': of<Ingress>(({ metadata, spec }, previous) =>
    previous === undefined &&
    metadata.annotations?.[ANNOTATION.ingressClass] !== undefined &&
    spec?.ingressClassName === undefined
      ? [
          `annotation ${goQuote(ANNOTATION.ingressClass)} is deprecated, please use 'spec.ingressClassName' instead`,
        ]
      : [],
  ),
  'networking/networkpolicies': of<NetworkPolicy>(({ spec }) => [
    ...(spec.ingress ?? []).flatMap(({ from = [] }, index) =>
      from.flatMap(({ ipBlock }, place) =>
        blockWarnings(ipBlock, `spec.ingress[${String(index)}].from[${String(place)}].ipBlock`),
      ),
    ),
    ...(spec.egress ?? []).flatMap(({ to = [] }, index) =>
      to.flatMap(({ ipBlock }, place) =>
        blockWarnings(ipBlock, `spec.egress[${String(index)}].to[${String(place)}].ipBlock`),
      ),
    ),
  ]),
  'node/runtimeclasses': of<RuntimeClass>(({ scheduling }) =>
    Object.keys(scheduling?.nodeSelector ?? {}).flatMap((label) => {
      const advice = nodeLabelAdvice(label);
      return advice === undefined ? [] : [`scheduling.nodeSelector: ${advice}`];
    }),
  ),
  'resource/resourceslices': of<ResourceSlice>(({ spec: { driver } }) =>
    driver === driver.toLowerCase()
      ? []
      : [`spec.driver: driver names should be lowercase; ${goQuote(driver)} contains uppercase characters`],
  ),
  'storage/csidrivers': of<CSIDriver>(({ spec }, previous, { settings }) => {
    const { tokenRequests = [] } = spec;
    const isConcerned =
      isOn(settings, 'CSIServiceAccountTokenSecrets') &&
      tokenRequests.length > 0 &&
      spec.serviceAccountTokenInSecrets === undefined &&
      (previous === undefined || !deepEqual(tokenRequests, previous.spec.tokenRequests));
    return isConcerned
      ? [
          'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
        ]
      : [];
  }),
  'storage/csistoragecapacities': of<CSIStorageCapacity>(({ nodeTopology }) =>
    nodeSelectorWarnings(nodeTopology, 'nodeTopology'),
  ),
  'storage/storageclasses': of<StorageClass>(({ allowedTopologies = [] }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
      matchLabelExpressions.flatMap(({ key }, place) => {
        const advice = nodeLabelAdvice(key);
        const at = `allowedTopologies[${String(index)}].matchLabelExpressions[${String(place)}].key`;
        return advice === undefined ? [] : [`${at}: ${advice}`];
      }),
    ),
  ),
});

function labelNameWarning({ metadata: { name = '' } }: ApiObject, use: string): readonly string[] {
  const problems = dns1123LabelProblems(name);
  return problems.length === 0
    ? []
    : [
        `metadata.name: this is used in ${use}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
      ];
}

function blockWarnings(
  block: { readonly cidr: string; readonly except?: readonly string[] } | undefined,
  path: string,
): readonly string[] {
  if (block === undefined) return [];
  return [
    ...cidrWarnings(block.cidr, `${path}.cidr`),
    ...(block.except ?? []).flatMap((each, index) => cidrWarnings(each, `${path}.except[${String(index)}]`)),
  ];
}

/** Workloads whose names become part of names of pods. */
const NAMES_OF_PODS: ReadonlySet<string> = new Set([
  'core/replicationcontrollers',
  'apps/deployments',
  'apps/replicasets',
  'batch/cronjobs',
  'batch/jobs',
]);

/** Warnings about the template of pods: of a new object, and of one whose desired state changes. */
function templateHook(resource: string, place: readonly string[]): WarnHook {
  return (object, previous, { settings }) => {
    const path = place.join('.');
    // Upstream looks at the old template here.
    const isOld = resource === 'core/replicationcontrollers' && previous !== undefined;
    const template = partAt(isOld ? previous : object, place);
    const isChanged =
      previous === undefined ||
      (resource === 'apps/daemonsets'
        ? !deepEqual(template, partAt(previous, place))
        : object.metadata.generation !== previous.metadata.generation);
    return [
      ...(previous === undefined && NAMES_OF_PODS.has(resource)
        ? labelNameWarning(object, 'Pod names and hostnames')
        : []),
      ...(isChanged && resource.startsWith('batch/') ? jobWarnings(object, place) : []),
      ...(isChanged && 'spec' in template
        ? podWarnings(template as unknown as PodParts, path, settings)
        : []),
    ];
  };
}

function partAt(object: ApiObject, place: readonly string[]): ReadonlyJson {
  return place.reduce<ReadonlyJson>((at, name) => objectAt(at, name) ?? {}, object as ReadonlyJson);
}

const COMPLETIONS_MAX = 100_000;
const PARALLELISM_MAX = 10_000;

function jobWarnings(object: ApiObject, place: readonly string[]): readonly string[] {
  const path = place.slice(0, -1);
  const { completionMode, completions = 0, parallelism = 0 } = partAt(object, path) as unknown as JobSpec;
  return completionMode === 'Indexed' && completions > COMPLETIONS_MAX && parallelism > PARALLELISM_MAX
    ? [
        `${path.join('.')}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
      ]
    : [];
}

const balancerStatus = of<Service | Ingress>(({ status }) =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }, index) =>
    ipWarnings(ip, `status.loadBalancer.ingress[${String(index)}]`),
  ),
);

const STATUS_HOOKS = ownKeyMap<WarnHook>({
  'core/pods': of<Pod>(({ status: { podIPs = [], hostIPs = [] } = {} }) =>
    Object.entries({ podIPs, hostIPs }).flatMap(([name, list]) =>
      list.flatMap(({ ip = '' }, index) => ipWarnings(ip, `status.${name}[${String(index)}].ip`)),
    ),
  ),
  'core/services': balancerStatus,
  'networking/ingresses': balancerStatus,
});

/** Returns the strategy of a resource, named with the package of its group, with its warnings. */
export function withWarnings(resource: string, strategy: Strategy | undefined): Strategy | undefined {
  const place = POD_PLACES.get(resource);
  const hooks = [
    HOOKS.get(resource),
    place === undefined || place.length === 0 ? undefined : templateHook(resource, place),
  ].filter((each) => each !== undefined);
  const ofStatus = STATUS_HOOKS.get(resource);
  if (hooks.length === 0 && ofStatus === undefined) return strategy;
  const { status = statusSubresource }: Readonly<Record<string, SubresourceStrategy>> =
    strategy?.subresources ?? {};
  return {
    ...strategy,
    warnings: bounded((object, previous, info) => hooks.flatMap((hook) => hook(object, previous, info))),
    ...(ofStatus === undefined
      ? {}
      : {
          subresources: { ...strategy?.subresources, status: { ...status, warnings: bounded(ofStatus) } },
        }),
  };
}

/** Warnings of one object that are added to its response. Its headers have room for fewer. */
const WARNINGS_MAX = 256;

/** A large object can have a hundred thousand of them. */
function bounded(hook: WarnHook): WarnHook {
  return (...args) => [...new Set(hook(...args))].slice(0, WARNINGS_MAX);
}
