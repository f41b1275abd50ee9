import type { Json } from '../conversion/json';
import { has, isJson, objectAt, textAt } from '../conversion/json';
import type { DefaultsTable, MessageDefaults } from './contract';
import { imageTag } from './image-tag';

const container: MessageDefaults = {
  values: { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
  derive: (object) =>
    textAt(object, 'imagePullPolicy') === ''
      ? { imagePullPolicy: imageTag(textAt(object, 'image')) === 'latest' ? 'Always' : 'IfNotPresent' }
      : undefined,
};

/** Pods, and everything in them but volumes. */
export const CORE_PODS: DefaultsTable = {
  'core/v1.Pod': { derive: ofPod },
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
  'core/v1.Container': container,
  'core/v1.EphemeralContainer': container,
  'core/v1.ContainerPort': { values: { protocol: 'TCP' } },
  'core/v1.Probe': {
    values: { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 },
  },
  'core/v1.HTTPGetAction': { values: { path: '/', scheme: 'HTTP' } },
  'core/v1.ObjectFieldSelector': { values: { apiVersion: 'v1' } },
};

/** In a pod (not in a template for pods) a limit without a request is also the request. */
function ofPod(pod: Json): Json | undefined {
  const spec = objectAt(pod, 'spec');
  if (spec === undefined) return undefined;
  const changes = {
    ...changed(spec, 'containers', withRequests),
    ...changed(spec, 'initContainers', withRequests),
    ...(has(spec, 'enableServiceLinks') ? {} : { enableServiceLinks: true }),
  };
  return Object.keys(changes).length === 0 ? undefined : { spec: { ...spec, ...changes } };
}

function withRequests(each: Json): Json {
  const resources = objectAt(each, 'resources');
  const limits = resources === undefined ? undefined : objectAt(resources, 'limits');
  const requests = objectAt(resources ?? {}, 'requests') ?? {};
  if (limits === undefined || Object.keys(limits).every((name) => has(requests, name))) return each;
  return {
    ...each,
    resources: { ...resources, requests: { ...limits, ...requests } },
  };
}

/** A service account under one of its two names has both; the new one wins. */
function ofPodSpec(spec: Json): Json | undefined {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  const isNamed = name === '' || (spec['serviceAccountName'] === name && spec['serviceAccount'] === name);
  const onHost = ofHostNetwork(spec);
  if (isNamed) return onHost;
  return { ...onHost, serviceAccountName: name, serviceAccount: name };
}

/** On the network of its node a container's port is the node's. */
function ofHostNetwork(spec: Json): Json | undefined {
  if (spec['hostNetwork'] !== true) return undefined;
  return { ...changed(spec, 'containers', withHostPorts), ...changed(spec, 'initContainers', withHostPorts) };
}

function withHostPorts(each: Json): Json {
  const changes = changed(each, 'ports', (port) =>
    has(port, 'hostPort') && port['hostPort'] !== 0 ? port : { ...port, hostPort: port['containerPort'] },
  );
  return 'ports' in changes ? { ...each, ...changes } : each;
}

/** The list with its items changed, as a member of its own; nothing where none changes. */
function changed(object: Json, name: string, change: (value: Json) => Json): Json {
  const list = object[name];
  if (!Array.isArray(list)) return {};
  const items: readonly unknown[] = list;
  const next = items.map((each) => (isJson(each) ? change(each) : each));
  return next.every((each, at) => each === items[at]) ? {} : { [name]: next };
}
