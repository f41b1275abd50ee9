import { isInForce } from '../../../../../shared/api/changes';
import type {
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodExtendedResourceClaimStatus,
  PodResourceClaimStatus,
  PodSpec,
  PodStatus,
} from '../../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../../shared/errors/field-error';
import { duplicate, forbiddenField, invalid, required } from '../../../../../shared/errors/field-error';
import { goQuote } from '../../../../../shared/errors/go-quote';
import { goStruct, goStructs } from '../../../../../shared/errors/go-values';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../../../../shared/meta/dns-names';
import type { Int64 } from '../../../../../shared/object/values';
import type { KindSettings, WriteInfo } from '../../../../engine/registry/strategy';
import { isOn } from '../../field-gates';
import { validatePodAnnotationsUpdate } from '../../pod-template/pod-annotations';
import { dualStackErrors } from '../../rules/addresses';
import { forEachItem, immutable, invalidForEach, ipAddress, repeatsIn } from '../../rules/primitives';
import { legacyIp } from '../../rules/strict-addresses';

const OWN_CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'Ready', 'Initialized']);
const STATUS_LISTS = ['containerStatuses', 'initContainerStatuses'] as const;
const HAS_LATER_RULES = isInForce('podStatusRules');

/** What a change of the status may say. */
export function validatePodStatusUpdate(
  next: Pod,
  previous: Pod,
  { settings }: Pick<WriteInfo, 'settings'>,
): FieldError[] {
  const { status = {} } = next;
  const { status: old = {} } = previous;
  const { nominatedNodeName: nominated = '' } = status;
  const wrongIps = podIps(status, old, settings);
  const hadWrongIps = !HAS_LATER_RULES && podIps(old, {}, settings).length > 0;
  return [
    ...validatePodAnnotationsUpdate(next, previous),
    // The older path is upstream's.
    ...forEachItem(
      status.conditions ?? [],
      HAS_LATER_RULES ? 'status.conditions' : 'metadata.conditions',
      ({ type, observedGeneration: generation = 0 }, at) => [
        ...notNegative(generation, `${at}.observedGeneration`),
        ...(OWN_CONDITIONS.has(type) ? [] : invalidForEach(qualifiedNameProblems(type), type, `${at}.Type`)),
      ],
    ),
    ...(nominated === '' || nominated === old.nominatedNodeName
      ? []
      : invalidForEach(dns1123SubdomainProblems(nominated), nominated, 'status.nominatedNodeName')),
    ...STATUS_LISTS.flatMap((list) =>
      revivals(status[list] ?? [], old[list] ?? [], {
        path: `status.${list}`,
        restartPolicy: previous.spec.restartPolicy ?? '',
      }),
    ),
    // A pod that had wrong ones already may keep on having such.
    ...(hadWrongIps ? [] : wrongIps),
    ...(HAS_LATER_RULES ? laterRules(next, previous, settings) : []),
  ];
}

/** Source: ValidatePodStatusUpdate, v1.36. */
function laterRules(next: Pod, previous: Pod, settings: KindSettings): FieldError[] {
  const { status = {}, spec } = next;
  const { status: old = {} } = previous;
  const { nominatedNodeName: nominated = '' } = status;
  const isBound = (previous.spec.nodeName ?? '') !== '';
  return [
    ...(isOn(settings, 'ClearingNominatedNodeNameAfterBinding') &&
    isBound &&
    nominated !== '' &&
    nominated !== old.nominatedNodeName
      ? [
          forbiddenField(
            'status.nominatedNodeName',
            'may not be set on pods that are already bound to a node',
          ),
        ]
      : []),
    ...notNegative(status.observedGeneration ?? 0, 'status.observedGeneration'),
    ...immutable(status.qosClass, old.qosClass, 'status.qosClass'),
    ...claimStatuses(status.resourceClaimStatuses ?? [], spec),
    ...(status.extendedResourceClaimStatus === undefined
      ? []
      : extendedClaim(status.extendedResourceClaimStatus, spec)),
    ...hostIps(status, old, settings),
  ];
}

function notNegative(generation: Int64, path: string): FieldError[] {
  return generation < 0 ? [invalid(path, generation, 'must be a non-negative integer')] : [];
}

function claimStatuses(statuses: readonly PodResourceClaimStatus[], spec: PodSpec): FieldError[] {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const isRepeated = repeatsIn(statuses.map(({ name }) => name));
  return forEachItem(
    statuses,
    'status.resourceClaimStatuses',
    ({ name, resourceClaimName: claim }, at, index) => [
      ...(known.has(name)
        ? []
        : [invalid(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`')]),
      ...(isRepeated(index) ? [duplicate(`${at}.name`, name)] : []),
      ...(claim === undefined
        ? []
        : invalidForEach(dns1123SubdomainProblems(claim), claim, `${at}.resourceClaimName`)),
    ],
  );
}

const ANY_CONTAINER = 'spec.initContainers.name or spec.containers.name';
const ANY_REQUEST = 'spec.initContainers.resources.requests or spec.containers.resources.requests';

function extendedClaim(
  { requestMappings, resourceClaimName: claim }: PodExtendedResourceClaimStatus,
  spec: PodSpec,
): FieldError[] {
  const path = 'status.extendedResourceClaimStatus';
  const mappings = requestMappings ?? [];
  const containers = new Map(
    [...(spec.initContainers ?? []), ...(spec.containers ?? [])].map((each) => [each.name, each]),
  );
  const isRepeated = repeatsIn(
    mappings.map(({ containerName, resourceName, requestName }) =>
      JSON.stringify([containerName, resourceName, requestName]),
    ),
  );
  return [
    ...(mappings.length === 0
      ? [required(`${path}.requestMappings`, 'at least one request mapping is required')]
      : []),
    ...forEachItem(mappings, `${path}.requestMappings`, (mapping, at, index) => {
      const { containerName: container, resourceName: resource, requestName: request } = mapping;
      const found = containers.get(container);
      return [
        ...(found === undefined
          ? [invalid(`${at}.containerName`, container, `must match the name of an entry in ${ANY_CONTAINER}`)]
          : found.resources?.requests?.[resource] === undefined
            ? [
                invalid(
                  `${at}.resourceName`,
                  resource,
                  `must match the extended resource name of an entry in ${ANY_REQUEST}`,
                ),
              ]
            : []),
        ...invalidForEach(dns1123LabelProblems(request), request, `${path}.requestName`),
        ...(isRepeated(index)
          ? [
              duplicate(`${at}.containerName`, container),
              duplicate(`${at}.resourceName`, resource),
              duplicate(`${at}.requestName`, request),
            ]
          : []),
      ];
    }),
    ...(claim === ''
      ? [required(`${path}.resourceClaimName`)]
      : invalidForEach(dns1123SubdomainProblems(claim), claim, `${path}.resourceClaimName`)),
  ];
}

/** The addresses of the node of a pod: the first is the one in the older field. */
function hostIps(
  { hostIP = '', hostIPs = [] }: PodStatus,
  old: PodStatus,
  settings: KindSettings,
): FieldError[] {
  if (hostIPs.length === 0) return [];
  const path = 'status.hostIPs';
  const ips = hostIPs.map(({ ip }) => ip);
  const before = new Set((old.hostIPs ?? []).map(({ ip }) => ip));
  return [
    ...(ips[0] === hostIP ? [] : [invalid(`${path}[0].ip`, ips[0] ?? '', 'must be equal to `hostIP`')]),
    ...forEachItem(ips, path, (ip, at) => (before.has(ip) ? [] : legacyIp(ip, at, settings))),
    ...(ips.length < 2 ? [] : dualStackErrors(ips, path, { what: 'IP', shown: hostIPs })),
  ];
}

/** A container that ended stays so, unless the pod restarts it. */
function revivals(
  next: readonly ContainerStatus[],
  previous: readonly ContainerStatus[],
  { path, restartPolicy }: { readonly path: string; readonly restartPolicy: string },
): FieldError[] {
  if (restartPolicy === 'Always') return [];
  const running = new Set(next.filter((each) => terminated(each) === undefined).map(({ name }) => name));
  return forEachItem(previous, path, (old, at) => {
    const ended = terminated(old);
    if (ended === undefined) return [];
    if (ended.exitCode !== 0 && restartPolicy === 'OnFailure') return [];
    return running.has(old.name)
      ? [forbiddenField(`${at}.state`, 'may not be transitioned to non-terminated state')]
      : [];
  });
}

function terminated({ state }: ContainerStatus): ContainerStateTerminated | undefined {
  return state.terminated;
}

/** At most one address of each family. */
function podIps({ podIPs = [] }: PodStatus, old: PodStatus, settings: KindSettings): FieldError[] {
  const path = 'status.podIPs';
  const ips = podIPs.map(({ ip = '' }) => ip);
  const before = new Set((old.podIPs ?? []).map(({ ip = '' }) => ip));
  const laterIp = (ip: string, at: string): FieldError[] =>
    before.has(ip) ? [] : legacyIp(ip, at, settings);
  const errors = forEachItem(ips, path, HAS_LATER_RULES ? laterIp : ipAddress);
  if (ips.length < 2) return errors;
  const isRepeated = repeatsIn(ips);
  const shown = ips.map((ip) => goStruct('core.PodIP', { IP: goQuote(ip) }));
  return [
    ...errors,
    ...dualStackErrors(ips, path, { what: 'IP', shown: goStructs('core.PodIP', shown) }),
    ...forEachItem(shown, path, (ip, at, index) =>
      isRepeated(index) && !HAS_LATER_RULES ? [duplicate(at, ip)] : [],
    ),
  ];
}
