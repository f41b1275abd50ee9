import { GROUP, SECRET_TYPE, SIGNER } from '../../../shared/names';
import { stringifyExact } from '../../../shared/object/exact-text';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

/** What refusals say: people search for these words, and programs match on them. Values with members are told as JSON. */

const HERE = 'namespaces/default';
const FLOW = `/apis/${GROUP.flowcontrol}/v1beta1`;
const HOOKS = `/apis/${GROUP.admissionregistration}/v1/mutatingwebhookconfigurations`;

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

/** The object's own fields, and `field: message` for each thing that is wrong. */
type Row = readonly [url: string, object: object, messages: readonly string[]];

async function messagesOf(url: string, object: object): Promise<readonly string[]> {
  const body = {
    ...object,
    metadata: { name: 'x', ...('metadata' in object ? (object.metadata as object) : {}) },
  };
  const { code, json } = await api.call('POST', url, { text: stringifyExact(body) });
  if (code !== 422) return [`${String(code)} ${String(json.message ?? '')}`];
  const causes = json.details.causes as readonly { readonly field: string; readonly message: string }[];
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

const test422 = (title: string, rows: readonly Row[]): void => {
  test.each(rows)(`${title} (%s %j)`, async (url, object, messages) => {
    expect(await messagesOf(url, object)).toEqual(messages);
  });
};

const container = { name: 'c', image: 'i' };
const pod = (spec: object): Row[1] => ({ template: { spec: { containers: [container], ...spec } } });
const TEMPLATES = `/api/v1/${HERE}/podtemplates`;

test422('choices are told in the order of the API', [
  [
    TEMPLATES,
    pod({ restartPolicy: 'x', dnsPolicy: 'x' }),
    [
      'template.spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"',
      'template.spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"',
    ],
  ],
  [
    TEMPLATES,
    pod({ tolerations: [{ key: 'a', effect: 'x' }], preemptionPolicy: 'x' }),
    [
      'template.spec.tolerations[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'template.spec.preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"',
    ],
  ],
  [
    `/api/v1/${HERE}/services`,
    { spec: { ports: [{ port: 80, protocol: 'x' }], type: 'x' } },
    [
      'spec.ports[0].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"',
      'spec.type: Unsupported value: "x": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ],
  ],
  [
    `/apis/${GROUP.networking}/v1/${HERE}/networkpolicies`,
    { spec: { podSelector: {}, ingress: [{ ports: [{ protocol: 'x' }] }], policyTypes: ['x'] } },
    [
      'spec.ingress[0].ports[0].protocol: Unsupported value: "x": supported values: "TCP", "UDP", "SCTP"',
      'spec.policyTypes[0]: Unsupported value: "x": supported values: "Ingress", "Egress"',
    ],
  ],
]);

const limits = (limit: object): object => ({ spec: { limits: [{ type: 'Container', ...limit }] } });
const LIMITS = `/api/v1/${HERE}/limitranges`;

test422('amounts that contradict each other are named', [
  [
    LIMITS,
    limits({ min: { cpu: '2' }, max: { cpu: '1' } }),
    [
      'spec.limits[0].min[cpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:2, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"2", Format:"DecimalSI"}: min value 2 is greater than max value 1',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:1, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1", Format:"DecimalSI"}: min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:2, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"2", Format:"DecimalSI"}: min value 2 is greater than default value 1',
    ],
  ],
  [
    LIMITS,
    limits({ default: { cpu: '1' }, defaultRequest: { cpu: '1500m' } }),
    [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:1500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1500m", Format:"DecimalSI"}: default request value 1500m is greater than default limit value 1',
    ],
  ],
  [
    LIMITS,
    {
      spec: {
        limits: [{ type: 'Pod', min: { cpu: '2' }, max: { cpu: '5' }, maxLimitRequestRatio: { cpu: '5' } }],
      },
    },
    [
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:5, scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"5", Format:"DecimalSI"}: ratio 5 is greater than max/min = 2.500000',
    ],
  ],
  [
    LIMITS,
    { spec: { limits: [{ type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } }] } },
    [
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: resource.Quantity{i:resource.int64Amount{value:500, scale:-3}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"500m", Format:"DecimalSI"}: ratio 500m is less than 1',
    ],
  ],
  [
    `/api/v1/${HERE}/persistentvolumeclaims`,
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '-1' } } } },
    ['spec.resources[storage]: Invalid value: "-1": must be greater than zero'],
  ],
  [
    '/api/v1/persistentvolumes',
    { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '-1Ki' }, hostPath: { path: '/a' } } },
    [
      'spec.capacity[storage]: Invalid value: -1024: must be a valid resource quantity',
      'spec.capacity[storage]: Invalid value: "-1Ki": must be greater than zero',
    ],
  ],
  [
    '/api/v1/persistentvolumes',
    { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '-0.5' }, hostPath: { path: '/a' } } },
    [
      'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
      'spec.capacity[storage]: Invalid value: "-500m": must be greater than zero',
    ],
  ],
]);

const rules = (rule: object): object => ({
  spec: {
    matchingPrecedence: 5,
    priorityLevelConfiguration: { name: 'p' },
    rules: [{ subjects: [{ kind: 'User', user: { name: 'u' } }], ...rule }],
  },
});
const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] };
const SCHEMAS = `${FLOW}/flowschemas`;

test422('a flow schema', [
  [
    SCHEMAS,
    rules({ resourceRules: [{ clusterScope: false }] }),
    [
      'spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value',
      'spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource',
      'spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace',
    ],
  ],
  [
    SCHEMAS,
    rules({
      resourceRules: [{ ...everything, apiGroups: ['*', 'a'], namespaces: ['*', 'B@d'], verbs: ['odd'] }],
    }),
    [
      'spec.rules[0].resourceRules[0].verbs: Unsupported value: []string{"odd"}: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
      `spec.rules[0].resourceRules[0].apiGroups: Invalid value: []string{"*", "a"}: if '*' is present, must not specify other api groups`,
      `spec.rules[0].resourceRules[0].namespaces: Invalid value: []string{"*", "B@d"}: if '*' is present, must not specify other namespaces`,
    ],
  ],
  [
    SCHEMAS,
    rules({ nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['a', '/x/*y', '/'] }] }),
    [
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash',
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "/x/*y": wildcard can only do suffix matching',
    ],
  ],
  [
    SCHEMAS,
    rules({
      subjects: [{ kind: 'User', user: { name: 'u' }, group: { name: 'g' } }, { kind: 'constructor' }],
      resourceRules: [everything],
    }),
    [
      `spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'`,
      'spec.rules[0].subjects[1].kind: Unsupported value: "constructor": supported values: "Group", "ServiceAccount", "User"',
    ],
  ],
]);

const queuing = (numbers: object): object => ({
  spec: {
    type: 'Limited',
    limited: { assuredConcurrencyShares: 1, limitResponse: { type: 'Queue', queuing: numbers } },
  },
});
const LEVELS = `${FLOW}/prioritylevelconfigurations`;
const HAND = 'spec.limited.limitResponse.queuing.handSize';

test422('a priority level tells one thing of the size of a hand', [
  [
    LEVELS,
    queuing({ queues: 4, handSize: -1, queueLengthLimit: 1 }),
    [`${HAND}: Invalid value: -1: must be positive`],
  ],
  [
    LEVELS,
    queuing({ queues: 4, handSize: 5, queueLengthLimit: 1 }),
    [`${HAND}: Invalid value: 5: should not be greater than queues (4)`],
  ],
  [
    LEVELS,
    queuing({ queues: 512, handSize: 8, queueLengthLimit: 1 }),
    [
      `${HAND}: Invalid value: 8: required entropy bits of deckSize 512 and handSize 8 should not be greater than 60`,
    ],
  ],
]);

const hook = (change: object): object => ({
  webhooks: [
    {
      name: 'a.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: 'https://a' },
      ...change,
    },
  ],
});
const called = (service: object): object => hook({ clientConfig: { service } });

test422('a webhook', [
  [
    HOOKS,
    hook({ timeoutSeconds: 31 }),
    ['webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
  ],
  [
    HOOKS,
    called({ port: 0, path: '/a/B' }),
    [
      'webhooks[0].clientConfig.service.name: Required value: service name is required',
      'webhooks[0].clientConfig.service.namespace: Required value: service namespace is required',
      'webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
      expect.stringContaining(
        'webhooks[0].clientConfig.service.path: Invalid value: "/a/B": segment[1]: a lowercase RFC 1123 subdomain',
      ) as string,
    ],
  ],
  [
    HOOKS,
    hook({
      rules: [
        { operations: ['*', 'CREATE'], apiGroups: ['*', 'a'], apiVersions: ['*', 'v1'], resources: ['*'] },
      ],
    }),
    [
      `webhooks[0].rules[0].operations: Invalid value: []admissionregistration.OperationType{"*", "CREATE"}: if '*' is present, must not specify other operations`,
      `webhooks[0].rules[0].apiGroups: Invalid value: []string{"*", "a"}: if '*' is present, must not specify other API groups`,
      `webhooks[0].rules[0].apiVersions: Invalid value: []string{"*", "v1"}: if '*' is present, must not specify other API versions`,
    ],
  ],
]);

const request = (signerName: string): object => ({
  spec: { request: 'Z2FyYmFnZQ==', usages: ['signing'], signerName },
});
const REQUESTS = `/apis/${GROUP.certificates}/v1/certificatesigningrequests`;
const NO_REQUEST =
  'spec.request: Invalid value: []byte{0x67, 0x61, 0x72, 0x62, 0x61, 0x67, 0x65}: PEM block type must be CERTIFICATE REQUEST';
const LONG_LABEL = 'a'.repeat(64);

test422('the name of a signer is judged label by label', [
  [REQUESTS, request(''), [NO_REQUEST, 'spec.signerName: Required value: signerName must be provided']],
  [
    REQUESTS,
    request('nodots/x'),
    [
      NO_REQUEST,
      'spec.signerName: Invalid value: "nodots": should be a domain with at least two segments separated by dots',
    ],
  ],
  [
    REQUESTS,
    request(`${LONG_LABEL}.example.com/x`),
    [
      NO_REQUEST,
      `spec.signerName: Invalid value: "${LONG_LABEL}.example.com": validating label "${LONG_LABEL}": must be no more than 63 characters`,
    ],
  ],
  [REQUESTS, request(`example.com/${LONG_LABEL}.${LONG_LABEL}.${LONG_LABEL}.${LONG_LABEL}`), [NO_REQUEST]],
  [REQUESTS, request(SIGNER.apiServerClient), [NO_REQUEST]],
  [
    REQUESTS,
    { spec: { usages: ['signing'], signerName: 'example.com/x' } },
    ['spec.request: Invalid value: []byte(nil): PEM block type must be CERTIFICATE REQUEST'],
  ],
]);

test422('names that every object inherits are names like others', [
  [
    `/api/v1/${HERE}/resourcequotas`,
    { spec: { hard: { pods: '1' }, scopes: ['constructor'] } },
    ['spec.scopes: Invalid value: []core.ResourceQuotaScope{"constructor"}: unsupported scope'],
  ],
  [
    `/apis/autoscaling/v2beta2/${HERE}/horizontalpodautoscalers`,
    {
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { kind: 'Deployment', name: 'd' },
        metrics: [{ type: 'constructor' }],
      },
    },
    [
      'spec.metrics[0].type: Unsupported value: "constructor": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"',
    ],
  ],
]);

test422('integers that no number holds are told exactly', [
  [
    `/apis/batch/v1/${HERE}/jobs`,
    {
      spec: {
        activeDeadlineSeconds: -9_223_372_036_854_775_807n,
        template: { spec: { restartPolicy: 'Never', containers: [container] } },
      },
    },
    ['spec.activeDeadlineSeconds: Invalid value: -9223372036854775807: must be greater than or equal to 0'],
  ],
]);

const CLASSES = `/apis/${GROUP.scheduling}/v1/priorityclasses`;
const RESERVED = `metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error:`;
const CRITICAL = 'system-node-critical';

test422('a class that only looks like one of the system', [
  [
    CLASSES,
    { metadata: { name: 'system-x' }, value: 1 },
    [`${RESERVED} system-x is not a known system priority class`],
  ],
  [
    CLASSES,
    { metadata: { name: CRITICAL }, value: 1 },
    [`${RESERVED} value of ${CRITICAL} PriorityClass must be 2000001000`],
  ],
  [
    CLASSES,
    { metadata: { name: CRITICAL }, value: 2_000_001_000, globalDefault: true },
    [`${RESERVED} globalDefault of ${CRITICAL} PriorityClass must be false`],
  ],
]);

test422('names of the version that the client speaks', [
  [
    `/apis/extensions/v1beta1/${HERE}/ingresses`,
    { spec: {} },
    ['spec: Invalid value: []networking.IngressRule(nil): either `backend` or `rules` must be specified'],
  ],
  [
    `/apis/${GROUP.networking}/v1/${HERE}/ingresses`,
    { spec: {} },
    [
      'spec: Invalid value: []networking.IngressRule(nil): either `defaultBackend` or `rules` must be specified',
    ],
  ],
]);

const VOLUME = 'template.spec.volumes[0]';
const volume = (source: object): object => pod({ volumes: [{ name: 'v', ...source }] });
const PORTAL = 'p'.repeat(63);
const TOO_LONG =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';

test422('a volume is told of where the API tells of it', [
  [TEMPLATES, volume({ gcePersistentDisk: {} }), [`${VOLUME}.persistentDisk.pdName: Required value`]],
  [
    TEMPLATES,
    volume({ cephfs: { monitors: ['a'] }, downwardAPI: {} }),
    [`${VOLUME}.downwarAPI: Forbidden: may not specify more than 1 volume type`],
  ],
  [
    TEMPLATES,
    volume({ iscsi: { targetPortal: PORTAL, iqn: 'odd', initiatorName: 'eui.x' } }),
    [
      `${VOLUME}.iscsi.iqn: Invalid value: "odd": must be valid format starting with iqn, eui, or naa`,
      `${VOLUME}.iscsi.initiatorname: Invalid value: "eui.x": must be valid format`,
      `${VOLUME}.name: Invalid value: "v": ${TOO_LONG}`,
    ],
  ],
  [
    TEMPLATES,
    volume({ quobyte: { registry: 'a:1,b', volume: 'v' } }),
    [
      `${VOLUME}.quobyte.registry: Invalid value: "a:1,b": must be a host:port pair or multiple pairs separated by commas`,
    ],
  ],
  [
    TEMPLATES,
    volume({ projected: { sources: [{ serviceAccountToken: { expirationSeconds: 600 } }] } }),
    [`${VOLUME}.projected.path: Required value`],
  ],
  [
    TEMPLATES,
    volume({
      projected: {
        sources: [
          {
            secret: {
              name: 'one',
              items: [
                { key: 'a', path: 'x' },
                { key: 'b', path: 'x' },
              ],
            },
          },
        ],
      },
    }),
    [`${VOLUME}.projected: Invalid value: "one": conflicting duplicate paths`],
  ],
]);

const ENV = 'template.spec.containers[0].env[0].valueFrom';
const env = (valueFrom: object): object =>
  pod({ containers: [{ ...container, env: [{ name: 'E', valueFrom }] }] });

test422('a variable', [
  [
    TEMPLATES,
    env({ fieldRef: { fieldPath: "spec.nodeName['x']" } }),
    [
      `${ENV}.fieldRef.fieldPath: Invalid value: "spec.nodeName['x']": error converting fieldPath: field label does not support subscript: spec.nodeName['x']`,
    ],
  ],
  ...["['x']", "metadata.labels[']"].map((label): [string, object, string[]] => [
    TEMPLATES,
    env({ fieldRef: { fieldPath: label } }),
    [
      `${ENV}.fieldRef.fieldPath: Invalid value: "${label}": error converting fieldPath: field label not supported: ${label}`,
    ],
  ]),
  [
    TEMPLATES,
    env({ resourceFieldRef: { resource: 'limits.ephemeral-storage', divisor: '3' } }),
    [
      `${ENV}.resourceFieldRef.divisor: Invalid value: "limits.ephemeral-storage": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource`,
    ],
  ],
]);

test422('a node', [
  [
    '/api/v1/nodes',
    {
      spec: {
        taints: [
          { key: 'k', effect: 'NoSchedule' },
          { key: 'k', effect: 'NoSchedule', value: 'b@d' },
          { key: 'k', effect: 'NoSchedule', timeAdded: '2021-03-04T05:06:07Z' },
        ],
        podCIDRs: ['10.0.0.0/8', '10.0.0.0/8'],
      },
    },
    [
      expect.stringMatching(
        /^metadata\.taints\[1\]\.value: Invalid value: "b@d": a valid label must be/,
      ) as string,
      'metadata.taints[1]: Duplicate value: core.Taint{Key:"k", Value:"b@d", Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair',
      'metadata.taints[2]: Duplicate value: core.Taint{Key:"k", Value:"", Effect:"NoSchedule", TimeAdded:time.Date(2021, time.March, 4, 5, 6, 7, 0, time.Local)}: taints must be unique by key and effect pair',
      'spec.podCIDRs: Invalid value: []string{"10.0.0.0/8", "10.0.0.0/8"}: may specify no more than one CIDR for each IP family',
      'spec.podCIDRs[1]: Duplicate value: "10.0.0.0/8"',
    ],
  ],
]);

test422('a secret that should hold JSON tells why it does not, and nothing of what it holds', [
  [
    `/api/v1/${HERE}/secrets`,
    {
      type: SECRET_TYPE.dockerConfigJson,
      data: { '.dockerconfigjson': Buffer.from('{"auths": }').toString('base64') },
    },
    [
      `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character '}' looking for beginning of value`,
    ],
  ],
  [
    `/api/v1/${HERE}/secrets`,
    {
      type: SECRET_TYPE.dockerConfigJson,
      data: { '.dockerconfigjson': Buffer.from('[]').toString('base64') },
    },
    [
      `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": json: cannot unmarshal array into Go value of type map[string]interface {}`,
    ],
  ],
]);

test('init containers run one after the other and may have the same port of the node', async () => {
  const ports = [{ containerPort: 80, hostPort: 80 }];
  const initContainers = ['one', 'two'].map((name) => ({ ...container, name, ports }));
  expect(await messagesOf(TEMPLATES, pod({ initContainers }))).toEqual(['201 ']);
});

test.each([
  [
    'v1',
    'Nope',
    'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    'apps/v1',
    'ConfigMap',
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    'v1',
    'Secret',
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    'a/b/c',
    'ConfigMap',
    'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
  ],
])('an object of %s %s is no ConfigMap', async (apiVersion, kind, message) => {
  expect(await messagesOf(`/api/v1/${HERE}/configmaps`, { apiVersion, kind })).toEqual([`400 ${message}`]);
});

test.each([
  ['v1', 'Status', 'converting (v1.Status) to (core.ConfigMap): unknown conversion'],
  ['apps/v9', 'APIGroup', 'converting (v1.APIGroup) to (core.ConfigMap): unknown conversion'],
  ['batch/v1beta1', 'DeleteOptions', 'converting (v1.DeleteOptions) to (core.ConfigMap): unknown conversion'],
  ['v1', 'List', 'converting (v1.List) to (core.ConfigMap): unknown conversion'],
  [
    'apps/v1',
    'List',
    'no kind "List" is registered for version "apps/v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    'apps/v9',
    'ListOptions',
    'no kind "ListOptions" is registered for version "apps/v9" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
])('%s %s, which no resource has, is known', async (apiVersion, kind, why) => {
  const [message] = await messagesOf(`/api/v1/${HERE}/configmaps`, { apiVersion, kind });
  expect(message).toContain(`cannot be handled as a ConfigMap: ${why}`);
});

test('what is no eviction is told with the home of evictions', async () => {
  const other = { apiVersion: 'v1', kind: 'Pod' };
  expect(await messagesOf(`/api/v1/${HERE}/pods/p/eviction`, other)).toEqual([
    '400 Pod in version "v1" cannot be handled as a Eviction: converting (v1.Pod) to (policy.Eviction): unknown conversion',
  ]);
});

test('a deletion is told in the words of the kind that its preconditions fail', async () => {
  const place = `/api/v1/${HERE}/configmaps`;
  const metadata = { name: 'kept' };
  await api.call('POST', place, { body: { metadata } });
  await api.call('POST', '/api/v1/namespaces', { body: { metadata } });
  const uid = { preconditions: { uid: 'other' } };
  const told = async (url: string): Promise<unknown> =>
    (await api.call('DELETE', url, { body: uid })).json.message;
  expect(await told(`${place}/kept`)).toMatch(
    /^Operation cannot be fulfilled on ConfigMap "kept": the UID in the precondition \(other\) does not match the UID in record \(.+\)\. The object might have been deleted and then recreated$/,
  );
  expect(await told('/api/v1/namespaces/kept')).toMatch(
    /^Operation cannot be fulfilled on namespaces "kept": Precondition failed: UID in precondition: other, UID in object meta: .+$/,
  );
});

test('a uid that is not that of the object is told in the words of the store', async () => {
  const place = `/api/v1/${HERE}/endpoints`;
  const name = 'known';
  await api.call('POST', place, { body: { metadata: { name } } });
  const body = { metadata: { name, uid: 'other' } };
  const told = async (query: string): Promise<unknown> =>
    (await api.call('PUT', `${place}/${name}${query}`, { body })).json.message;
  const end =
    'services\\/endpoints\\/[a-z-]+\\/known, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: [0-9a-f-]{36}$';
  const begin =
    '^Operation cannot be fulfilled on endpoints "known": StorageError: invalid object, Code: 4, Key:';
  expect(await told('')).toMatch(new RegExp(`${begin} \\/[^ ]+\\/${end}`));
  expect(await told('?dryRun=All')).toMatch(new RegExp(`${begin} \\/${end}`));
});

describe('patches that do not fit', () => {
  const url = `/api/v1/${HERE}/configmaps/patched`;
  const told = async (type: string, body: unknown): Promise<unknown> =>
    (await api.call('PATCH', url, { body, headers: { 'content-type': `application/${type}-patch+json` } }))
      .json.message;
  beforeAll(async () => {
    await api.call('POST', `/api/v1/${HERE}/configmaps`, { body: { metadata: { name: 'patched' } } });
  });

  test.each([
    ['json', {}, 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['json', [5], 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
    [
      'json',
      [{ op: 'remove', path: '/data/x' }],
      'the server rejected our request due to an error in our request',
    ],
    ['strategic-merge', [], 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [
      'merge',
      [null],
      ' "" is invalid: patch: Invalid value: "[null]": couldn\'t get version/kind; json parse error: json: cannot unmarshal array into value of type TypeMeta',
    ],
  ])('a %s patch %j is refused in the words of v1.21', async (type, body, message) => {
    expect(await told(type, body)).toBe(message);
  });

  test('the refusal shows the patch and names the field', async () => {
    expect(await told('merge', { metadata: 5 })).toBe(
      ' "" is invalid: patch: Invalid value: "{\\"metadata\\":5}": cannot unmarshal number 5 into field metadata of type object',
    );
    expect(await told('json', [{ op: 'replace', path: '/metadata/labels', value: 'x' }])).toMatch(
      /: cannot unmarshal string into field metadata.labels of type map$/,
    );
  });
});

test('the affinity of a volume stays, and a refusal shows no more of it than that there is one', async () => {
  const term = (zone: string): object => ({
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }],
    },
  });
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };
  const body = { metadata: { name: 'somewhere' }, spec: { ...spec, nodeAffinity: term('a') } };
  await api.call('POST', '/api/v1/persistentvolumes', { body });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const told = async (nodeAffinity: unknown): Promise<string> => {
    const patch = { body: { spec: { nodeAffinity } }, headers };
    return (await api.call('PATCH', '/api/v1/persistentvolumes/somewhere', patch)).json.message;
  };
  expect(await told(term('b'))).toContain(
    ': nodeAffinity: Invalid value: core.VolumeNodeAffinity{Required:(*core.NodeSelector)(0x0)}: field is immutable',
  );
  expect(await told(null)).toContain(': nodeAffinity: Invalid value: "null": field is immutable');
});

describe('an update with invalid metadata', () => {
  const wrong = {
    metadata: { labels: { '-': '' }, generateName: 'Bad_', finalizers: ['nodomain'], uid: 'other' },
  };

  test.each([
    ['configmaps', {}, ['finalizers[0]', 'generateName', 'labels', 'uid']],
    ['limitranges', { spec: { limits: [] } }, ['finalizers[0]', 'generateName', 'labels', 'uid']],
    ['resourcequotas', { spec: {} }, ['finalizers[0]', 'labels', 'uid']],
  ])('lists each field of %s once', async (resource, content, fields) => {
    const place = `/api/v1/${HERE}/${resource}`;
    await api.call('POST', place, { body: { metadata: { name: 'again' }, ...content } });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { json } = await api.call('PATCH', `${place}/again`, { body: wrong, headers });
    const { causes } = json.details as { causes: { field: string }[] };
    expect(causes.map(({ field }) => field.replace('metadata.', '')).sort()).toEqual(fields);
  });
});
