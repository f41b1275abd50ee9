import type { Json } from '../conversion/json';
import { has, objectAt, textAt } from '../conversion/json';
import { LABEL } from '../names';
import type { DefaultsTable } from './contract';

const STICKY_SECONDS = 10_800;

/** Everything of the core group that is neither a pod nor a volume. */
export const CORE: DefaultsTable = {
  'core/v1.EndpointPort': { values: { protocol: 'TCP' } },
  'core/v1.LimitRangeItem': { derive: ofLimits },
  'core/v1.Namespace': { derive: ofNamespace },
  'core/v1.NamespaceStatus': { values: { phase: 'Active' } },
  'core/v1.NodeStatus': {
    derive: (status) =>
      has(status, 'capacity') && !has(status, 'allocatable')
        ? { allocatable: status['capacity'] }
        : undefined,
  },
  'core/v1.ReplicationController': { derive: ofReplicationController },
  'core/v1.ReplicationControllerSpec': { values: { replicas: 1 } },
  'core/v1.Secret': { values: { type: 'Opaque' } },
  'core/v1.ServiceSpec': { values: { sessionAffinity: 'None', type: 'ClusterIP' }, derive: ofService },
  'core/v1.ServicePort': {
    values: { protocol: 'TCP' },
    derive: ({ targetPort, port }) =>
      targetPort === undefined || targetPort === 0 || targetPort === '' ? { targetPort: port } : undefined,
  },
};

/** A namespace has its name as a label. One whose name is still to be made gets it then. */
function ofNamespace(namespace: Json): Json | undefined {
  const metadata = objectAt(namespace, 'metadata') ?? {};
  const name = textAt(metadata, 'name');
  if (name === '') return undefined;
  return {
    metadata: { ...metadata, labels: { ...objectAt(metadata, 'labels'), [LABEL.metadataName]: name } },
  };
}

function ofService(spec: Json): Json {
  const isOutside = spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer';
  const needsPolicy = isOutside && textAt(spec, 'externalTrafficPolicy') === '';
  return { ...ofAffinity(spec), ...(needsPolicy ? { externalTrafficPolicy: 'Cluster' } : {}) };
}

function ofAffinity(spec: Json): Json {
  if (spec['sessionAffinity'] === 'None') {
    return has(spec, 'sessionAffinityConfig') ? { sessionAffinityConfig: undefined } : {};
  }
  if (spec['sessionAffinity'] !== 'ClientIP') return {};
  const clientIP = objectAt(objectAt(spec, 'sessionAffinityConfig') ?? {}, 'clientIP') ?? {};
  if (has(clientIP, 'timeoutSeconds')) return {};
  return { sessionAffinityConfig: { clientIP: { timeoutSeconds: STICKY_SECONDS } } };
}

/** The template's labels are the selector, and the labels of the controller itself. */
function ofReplicationController(controller: Json): Json | undefined {
  const spec = objectAt(controller, 'spec') ?? {};
  const template = objectAt(spec, 'template') ?? {};
  const labels = objectAt(objectAt(template, 'metadata') ?? {}, 'labels');
  if (labels === undefined) return undefined;
  const metadata = objectAt(controller, 'metadata') ?? {};
  return {
    ...(hasMembers(metadata, 'labels') ? {} : { metadata: { ...metadata, labels } }),
    ...(hasMembers(spec, 'selector') ? {} : { spec: { ...spec, selector: labels } }),
  };
}

function hasMembers(object: Json, name: string): boolean {
  return Object.keys(objectAt(object, name) ?? {}).length > 0;
}

/** For containers: a limit is at most the maximum, a request what the limit or the minimum says. */
function ofLimits(item: Json): Json | undefined {
  if (item['type'] !== 'Container') return undefined;
  const limit = { ...objectAt(item, 'max'), ...objectAt(item, 'default') };
  const defaultRequest = { ...objectAt(item, 'min'), ...limit, ...objectAt(item, 'defaultRequest') };
  return { default: limit, defaultRequest };
}
