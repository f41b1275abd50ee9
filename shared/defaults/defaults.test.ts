import { GROUP, SIGNER } from '../names';
import type { ApiObject } from '../object/object';
import { decodeObject } from '../schema/decode';
import { filledObject } from '../schema/testing/samples';
import { kindType, messageType } from '../schema/types';
import { RESOURCES } from '../api/resources';
import { getDefaults, MESSAGES_WITH_DEFAULTS } from './defaults';
import { imageTag } from './core-pods';

/** Returns an object of a kind with its defaults, in canonical form. */
function filled(schema: string, object: object): ApiObject {
  const type = kindType(schema);
  const { object: canonical } = decodeObject(type, { metadata: {}, ...object });
  return decodeObject(type, getDefaults(schema)(canonical)).object;
}

const CONTAINER = { terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' };
const POD_SPEC = {
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
};
const PROBE = { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const HOOK = {
  name: 'a.example.com',
  clientConfig: { service: { namespace: 'n', name: 's' } },
  rules: [{ operations: ['*'] }],
};
const HPA = { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2 };

test.each(['node/v1', 'node/v1beta1'])('the overhead of a RuntimeClass in %s is not rounded', (version) => {
  const overhead = { podFixed: { cpu: '100u' } };
  expect(filled(`${version}.RuntimeClass`, { handler: 'h', overhead })).toMatchObject({ overhead });
});

/** Kind, object as sent, expected part of the result. */
const ROWS: readonly (readonly [schema: string, sent: object, expected: object])[] = [
  [
    'core/v1.Pod',
    { spec: { containers: [{ name: 'c', image: 'i' }] } },
    {
      spec: {
        ...POD_SPEC,
        enableServiceLinks: true,
        containers: [{ ...CONTAINER, imagePullPolicy: 'Always' }],
      },
    },
  ],
  [
    'core/v1.Pod',
    {
      spec: {
        containers: [{ name: 'c', image: 'i:1', ports: [{ containerPort: 80 }] }],
        initContainers: [{ name: 'd', image: 'i@sha256:' + 'a'.repeat(64) }],
        ephemeralContainers: [{ name: 'e', image: 'r:5000/i' }],
      },
    },
    {
      spec: {
        containers: [{ imagePullPolicy: 'IfNotPresent', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
        initContainers: [{ imagePullPolicy: 'IfNotPresent' }],
        ephemeralContainers: [{ ...CONTAINER, imagePullPolicy: 'Always' }],
      },
    },
  ],
  [
    'core/v1.Pod',
    { spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] } },
    { spec: { containers: [{ ports: [{ containerPort: 80, hostPort: 80 }] }] } },
  ],
  [
    'core/v1.Pod',
    {
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100u' } },
          },
        ],
      },
    },
    {
      spec: {
        containers: [
          { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1m', memory: '1Gi' } } },
        ],
      },
    },
  ],
  [
    'core/v1.Pod',
    {
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            livenessProbe: { httpGet: { port: 80 } },
            lifecycle: { preStop: { httpGet: { port: 'web' } } },
            env: [{ name: 'E', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          },
        ],
      },
    },
    {
      spec: {
        containers: [
          {
            livenessProbe: { ...PROBE, httpGet: { path: '/', port: 80, scheme: 'HTTP' } },
            lifecycle: { preStop: { httpGet: { path: '/', scheme: 'HTTP' } } },
            env: [{ valueFrom: { fieldRef: { apiVersion: 'v1' } } }],
          },
        ],
      },
    },
  ],
  [
    'core/v1.Pod',
    {
      spec: {
        containers: [],
        volumes: [
          { name: 'none' },
          { name: 's', secret: { secretName: 's' } },
          { name: 'h', hostPath: { path: '/' } },
          { name: 'p', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
          { name: 'i', iscsi: {} },
          { name: 'r', rbd: {} },
          { name: 'o', scaleIO: {} },
          { name: 'a', azureDisk: {} },
          { name: 'c', configMap: {} },
          { name: 'd', downwardAPI: {} },
          { name: 'e', ephemeral: { volumeClaimTemplate: { spec: {} } } },
        ],
      },
    },
    {
      spec: {
        volumes: [
          { emptyDir: {} },
          { secret: { defaultMode: 420 } },
          { hostPath: { type: '' } },
          {
            projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3600 } }] },
          },
          { iscsi: { iscsiInterface: 'default' } },
          { rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } },
          { scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' } },
          { azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false } },
          { configMap: { defaultMode: 420 } },
          { downwardAPI: { defaultMode: 420 } },
          { ephemeral: { volumeClaimTemplate: { spec: { volumeMode: 'Filesystem' } } } },
        ],
      },
    },
  ],
  [
    'core/v1.Service',
    { spec: { ports: [{ port: 80 }, { port: 81, targetPort: 'web' }] } },
    {
      spec: {
        sessionAffinity: 'None',
        type: 'ClusterIP',
        ports: [{ port: 80, targetPort: 80, protocol: 'TCP' }, { targetPort: 'web' }],
      },
    },
  ],
  [
    'core/v1.Service',
    { spec: { type: 'NodePort', sessionAffinity: 'ClientIP' } },
    {
      spec: {
        externalTrafficPolicy: 'Cluster',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      },
    },
  ],
  ['core/v1.Secret', {}, { type: 'Opaque' }],
  [
    'core/v1.PersistentVolume',
    { spec: {} },
    {
      spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  ],
  [
    'storage/v1.VolumeAttachment',
    { spec: { source: { inlineVolumeSpec: { iscsi: {} } } } },
    { spec: { source: { inlineVolumeSpec: { iscsi: { iscsiInterface: 'default' } } } } },
  ],
  [
    'core/v1.PersistentVolumeClaim',
    { spec: {} },
    { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } },
  ],
  [
    'core/v1.Endpoints',
    { subsets: [{ ports: [{ port: 1 }] }] },
    { subsets: [{ ports: [{ protocol: 'TCP' }] }] },
  ],
  ['core/v1.Namespace', {}, { status: { phase: 'Active' } }],
  ['core/v1.Node', { status: { capacity: { cpu: '1' } } }, { status: { allocatable: { cpu: '1' } } }],
  [
    'core/v1.LimitRange',
    {
      spec: {
        limits: [
          {
            type: 'Container',
            max: { cpu: '2', memory: '1Gi' },
            min: { cpu: '1', pods: '1' },
            default: { cpu: '1500m' },
          },
          { type: 'Pod', max: { cpu: '2' } },
        ],
      },
    },
    {
      spec: {
        limits: [
          {
            default: { cpu: '1500m', memory: '1Gi' },
            defaultRequest: { cpu: '1500m', memory: '1Gi', pods: '1' },
          },
          { type: 'Pod', max: { cpu: '2' } },
        ],
      },
    },
  ],
  [
    'core/v1.LimitRange',
    { spec: { limits: [{ type: 'Container', min: { cpu: '1' } }, { type: 'Container' }] } },
    { spec: { limits: [{ defaultRequest: { cpu: '1' } }, { type: 'Container' }] } },
  ],
  [
    'core/v1.ReplicationController',
    { spec: { template } },
    { metadata: { labels: { app: 'a' } }, spec: { replicas: 1, selector: { app: 'a' } } },
  ],
  [
    'apps/v1.Deployment',
    { spec: { template } },
    {
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        template: { spec: POD_SPEC },
      },
    },
  ],
  [
    'apps/v1.Deployment',
    { spec: { template, strategy: { type: 'Recreate' } } },
    { spec: { strategy: { type: 'Recreate' } } },
  ],
  [
    'apps/v1.DaemonSet',
    { spec: { template } },
    {
      spec: {
        revisionHistoryLimit: 10,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      },
    },
  ],
  [
    'apps/v1.StatefulSet',
    { spec: { template } },
    {
      spec: {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        revisionHistoryLimit: 10,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      },
    },
  ],
  [
    'apps/v1.StatefulSet',
    {
      spec: {
        template,
        volumeClaimTemplates: [
          { metadata: { name: 'a' } },
          { kind: 'Odd', apiVersion: 'v9', metadata: { name: 'b' } },
        ],
      },
    },
    {
      spec: {
        volumeClaimTemplates: [
          { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'a' } },
          { kind: 'PersistentVolumeClaim', apiVersion: 'v1', metadata: { name: 'b' } },
        ],
      },
    },
  ],
  ['apps/v1.ReplicaSet', { spec: { template } }, { spec: { replicas: 1 } }],
  [
    'batch/v1.Job',
    { spec: { template } },
    { metadata: { labels: { app: 'a' } }, spec: { completions: 1, parallelism: 1, backoffLimit: 6 } },
  ],
  [
    'batch/v1.CronJob',
    { spec: {} },
    {
      spec: {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
    },
  ],
  ['autoscaling/v1.HorizontalPodAutoscaler', { spec: HPA }, { spec: { minReplicas: 1 } }],
  [
    'autoscaling/v2beta1.HorizontalPodAutoscaler',
    { spec: HPA },
    { spec: { metrics: [{ resource: { name: 'cpu', targetAverageUtilization: 80 } }] } },
  ],
  [
    'autoscaling/v2beta2.HorizontalPodAutoscaler',
    { spec: { ...HPA, behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] } } } },
    {
      spec: {
        metrics: [{ resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
        behavior: {
          scaleUp: { selectPolicy: 'Max', stabilizationWindowSeconds: 0, policies: [{ value: 1 }] },
          scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
        },
      },
    },
  ],
  [
    'networking/v1.NetworkPolicy',
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    { spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ protocol: 'TCP' }] }] } },
  ],
  [
    'networking/v1.NetworkPolicy',
    { spec: { podSelector: {}, egress: [{}] } },
    { spec: { policyTypes: ['Ingress', 'Egress'] } },
  ],
  [
    'networking/v1beta1.Ingress',
    { spec: { rules: [{ http: { paths: [{ backend: {} }] } }] } },
    { spec: { rules: [{ http: { paths: [{ pathType: 'ImplementationSpecific' }] } }] } },
  ],
  ['discovery/v1.EndpointSlice', { ports: [{}] }, { ports: [{ name: '', protocol: 'TCP' }] }],
  ['policy/v1beta1.PodSecurityPolicy', { spec: {} }, { spec: { allowPrivilegeEscalation: true } }],
  [
    'rbac/v1.RoleBinding',
    {
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ],
      roleRef: { kind: 'Role', name: 'r' },
    },
    { subjects: [{ apiGroup: GROUP.rbac }, { kind: 'ServiceAccount' }], roleRef: { apiGroup: GROUP.rbac } },
  ],
  [
    'rbac/v1alpha1.RoleBinding',
    {
      subjects: [
        { kind: 'Group', name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    },
    { subjects: [{ apiVersion: `${GROUP.rbac}/v1alpha1` }, { apiVersion: 'v1' }] },
  ],
  ['storage/v1.StorageClass', {}, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }],
  [
    'storage/v1beta1.CSIDriver',
    { spec: {} },
    {
      spec: {
        attachRequired: true,
        podInfoOnMount: false,
        volumeLifecycleModes: ['Persistent'],
        storageCapacity: false,
        requiresRepublish: false,
        fsGroupPolicy: 'ReadWriteOnceWithFSType',
      },
    },
  ],
  ['scheduling/v1.PriorityClass', {}, { preemptionPolicy: 'PreemptLowerPriority' }],
  [
    'flowcontrol/v1beta1.FlowSchema',
    { spec: { matchingPrecedence: 0 } },
    { spec: { matchingPrecedence: 1000 } },
  ],
  [
    'flowcontrol/v1beta1.PriorityLevelConfiguration',
    { spec: { limited: { limitResponse: { queuing: {} } } } },
    {
      spec: {
        limited: {
          assuredConcurrencyShares: 30,
          limitResponse: { queuing: { handSize: 8, queues: 64, queueLengthLimit: 50 } },
        },
      },
    },
  ],
  [
    'admissionregistration/v1.MutatingWebhookConfiguration',
    { webhooks: [HOOK] },
    {
      webhooks: [
        {
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          timeoutSeconds: 10,
          reinvocationPolicy: 'Never',
          namespaceSelector: {},
          objectSelector: {},
          rules: [{ scope: '*' }],
          clientConfig: { service: { port: 443 } },
        },
      ],
    },
  ],
  [
    'admissionregistration/v1beta1.ValidatingWebhookConfiguration',
    { webhooks: [HOOK] },
    {
      webhooks: [
        {
          failurePolicy: 'Ignore',
          matchPolicy: 'Exact',
          timeoutSeconds: 30,
          sideEffects: 'Unknown',
          admissionReviewVersions: ['v1beta1'],
          namespaceSelector: {},
          objectSelector: {},
        },
      ],
    },
  ],
  [
    'apiextensions/v1.CustomResourceDefinition',
    {
      spec: {
        names: { kind: 'Thing', plural: 'things' },
        versions: [{ name: 'v2', served: true, storage: true }],
      },
    },
    {
      spec: { names: { singular: 'thing', listKind: 'ThingList' }, conversion: { strategy: 'None' } },
      status: { storedVersions: ['v2'] },
    },
  ],
  [
    'apiextensions/v1beta1.CustomResourceDefinition',
    { spec: { names: { kind: 'Thing', plural: 'things' }, version: 'v1' } },
    {
      spec: {
        scope: 'Namespaced',
        preserveUnknownFields: true,
        versions: [{ name: 'v1', served: true, storage: true }],
      },
      status: { storedVersions: ['v1'] },
    },
  ],
  [
    'apiregistration/v1.APIService',
    { spec: { service: { name: 's', namespace: 'n' } } },
    { spec: { service: { port: 443 } } },
  ],
  [
    'certificates/v1beta1.CertificateSigningRequest',
    { spec: { request: 'AA==' }, status: { conditions: [{ type: 'Approved' }] } },
    {
      spec: { signerName: SIGNER.legacyUnknown, usages: ['digital signature', 'key encipherment'] },
      status: { conditions: [{ status: 'True' }] },
    },
  ],
];

test.each(ROWS)('%s gets its defaults (row %#)', (schema, sent, expected) => {
  expect(filled(schema, sent)).toMatchObject(expected);
});

test('every message of the table exists, and every value in it is a field of the message', () => {
  for (const name of MESSAGES_WITH_DEFAULTS) expect(messageType(name).fields.length).toBeGreaterThan(0);
});

test('defaults of an object with every field set only change derived fields', () => {
  for (const { schema } of RESOURCES) {
    const type = kindType(schema);
    const { object } = decodeObject(type, {
      ...filledObject(type),
      metadata: { name: 'a', labels: { a: 'b' } },
    });
    const once = getDefaults(schema)(object);
    expect(getDefaults(schema)(once)).toEqual(once);
  }
});

test('defaults are in canonical form', () => {
  for (const [schema, sent] of ROWS) {
    const type = kindType(schema);
    const { object } = decodeObject(type, { metadata: {}, ...sent });
    const full = getDefaults(schema)(object);
    expect(full).toEqual(decodeObject(type, full).object);
  }
});

test('the argument is never changed', () => {
  const freeze = <T>(value: T): T => {
    if (typeof value !== 'object' || value === null) return value;
    for (const each of Object.values(value)) freeze(each);
    return Object.freeze(value);
  };
  for (const [schema, sent] of ROWS) {
    const { object } = decodeObject(kindType(schema), { metadata: {}, ...sent });
    expect(() => getDefaults(schema)(freeze(object))).not.toThrow();
  }
});

test('an object without missing fields is returned as it is', () => {
  const complete = filled('core/v1.ConfigMap', {});
  expect(getDefaults('core/v1.ConfigMap')(complete)).toBe(complete);
  const secret = filled('core/v1.Secret', complete);
  expect(getDefaults('core/v1.Secret')(secret)).toBe(secret);
});

test('sessionAffinity None has no sessionAffinityConfig', () => {
  const service = filled('core/v1.Service', {
    spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } },
  });
  expect(service['spec']).not.toHaveProperty('sessionAffinityConfig');
});

test.each([
  ['nginx', 'latest'],
  ['nginx:1', '1'],
  ['host:5000/a/b', 'latest'],
  ['host:5000/a/b:v1', 'v1'],
  [`a@sha256:${'0'.repeat(64)}`, ''],
  ['Upper/case', ''],
  ['Host.example/case', 'latest'],
  ['a/Upper', ''],
  ['', ''],
  ['f'.repeat(64), ''],
])('the tag of %s is "%s"', (image, tag) => {
  expect(imageTag(image)).toBe(tag);
});

test('requested names of a definition get defaults, and accepted names stay', () => {
  const definition = filled('apiextensions/v1.CustomResourceDefinition', {
    spec: { names: { plural: 'foos', kind: 'Foo' }, versions: [] },
    status: { acceptedNames: { plural: 'foos', kind: 'Foo' } },
  });
  expect(definition).toMatchObject({ spec: { names: { singular: 'foo', listKind: 'FooList' } } });
  expect(definition).toHaveProperty('status.acceptedNames', { plural: 'foos', kind: 'Foo' });
});

test.each([
  ['batch/v1.Job', 'podReplacementPolicy', 'TerminatingOrFailed'],
  ['apps/v1.StatefulSet', 'persistentVolumeClaimRetentionPolicy', {}],
])('the defaults of %s follow the gates of the server: %s', (schema, field, value) => {
  const object = { metadata: {}, spec: { template } };
  const specOf = (isOn: boolean): Readonly<Record<string, unknown>> =>
    getDefaults(schema, () => isOn)(object)['spec'] as Readonly<Record<string, unknown>>;
  expect([specOf(true)[field], specOf(false)[field]]).toEqual([value, undefined]);
});
