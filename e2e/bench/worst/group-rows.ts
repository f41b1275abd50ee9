import type { Row } from './request';
import { CONTAINER, META, numbered } from './request';

const GROUPS = '/apis';
const SSAR = `${GROUPS}/authorization.k8s.io/v1/selfsubjectaccessreviews`;

/** Objects of groups with names. */
export const GROUP_ROWS: readonly Row[] = [
  [
    'role, empty rules',
    namespaced('rbac.authorization.k8s.io/v1', 'roles'),
    `{${META},"rules":[`,
    '{}',
    ']}',
  ],
  [
    'role, rules',
    namespaced('rbac.authorization.k8s.io/v1', 'roles'),
    `{${META},"rules":[`,
    '{"verbs":["a"],"apiGroups":["b"],"resources":["c"]}',
    ']}',
  ],
  [
    'role binding, subjects',
    namespaced('rbac.authorization.k8s.io/v1', 'rolebindings'),
    `{${META},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[`,
    '{"kind":"User","name":"u"}',
    ']}',
  ],
  [
    'ingress, rules',
    namespaced('networking.k8s.io/v1', 'ingresses'),
    `{${META},"spec":{"rules":[`,
    '{"host":"a"}',
    ']}}',
  ],
  [
    'ingress v1beta1, paths',
    namespaced('networking.k8s.io/v1beta1', 'ingresses'),
    `{${META},"spec":{"rules":[{"http":{"paths":[`,
    '{"path":"/","backend":{"serviceName":"s","servicePort":1}}',
    ']}}]}}',
  ],
  [
    'network policy, rules',
    namespaced('networking.k8s.io/v1', 'networkpolicies'),
    `{${META},"spec":{"podSelector":{},"ingress":[`,
    '{}',
    ']}}',
  ],
  [
    'network policy, requirements',
    namespaced('networking.k8s.io/v1', 'networkpolicies'),
    `{${META},"spec":{"podSelector":{"matchExpressions":[`,
    '{"key":"a","operator":"Exists"}',
    ']}}}',
  ],
  [
    'deployment, containers',
    namespaced('apps/v1', 'deployments'),
    `{${META},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[`,
    '{}',
    ']}}}}',
  ],
  [
    'stateful set, claims',
    namespaced('apps/v1', 'statefulsets'),
    `{${META},"spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[${CONTAINER}]}},"volumeClaimTemplates":[`,
    '{}',
    ']}}',
  ],
  [
    'autoscaler, metrics',
    namespaced('autoscaling/v2beta2', 'horizontalpodautoscalers'),
    `{${META},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"b"},"metrics":[`,
    '{"type":"Resource"}',
    ']}}',
  ],
  [
    'endpoint slice, endpoints',
    namespaced('discovery.k8s.io/v1', 'endpointslices'),
    `{${META},"addressType":"IPv4","endpoints":[`,
    '{}',
    ']}',
  ],
  [
    'webhooks',
    cluster('admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations'),
    `{${META},"webhooks":[`,
    numbered('{"name":"a.b.c#"}'),
    ']}',
  ],
  [
    'flow schema, rules',
    cluster('flowcontrol.apiserver.k8s.io/v1beta1', 'flowschemas'),
    `{${META},"spec":{"priorityLevelConfiguration":{"name":"a"},"rules":[`,
    '{}',
    ']}}',
  ],
  [
    'CSR, usages',
    cluster('certificates.k8s.io/v1', 'certificatesigningrequests'),
    `{${META},"spec":{"signerName":"a.b/c","request":"","usages":[`,
    '"client auth"',
    ']}}',
  ],
  [
    'CSR, request',
    cluster('certificates.k8s.io/v1', 'certificatesigningrequests'),
    `{${META},"spec":{"signerName":"a.b/c","usages":["client auth"],"request":"`,
    'AAAA',
    '"}}',
  ],
  [
    'access review, ownerReferences',
    SSAR,
    '{"metadata":{"ownerReferences":[',
    '{}',
    ']},"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}',
  ],
  [
    'access review, groups',
    `${GROUPS}/authorization.k8s.io/v1/subjectaccessreviews`,
    '{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"groups":[',
    '"g"',
    ']}}',
  ],
  [
    'access review, extra',
    `${GROUPS}/authorization.k8s.io/v1/subjectaccessreviews`,
    '{"spec":{"user":"u","resourceAttributes":{"verb":"get","resource":"pods"},"extra":{',
    numbered('"#":[""]'),
    '}}}',
  ],
  [
    'rules review, unknown',
    `${GROUPS}/authorization.k8s.io/v1/selfsubjectrulesreviews`,
    '{"spec":{"namespace":"a"},"b":[',
    '{}',
    ']}',
  ],
  [
    'token review, token',
    `${GROUPS}/authentication.k8s.io/v1/tokenreviews`,
    '{"spec":{"token":"',
    'eyJ.',
    '"}}',
  ],
  [
    'token review, audiences',
    `${GROUPS}/authentication.k8s.io/v1/tokenreviews`,
    '{"spec":{"token":"a","audiences":[',
    '""',
    ']}}',
  ],
];

function namespaced(group: string, resource: string): string {
  return `${GROUPS}/${group}/namespaces/worst/${resource}?dryRun=All`;
}

function cluster(group: string, resource: string): string {
  return `${GROUPS}/${group}/${resource}?dryRun=All`;
}
