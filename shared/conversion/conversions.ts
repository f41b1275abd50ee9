import { CUSTOM_RESOURCE_DEFINITION } from './apiextensions';
import { HORIZONTAL_POD_AUTOSCALER_V1 } from './autoscaling-v1';
import { HORIZONTAL_POD_AUTOSCALER_V2BETA1 } from './autoscaling-v2beta1';
import type { Conversion } from './conversion';
import { POD_DISRUPTION_BUDGET } from './policy';
import { RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE } from './resource';
import { ownKeyMap } from '../own-key-map';
import { movesConversion } from './moves';
import type { ApiObject } from '../object/object';
import { LABEL, GROUP, USER_GROUP } from '../names';
import type { ReadonlyJson } from '../object/json';
import { changeList, objectAt, without, changeObject, textAt } from '../object/json';
import { apiVersionOf } from '../object/object';

/** Events of the group events are those of core under other field names. */
const EVENT = movesConversion([
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
]);

/** authorization/v1beta1 names the requester's groups `group`. */
const ACCESS_REVIEW = movesConversion([['spec.group', 'spec.groups']]);

/** node/v1alpha1 has a spec. */
const RUNTIME_CLASS = movesConversion([
  ['spec.runtimeHandler', 'handler'],
  ['spec.overhead', 'overhead'],
  ['spec.scheduling', 'scheduling'],
]);

/**
 * discovery/v1beta1 has the topology of an endpoint in a map; v1 has fields for zone and node and keeps the
 * rest as `deprecatedTopology`. A host name that is not the node's name stays in the map.
 */
const ENDPOINT_SLICE: Conversion = {
  toHub: (object) => changeList(object, 'endpoints', withoutTopology) as ApiObject,
  fromHub: (object) => changeList(object, 'endpoints', withTopology) as ApiObject,
};

function withoutTopology(endpoint: ReadonlyJson): ReadonlyJson {
  const topology = objectAt(endpoint, 'topology');
  if (topology === undefined) return without(endpoint, 'topology');
  const zone = topology[LABEL.topologyZone];
  const isNode = endpoint['nodeName'] !== undefined && topology[LABEL.hostname] === endpoint['nodeName'];
  const rest = without(topology, LABEL.topologyZone, ...(isNode ? [LABEL.hostname] : []));
  return {
    ...without(endpoint, 'topology'),
    ...(Object.keys(rest).length === 0 ? {} : { deprecatedTopology: rest }),
    ...(zone === undefined ? {} : { zone }),
  };
}

function withTopology(endpoint: ReadonlyJson): ReadonlyJson {
  const { zone, nodeName } = endpoint;
  const kept = objectAt(endpoint, 'deprecatedTopology');
  const rest = without(endpoint, 'deprecatedTopology', 'zone');
  if (kept === undefined && zone === undefined && nodeName === undefined) return rest;
  const host = kept?.[LABEL.hostname] ?? '';
  return {
    ...rest,
    topology: {
      ...kept,
      ...(zone === undefined ? {} : { [LABEL.topologyZone]: zone }),
      ...(nodeName === undefined || host !== '' ? {} : { [LABEL.hostname]: nodeName }),
    },
  };
}

const DEFAULT_BACKEND = movesConversion([['spec.backend', 'spec.defaultBackend']]);

/** Ingress of extensions/v1beta1 and networking/v1beta1: a backend has its service in two flat fields. */
const INGRESS: Conversion = {
  toHub: (object) => eachBackend(DEFAULT_BACKEND.toHub(object), nestedBackend) as ApiObject,
  fromHub: (object) => DEFAULT_BACKEND.fromHub(eachBackend(object, flatBackend) as ApiObject),
};

/** Changes each backend of an Ingress whose default backend has its hub name. */
function eachBackend(ingress: ReadonlyJson, change: (backend: ReadonlyJson) => ReadonlyJson): ReadonlyJson {
  return changeObject(ingress, 'spec', (spec) =>
    changeList(changeObject(spec, 'defaultBackend', change), 'rules', (rule) =>
      changeObject(rule, 'http', (http) =>
        changeList(http, 'paths', (path) => changeObject(path, 'backend', change)),
      ),
    ),
  );
}

function nestedBackend(backend: ReadonlyJson): ReadonlyJson {
  const { serviceName, servicePort } = backend;
  const rest = without(backend, 'serviceName', 'servicePort');
  const isService = textAt(backend, 'serviceName') !== '' || isPort(servicePort);
  if (!isService) return rest;
  const port = typeof servicePort === 'string' ? { name: servicePort } : { number: servicePort ?? 0 };
  return { ...rest, service: { name: serviceName ?? '', port } };
}

/** True for a number other than 0, or any string. */
function isPort(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'number' && value !== 0);
}

function flatBackend(backend: ReadonlyJson): ReadonlyJson {
  const service = objectAt(backend, 'service');
  const rest = without(backend, 'service');
  if (service === undefined) return rest;
  const port = objectAt(service, 'port') ?? {};
  const name = textAt(port, 'name');
  return {
    ...rest,
    serviceName: service['name'],
    servicePort: name === '' ? (port['number'] ?? 0) : name,
  };
}

/**
 * A subject of rbac/v1alpha1 has the apiVersion of its kind, later versions only the group. The user `*` means
 * all authenticated users.
 */
const SUBJECTS: Conversion = {
  toHub: (object) => changeList(object, 'subjects', withGroup) as ApiObject,
  fromHub: (object) => changeList(object, 'subjects', withApiVersion) as ApiObject,
  settles: true,
};

const OWN_VERSION = apiVersionOf({ group: GROUP.rbac, version: 'v1alpha1' });

function withGroup(subject: ReadonlyJson): ReadonlyJson {
  const rest = without(subject, 'apiVersion');
  const kind = textAt(subject, 'kind');
  if (kind === 'User' && subject['name'] === '*') {
    return { ...rest, kind: 'Group', apiGroup: GROUP.rbac, name: USER_GROUP.authenticated };
  }
  const group = groupOf(kind, textAt(subject, 'apiVersion'));
  return group === '' ? rest : { ...rest, apiGroup: group };
}

function groupOf(kind: string, apiVersion: string): string {
  if (kind === 'ServiceAccount') return '';
  if (kind === 'User' || kind === 'Group') return GROUP.rbac;
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

/**
 * A kind without its group keeps the apiVersion as it is, since ownership is compared before defaults are
 * applied.
 */
function withApiVersion(subject: ReadonlyJson): ReadonlyJson {
  const rest = without(subject, 'apiGroup');
  const apiVersion = versionOf(textAt(subject, 'kind'), textAt(subject, 'apiGroup'));
  return apiVersion === '' ? rest : { ...rest, apiVersion };
}

function versionOf(kind: string, group: string): string {
  if (kind === 'ServiceAccount' && group === '') return 'v1';
  if ((kind === 'User' || kind === 'Group') && group === GROUP.rbac) return OWN_VERSION;
  return group === '' ? '' : `${group}/`;
}

/** Conversions by the message of the version. A version that is not in this table has the fields of its hub. */
const CONVERSIONS = ownKeyMap<Conversion>({
  'apiextensions/v1beta1.CustomResourceDefinition': CUSTOM_RESOURCE_DEFINITION,
  'authorization/v1beta1.LocalSubjectAccessReview': ACCESS_REVIEW,
  'authorization/v1beta1.SubjectAccessReview': ACCESS_REVIEW,
  'autoscaling/v1.HorizontalPodAutoscaler': HORIZONTAL_POD_AUTOSCALER_V1,
  'autoscaling/v2beta1.HorizontalPodAutoscaler': HORIZONTAL_POD_AUTOSCALER_V2BETA1,
  'discovery/v1beta1.EndpointSlice': ENDPOINT_SLICE,
  'events/v1.Event': EVENT,
  'events/v1beta1.Event': EVENT,
  'extensions/v1beta1.Ingress': INGRESS,
  'networking/v1beta1.Ingress': INGRESS,
  'node/v1alpha1.RuntimeClass': RUNTIME_CLASS,
  'policy/v1beta1.PodDisruptionBudget': POD_DISRUPTION_BUDGET,
  'rbac/v1alpha1.ClusterRoleBinding': SUBJECTS,
  'rbac/v1alpha1.RoleBinding': SUBJECTS,
  'resource/v1beta1.ResourceClaim': RESOURCE_CLAIM,
  'resource/v1beta1.ResourceClaimTemplate': RESOURCE_CLAIM_TEMPLATE,
  'resource/v1beta1.ResourceSlice': RESOURCE_SLICE,
});

/**
 * Returns the conversion of a row of the resource table; undefined when at most the apiVersion differs from
 * the hub's.
 */
export function getConversion(row: { readonly schema: string }): Conversion | undefined {
  return CONVERSIONS.get(row.schema);
}

/** Returns the names of hub fields in field selectors of a version. Other names equal the hub's. */
export function getSelectorNames(row: { readonly schema: string }): ReadonlyMap<string, string> {
  return SELECTOR_NAMES.get(row.schema) ?? new Map<string, string>();
}

const EVENT_SELECTORS = ownKeyMap<string>({
  'regarding.kind': 'involvedObject.kind',
  'regarding.namespace': 'involvedObject.namespace',
  'regarding.name': 'involvedObject.name',
  'regarding.uid': 'involvedObject.uid',
  'regarding.apiVersion': 'involvedObject.apiVersion',
  'regarding.resourceVersion': 'involvedObject.resourceVersion',
  'regarding.fieldPath': 'involvedObject.fieldPath',
  reportingController: 'reportingComponent',
  // This version cannot select by the field.
  source: '',
});

/** `spec.host` is the old name of `spec.nodeName`. */
const POD_SELECTORS = ownKeyMap<string>({
  'spec.host': 'spec.nodeName',
  'spec.nodeName': 'spec.nodeName',
});

const SELECTOR_NAMES = ownKeyMap<ReadonlyMap<string, string>>({
  'core/v1.Pod': POD_SELECTORS,
  'events/v1.Event': EVENT_SELECTORS,
  'events/v1beta1.Event': EVENT_SELECTORS,
});
