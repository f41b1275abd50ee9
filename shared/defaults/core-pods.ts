import type { Part } from '../object/object';
import type { Container, EphemeralContainer, Pod, PodSpec, PodStatus } from '../api/types/core-v1';
import type { DefaultsTable, MessageDefaults } from './contract';

const ofContainer: MessageDefaults<Container | EphemeralContainer> = {
  values: { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
  derive: ({ image = '', imagePullPolicy = '' }) =>
    imagePullPolicy === ''
      ? { imagePullPolicy: imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent' }
      : undefined,
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
};

/** `podIP` is the first of `podIPs`. Old kubelets set it alone; it then takes precedence. */
function ofPodStatus({ podIP: ip = '', podIPs = [] }: PodStatus): Part<PodStatus> | undefined {
  const [{ ip: first = '' } = {}] = podIPs;
  if (ip === first) return undefined;
  return ip === '' ? { podIP: first } : { podIPs: [{ ip }] };
}

/** In a pod (not in a pod template) a limit without a request is also the request. */
function ofPod({ spec }: Pod): Part<Pod> | undefined {
  const changes = {
    ...changed(spec, withRequests),
    ...(spec.enableServiceLinks === undefined ? { enableServiceLinks: true } : {}),
  };
  return Object.keys(changes).length === 0 ? undefined : { spec: { ...spec, ...changes } };
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
  const onHost = ofHostNetwork(spec);
  if (serviceAccountName === name && serviceAccount === name) return onHost;
  return { ...onHost, serviceAccountName: name, serviceAccount: name };
}

/** With hostNetwork, hostPort equals containerPort. */
function ofHostNetwork(spec: PodSpec): Part<PodSpec> | undefined {
  return spec.hostNetwork === true ? changed(spec, withHostPorts) : undefined;
}

function withHostPorts(container: Container): Container {
  const { ports = [] } = container;
  const open = ports.map((port) =>
    (port.hostPort ?? 0) === 0 ? { ...port, hostPort: port.containerPort } : port,
  );
  return open.every((port, at) => port === ports[at]) ? container : { ...container, ports: open };
}

/** Returns the lists of containers that change. */
function changed(
  { containers, initContainers }: PodSpec,
  change: (container: Container) => Container,
): Pick<Part<PodSpec>, 'containers' | 'initContainers'> {
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
