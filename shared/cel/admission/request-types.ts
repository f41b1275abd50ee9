import { BOOL, DYN, INT, STRING, TIMESTAMP, listOf, mapOf, structOf } from '../check/types';
import type { CelType } from '../check/types';

/** The types of the variables `request` and `namespaceObject` (k8s.io/apiserver `admission/plugin/cel/compile.go`). */

const STRINGS = listOf(STRING);
const TEXTS = mapOf(STRING, STRING);

export const REQUEST = structOf('kubernetes.AdmissionRequest');
export const NAMESPACE = structOf('kubernetes.Namespace');

const struct = (
  name: string,
  fields: Readonly<Record<string, CelType>>,
): readonly [string, Map<string, CelType>] => [name, new Map(Object.entries(fields))];

const KIND = structOf('kubernetes.GroupVersionKind');
const RESOURCE = structOf('kubernetes.GroupVersionResource');

export const REQUEST_STRUCTS: ReadonlyMap<string, ReadonlyMap<string, CelType>> = new Map([
  struct(KIND.name, { group: STRING, version: STRING, kind: STRING }),
  struct(RESOURCE.name, { group: STRING, version: STRING, resource: STRING }),
  struct('kubernetes.UserInfo', {
    username: STRING,
    uid: STRING,
    groups: STRINGS,
    extra: mapOf(STRING, STRINGS),
  }),
  struct(REQUEST.name, {
    kind: KIND,
    resource: RESOURCE,
    subResource: STRING,
    requestKind: KIND,
    requestResource: RESOURCE,
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: structOf('kubernetes.UserInfo'),
    dryRun: BOOL,
    options: DYN,
  }),
  struct('kubernetes.NamespaceSpec', { finalizers: STRINGS }),
  struct('kubernetes.NamespaceCondition', {
    status: STRING,
    type: STRING,
    lastTransitionTime: TIMESTAMP,
    message: STRING,
    reason: STRING,
  }),
  struct('kubernetes.NamespaceStatus', {
    conditions: listOf(structOf('kubernetes.NamespaceCondition')),
    phase: STRING,
  }),
  struct('kubernetes.NamespaceMetadata', {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: TEXTS,
    annotations: TEXTS,
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: STRINGS,
  }),
  struct(NAMESPACE.name, {
    metadata: structOf('kubernetes.NamespaceMetadata'),
    spec: structOf('kubernetes.NamespaceSpec'),
    status: structOf('kubernetes.NamespaceStatus'),
  }),
]);
