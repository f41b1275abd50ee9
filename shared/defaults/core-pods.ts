import type { Part } from '../object/object';
import { isInForce } from '../api/changes';
import type {
  Container,
  EphemeralContainer,
  Pod,
  PodSpec,
  PodStatus,
  ResourceRequirements,
} from '../api/types/core-v1';
import { formatQuantity } from '../meta/quantity';
import { isPodResource, sumOfContainers } from '../quota/container-sums';
import type { DefaultsTable, IsOn, MessageDefaults } from './contract';

const ofContainer: MessageDefaults<Container | EphemeralContainer> = {
  values: { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
  derive: ({ image = '', imagePullPolicy = '' }) =>
    imagePullPolicy === '' ? { imagePullPolicy: pullPolicyOf(image) } : undefined,
};

/** Defaults of pods, without volumes. */
export const CORE_PODS: DefaultsTable = {
  'core/v1.Pod': { derive: ofPod },
  'core/v1.PodStatus': { derive: ofPodStatus },
  'core/v1.PodSpec': {
    values: {
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
    },
    derive: ofPodSpec,
  },
  'core/v1.Container': ofContainer,
  'core/v1.EphemeralContainer': ofContainer,
  'core/v1.ContainerPort': { values: { protocol: 'TCP' } },
  'core/v1.Probe': {
    values: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  },
  'core/v1.HTTPGetAction': { values: { path: '/', scheme: 'HTTP' } },
  'core/v1.ObjectFieldSelector': { values: { apiVersion: 'v1' } },
  'core/v1.FileKeySelector': { values: { optional: false } },
  'core/v1.GRPCAction': { values: { service: '' } },
  'core/v1.ImageVolumeSource': {
    derive: ({ reference = '', pullPolicy = '' }) =>
      pullPolicy === '' ? { pullPolicy: pullPolicyOf(reference) } : undefined,
  },
};

/** Nodes pull the tag `latest` at every start, because it may move. */
function pullPolicyOf(image: string): 'Always' | 'IfNotPresent' {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

/** `podIP` is the first of `podIPs`. Old kubelets set it alone; it then takes precedence. */
function ofPodStatus({ podIP: ip = '', podIPs = [] }: PodStatus): Part<PodStatus> | undefined {
  const [{ ip: first = '' } = {}] = podIPs;
  if (ip === first) return undefined;
  return ip === '' ? { podIP: first } : { podIPs: [{ ip }] };
}

/** In a pod (not in a pod template) a limit without a request is also the request. */
function ofPod({ spec: given }: Pod, isOn: IsOn): Part<Pod> | undefined {
  const onHost = isInForce('hostPortsOfTemplates') ? ofHostNetwork(given) : undefined;
  const spec = onHost === undefined ? given : { ...given, ...onHost };
  const requests = changed(spec, withRequests);
  const { terminationGracePeriodSeconds: graceSeconds = 0, resources } = spec;
  const changes = {
    ...onHost,
    ...requests,
    ...(spec.enableServiceLinks === undefined ? { enableServiceLinks: true } : {}),
    ...(graceSeconds < 0 && isInForce('negativeGracePeriods') ? { terminationGracePeriodSeconds: 1 } : {}),
    ...(resources !== undefined && isOn('PodLevelResources')
      ? { resources: podResources({ ...spec, ...requests }, resources) }
      : {}),
  };
  return Object.keys(changes).length === 0 ? undefined : { spec: { ...spec, ...changes } };
}

/**
 * The resources of a whole pod: limits of huge pages are those of its containers, and requests are what its containers request, or the
 * limits. Source: defaultHugePagePodLimits and defaultPodRequests, v1.36.
 */
function podResources(spec: PodSpec, given: ResourceRequirements): ResourceRequirements {
  const limits = new Map(Object.entries(given.limits ?? {}));
  const requests = new Map(Object.entries(given.requests ?? {}));
  if (limits.size === 0 && requests.size === 0) return given;
  for (const [name, sum] of sumOfContainers(spec, 'limits')) {
    if (isHugePages(name) && !requests.has(name) && !limits.has(name)) limits.set(name, formatQuantity(sum));
  }
  if (limits.size === 0) return given;
  for (const [name, sum] of sumOfContainers(spec, 'requests')) {
    const isMissing = !requests.has(name);
    if (isMissing && isPodResource(name) && !isHugePages(name)) requests.set(name, formatQuantity(sum));
  }
  for (const [name, limit] of limits) {
    if (isPodResource(name) && !requests.has(name)) requests.set(name, limit);
  }
  return {
    ...given,
    limits: Object.fromEntries(limits),
    ...(requests.size === 0 ? {} : { requests: Object.fromEntries(requests) }),
  };
}

function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

function withRequests(container: Container): Container {
  const { limits, requests = {} } = container.resources;
  if (limits === undefined || Object.keys(limits).every((name) => requests[name] !== undefined)) {
    return container;
  }
  return { ...container, resources: { ...container.resources, requests: { ...limits, ...requests } } };
}

/** A service account is set under both its names; the new name takes precedence. */
function ofPodSpec(spec: PodSpec): Part<PodSpec> | undefined {
  const { serviceAccountName = '', serviceAccount = '' } = spec;
  const name = serviceAccountName || serviceAccount;
  const onHost = isInForce('hostPortsOfTemplates') ? undefined : ofHostNetwork(spec);
  if (serviceAccountName === name && serviceAccount === name) return onHost;
  return { ...onHost, serviceAccountName: name, serviceAccount: name };
}

/** With hostNetwork, hostPort equals containerPort. */
function ofHostNetwork(spec: PodSpec): ContainerLists | undefined {
  return spec.hostNetwork === true ? changed(spec, withHostPorts) : undefined;
}

function withHostPorts(container: Container): Container {
  const { ports = [] } = container;
  const open = ports.map((port) =>
    (port.hostPort ?? 0) === 0 ? { ...port, hostPort: port.containerPort } : port,
  );
  return open.every((port, at) => port === ports[at]) ? container : { ...container, ports: open };
}

/** Lists of containers of a pod. */
interface ContainerLists {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** Returns the lists of containers that change. */
function changed(
  { containers, initContainers }: PodSpec,
  change: (container: Container) => Container,
): ContainerLists {
  const next = containers?.map(change);
  const nextInit = initContainers?.map(change);
  return {
    ...(next?.some((each, at) => each !== containers?.[at]) === true ? { containers: next } : {}),
    ...(nextInit?.some((each, at) => each !== initContainers?.[at]) === true
      ? { initContainers: nextInit }
      : {}),
  };
}

/**
 * Grammar of image references without the registry: a path of lower-case components, an optional tag, an
 * optional digest.
 */
const COMPONENT = String.raw`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`;
const REFERENCE = new RegExp(
  String.raw`^${COMPONENT}(?:/${COMPONENT})*(?::(?<tag>\w[\w.-]{0,127}))?(?<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
const LABEL = String.raw`(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`;
const REGISTRY = new RegExp(String.raw`^${LABEL}(?:\.${LABEL})*(?::[0-9]+)?$`);
/** A bare image ID is not a reference. */
const IDENTIFIER = /^[a-f0-9]{64}$/;
const REFERENCE_CHARS_MAX = 512;

/** Returns the tag of an image reference: `latest` without tag and digest, empty for an invalid reference. */
export function imageTag(image: string): string {
  if (image.length > REFERENCE_CHARS_MAX || IDENTIFIER.test(image)) return '';
  const path = withoutRegistry(image);
  const groups = path === undefined ? undefined : REFERENCE.exec(path)?.groups;
  if (groups === undefined) return '';
  return groups['tag'] ?? (groups['digest'] === undefined ? 'latest' : '');
}

/**
 * Removes the registry: the first component if it looks like a host. Returns undefined for a malformed host.
 */
function withoutRegistry(image: string): string | undefined {
  const slash = image.indexOf('/');
  const host = image.slice(0, Math.max(slash, 0));
  if (!/[.:]/.test(host) && host !== 'localhost') return image;
  return REGISTRY.test(host) ? image.slice(slash + 1) : undefined;
}
