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
    derive: ofHostNetwork,
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
  return {
    spec: {
      ...spec,
      ...changed(spec, 'containers', withRequests),
      ...changed(spec, 'initContainers', withRequests),
      enableServiceLinks: spec['enableServiceLinks'] ?? true,
    },
  };
}

function withRequests(each: Json): Json {
  const resources = objectAt(each, 'resources');
  const limits = resources === undefined ? undefined : objectAt(resources, 'limits');
  if (limits === undefined) return each;
  return {
    ...each,
    resources: { ...resources, requests: { ...limits, ...objectAt(resources ?? {}, 'requests') } },
  };
}

/** On the network of its node a container's port is the node's. */
function ofHostNetwork(spec: Json): Json | undefined {
  if (spec['hostNetwork'] !== true) return undefined;
  return { ...changed(spec, 'containers', withHostPorts), ...changed(spec, 'initContainers', withHostPorts) };
}

function withHostPorts(each: Json): Json {
  return {
    ...each,
    ...changed(each, 'ports', (port) =>
      has(port, 'hostPort') && port['hostPort'] !== 0 ? port : { ...port, hostPort: port['containerPort'] },
    ),
  };
}

function changed(object: Json, name: string, change: (value: Json) => Json): Json {
  const list = object[name];
  if (!Array.isArray(list)) return {};
  return { [name]: list.map((each: unknown) => (isJson(each) ? change(each) : each)) };
}
