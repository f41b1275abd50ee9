import { GROUP } from '../../../shared/names';
import { stringifyExact } from '../../../shared/object/exact-text';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

/** All that a refusal says, in its order: one row for each rule of the groups beside the core whose words or place were once others. */

const HERE = 'namespaces/default';
const STORAGE = `/apis/${GROUP.storage}/v1`;
const NETWORKING = `/apis/${GROUP.networking}/v1`;

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

/** What it is about, where it is sent, the object's own fields, and `field: message` for each thing that is wrong. */
type Row = readonly [title: string, url: string, object: object, messages: readonly string[]];

function told(reply: Awaited<ReturnType<InProcessApi['call']>>): readonly string[] {
  const { code, json } = reply;
  if (code !== 422) return [`${String(code)} ${String(json.message ?? '')}`];
  const causes = json.details.causes as readonly { readonly field: string; readonly message: string }[];
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

const labels = { app: 'x' };
const selector = { matchLabels: labels };
const template = (spec: object = {}): object => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const negative = (path: string, value = -1): string =>
  `${path}: Invalid value: ${String(value)}: must be greater than or equal to 0`;

const WORKLOADS: readonly Row[] = [
  [
    'the counts of a Deployment, the last after its strategy',
    `/apis/apps/v1/${HERE}/deployments`,
    {
      spec: {
        selector,
        template: template(),
        replicas: -1,
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
        progressDeadlineSeconds: -2,
        strategy: { rollingUpdate: { maxUnavailable: '0%', maxSurge: 0 } },
      },
    },
    [
      negative('spec.replicas'),
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"0%"}: may not be 0 when `maxSurge` is 0',
      negative('spec.minReadySeconds'),
      negative('spec.revisionHistoryLimit'),
      negative('spec.progressDeadlineSeconds', -2),
      'spec.progressDeadlineSeconds: Invalid value: -2: must be greater than minReadySeconds',
    ],
  ],
  [
    'a number in quotes, which is no share but not nothing either',
    `/apis/apps/v1/${HERE}/deployments`,
    {
      spec: {
        selector,
        template: template(),
        strategy: { rollingUpdate: { maxUnavailable: '5', maxSurge: 0 } },
      },
    },
    [
      `spec.strategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:1, IntVal:0, StrVal:"5"}: a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`,
    ],
  ],
  [
    'the counts of a DaemonSet around its strategy',
    `/apis/apps/v1/${HERE}/daemonsets`,
    {
      spec: {
        selector,
        template: template(),
        minReadySeconds: -1,
        revisionHistoryLimit: -1,
        updateStrategy: { rollingUpdate: { maxUnavailable: 0 } },
      },
    },
    [
      negative('spec.minReadySeconds'),
      'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: cannot be 0',
      negative('spec.revisionHistoryLimit'),
    ],
  ],
  [
    'a selector of other pods, and a strategy that nobody knows, as Go shows them',
    `/apis/apps/v1/${HERE}/deployments`,
    { spec: { selector: { matchLabels: { a: 'b' } }, template: template(), strategy: { type: 'Odd' } } },
    [
      'spec.template.metadata.labels: Invalid value: map[string]string{"app":"x"}: `selector` does not match template `labels`',
      'spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:"Odd", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    'a selector that selects everything',
    `/apis/apps/v1/${HERE}/replicasets`,
    { spec: { selector: {}, template: template() } },
    [
      'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for deployment',
    ],
  ],
  [
    'a selector by a word that selects nothing',
    `/apis/apps/v1/${HERE}/statefulsets`,
    {
      spec: {
        selector: { matchExpressions: [{ key: 'app', operator: 'Odd', values: ['x'] }] },
        template: template(),
        updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 2 } },
      },
    },
    [
      `spec.updateStrategy.rollingUpdate: Invalid value: apps.RollingUpdateStatefulSetStrategy{Partition:2}: only allowed for updateStrategy 'RollingUpdate'`,
      'spec.selector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator',
      'spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement{v1.LabelSelectorRequirement{Key:"app", Operator:"Odd", Values:[]string{"x"}}}}',
    ],
  ],
  [
    'a policy that no pod has, at the Job as well',
    `/apis/batch/v1/${HERE}/jobs`,
    { spec: { template: template({ restartPolicy: 'Odd' }) } },
    [
      'spec.template.spec.restartPolicy: Unsupported value: "Odd": supported values: "Always", "OnFailure", "Never"',
      'spec.template.spec.restartPolicy: Unsupported value: "Odd": supported values: "OnFailure", "Never"',
    ],
  ],
  [
    'a CronJob whose name is too long, last',
    `/apis/batch/v1/${HERE}/cronjobs`,
    {
      metadata: { name: 'a'.repeat(53) },
      spec: {
        schedule: '* * * * x',
        startingDeadlineSeconds: -1,
        successfulJobsHistoryLimit: -1,
        concurrencyPolicy: 'Odd',
        jobTemplate: { spec: { parallelism: -1, template: template({ restartPolicy: 'Never' }) } },
      },
    },
    [
      'spec.schedule: Invalid value: "* * * * x": Failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
      negative('spec.startingDeadlineSeconds'),
      'spec.concurrencyPolicy: Unsupported value: "Odd": supported values: "Allow", "Forbid", "Replace"',
      negative('spec.jobTemplate.spec.parallelism'),
      negative('spec.successfulJobsHistoryLimit'),
      `metadata.name: Invalid value: "${'a'.repeat(53)}": must be no more than 52 characters`,
    ],
  ],
];

const scaled = (spec: object): object => ({
  spec: { maxReplicas: 1, scaleTargetRef: { kind: 'Deployment', name: 'd' }, ...spec },
});
const metricAt = 'spec.metrics[0]';
const metric = { name: 'm' };
const described = { kind: 'Service', name: 's' };
const AUTOSCALERS = `/apis/autoscaling/v2beta2/${HERE}/horizontalpodautoscalers`;

const SCALING: readonly Row[] = [
  [
    'a metric of an object without a target',
    AUTOSCALERS,
    scaled({
      metrics: [
        { type: 'Object', object: { describedObject: described, metric, target: { type: 'Value' } } },
      ],
    }),
    [
      `${metricAt}.object.target.averageValue: Required value: must set either a target value or averageValue`,
    ],
  ],
  [
    'a metric from outside without a name and a target',
    AUTOSCALERS,
    scaled({ metrics: [{ type: 'External', external: { metric: {}, target: { type: 'Value' } } }] }),
    [
      `${metricAt}.external.metric.name: Required value: must specify a metric name`,
      `${metricAt}.external.target.averageValue: Required value: must set either a target value for metric or a per-pod target`,
    ],
  ],
  [
    'a metric from outside with two targets',
    AUTOSCALERS,
    scaled({
      metrics: [
        { type: 'External', external: { metric, target: { type: 'Value', value: '1', averageValue: '1' } } },
      ],
    }),
    [
      `${metricAt}.external.target.value: Forbidden: may not set both a target value for metric and a per-pod target`,
    ],
  ],
  [
    'a resource without a name and with two targets',
    AUTOSCALERS,
    scaled({
      metrics: [
        {
          type: 'Resource',
          resource: { target: { type: 'Utilization', averageUtilization: 1, averageValue: '1' } },
        },
      ],
    }),
    [
      `${metricAt}.resource.name: Required value: must specify a resource name`,
      `${metricAt}.resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization`,
    ],
  ],
  [
    'metrics of single containers, which are dropped',
    AUTOSCALERS,
    scaled({
      metrics: [
        {
          type: 'ContainerResource',
          containerResource: {
            name: 'cpu',
            container: 'c',
            target: { type: 'Utilization', averageUtilization: 1 },
          },
        },
      ],
    }),
    [
      `${metricAt}.containerResource: Required value: must populate information for the given metric source (only allowed when HPAContainerMetrics feature is enabled)`,
    ],
  ],
  [
    'a behavior below what is possible',
    AUTOSCALERS,
    scaled({
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: -1,
          policies: [{ type: 'Pods', value: 0, periodSeconds: 0 }],
        },
      },
    }),
    [
      'spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero',
      'spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero',
      'spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 0: must be greater than zero',
    ],
  ],
];

const hook = {
  name: 'a.example.com',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { url: 'https://a.example.com' },
};
const hooks = (...changes: readonly object[]): object => ({
  webhooks: changes.map((change) => ({ ...hook, ...change })),
});
const HOOKS = `/apis/${GROUP.admissionregistration}/v1/mutatingwebhookconfigurations`;
const FORM = 'desired format: https://host[/path]';

const ACCESS: readonly Row[] = [
  [
    'a rule of a role that is about nothing',
    `/apis/${GROUP.rbac}/v1/${HERE}/roles`,
    { rules: [{ verbs: [] }] },
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
  [
    'webhooks, each with its review versions after everything else and its repeated name last',
    HOOKS,
    hooks(
      {},
      { sideEffects: 'Odd', reinvocationPolicy: '', failurePolicy: '', admissionReviewVersions: ['x'] },
    ),
    [
      'webhooks[1].failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"',
      'webhooks[1].sideEffects: Unsupported value: "Odd": supported values: "None", "NoneOnDryRun"',
      'webhooks[1].reinvocationPolicy: Unsupported value: "": supported values: "IfNeeded", "Never"',
      'webhooks[1].admissionReviewVersions: Invalid value: []string{"x"}: must include at least one of v1, v1beta1',
      'webhooks[1].name: Duplicate value: "a.example.com"',
    ],
  ],
  [
    'an address that is none',
    HOOKS,
    hooks({ clientConfig: { url: 'https://a:b' } }),
    [
      `webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "https://a:b": invalid port ":b" after host; ${FORM}`,
    ],
  ],
  [
    'an address of another scheme, whose letters may be large',
    HOOKS,
    hooks({ clientConfig: { url: 'HTTPS:a' } }),
    [`webhooks[0].clientConfig.url: Invalid value: "": host must be provided; ${FORM}`],
  ],
];

const NETWORKS: readonly Row[] = [
  [
    'an Ingress for an address',
    `${NETWORKING}/${HERE}/ingresses`,
    { spec: { rules: [{ host: '::1' }] } },
    [
      'spec.rules[0].host: Invalid value: "::1": must be a DNS name, not an IP address',
      expect.stringContaining(
        'spec.rules[0].host: Invalid value: "::1": a lowercase RFC 1123 subdomain',
      ) as never,
    ],
  ],
  [
    'the first exception of a block that is no network, and nothing after it',
    `${NETWORKING}/${HERE}/networkpolicies`,
    {
      spec: {
        podSelector: {},
        ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/9', 'x', 'y'] } }] }],
      },
    },
    [
      'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/9": must be a strict subset of `cidr`',
      'spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: "x": not a valid CIDR',
    ],
  ],
  [
    'more kinds of traffic than there are',
    `${NETWORKING}/${HERE}/networkpolicies`,
    { spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress', 'x'] } },
    [
      'spec.policyTypes: Invalid value: []networking.PolicyType{"Ingress", "Egress", "x"}: may not specify more than two policyTypes',
    ],
  ],
  [
    'an empty protocol, which is not the default one',
    `${NETWORKING}/${HERE}/networkpolicies`,
    { spec: { podSelector: {}, ingress: [{ ports: [{ protocol: '' }] }] } },
    ['spec.ingress[0].ports[0].protocol: Unsupported value: "": supported values: "TCP", "UDP", "SCTP"'],
  ],
  [
    'a controller whose path has other characters',
    `${NETWORKING}/ingressclasses`,
    { spec: { controller: 'example.com/a b' } },
    [
      `spec.controller: Invalid value: "a b": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')`,
    ],
  ],
  [
    'ports of a slice, the second name of each after its form',
    `/apis/${GROUP.discovery}/v1/${HERE}/endpointslices`,
    {
      addressType: 'FQDN',
      endpoints: [{ addresses: ['A', 'b.'], nodeName: '', hostname: '' }],
      ports: [{ name: 'a' }, { name: 'a', protocol: '' }],
    },
    [
      expect.stringContaining('endpoints[0].addresses[0]: Invalid value: "A": a lowercase RFC 1123') as never,
      'endpoints[0].addresses[1]: Invalid value: "b": should be a domain with at least two segments separated by dots',
      expect.stringContaining('endpoints[0].nodeName: Invalid value: ""') as never,
      expect.stringContaining('endpoints[0].hostname: Invalid value: ""') as never,
      'ports[1].name: Duplicate value: "a"',
      'ports[1].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"',
    ],
  ],
];

const OTHERS: readonly Row[] = [
  [
    'drivers of a node, the second of a name after what is wrong with it',
    `${STORAGE}/csinodes`,
    {
      spec: {
        drivers: [
          { name: 'a', nodeID: 'n' },
          { name: 'a', nodeID: '', allocatable: { count: -1 } },
        ],
      },
    },
    [
      'spec.drivers[1].nodeID: Required value',
      negative('spec.drivers[1].allocatable.count'),
      'spec.drivers[1].name: Duplicate value: "a"',
    ],
  ],
  [
    'a driver whose tokens come before its modes',
    `${STORAGE}/csidrivers`,
    { spec: { fsGroupPolicy: '', tokenRequests: [{ expirationSeconds: 1 }], volumeLifecycleModes: ['x'] } },
    [
      'spec.fsGroupPolicy: Unsupported value: "": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      'spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
      'spec.volumeLifecycleModes: Unsupported value: "x": supported values: "Persistent", "Ephemeral"',
    ],
  ],
  [
    'an empty way to bind volumes, and the second demand on a key',
    `${STORAGE}/storageclasses`,
    {
      provisioner: 'a/b',
      volumeBindingMode: '',
      allowedTopologies: [
        {
          matchLabelExpressions: [
            { key: 'k', values: ['v'] },
            { key: 'k', values: [] },
          ],
        },
      ],
    },
    [
      'volumeBindingMode: Unsupported value: "": supported values: "Immediate", "WaitForFirstConsumer"',
      'allowedTopologies[0].matchLabelExpressions[1].values: Required value',
      'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "k"',
    ],
  ],
  [
    'an empty policy of preemption',
    `/apis/${GROUP.scheduling}/v1/priorityclasses`,
    { value: 1, preemptionPolicy: '' },
    ['preemptionPolicy: Required value'],
  ],
  [
    'a subject of a flow schema with the fields of other kinds',
    `/apis/${GROUP.flowcontrol}/v1beta1/flowschemas`,
    {
      spec: {
        matchingPrecedence: 5,
        priorityLevelConfiguration: { name: 'p' },
        rules: [
          {
            subjects: [
              {
                kind: 'Group',
                group: { name: 'g' },
                user: { name: 'u' },
                serviceAccount: { name: 'a', namespace: 'n' },
              },
            ],
            nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
          },
        ],
      },
    },
    [
      "spec.rules[0].subjects[0].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'ServiceAccount'",
      "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
    ],
  ],
];

const PLURAL = 'things';
const definition = (spec: object, version: object = {}): object => ({
  metadata: { name: `${PLURAL}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: PLURAL, kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
        ...version,
      },
    ],
    ...spec,
  },
});
const DEFINITIONS = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

const REGISTERED: readonly Row[] = [
  [
    'names in the order of their fields, and their forms as one sentence each',
    DEFINITIONS,
    definition({
      names: {
        plural: PLURAL,
        singular: 'A_b',
        kind: 'Thing',
        listKind: 'Thing',
        shortNames: ['A'],
        categories: ['B'],
      },
    }),
    [
      expect.stringContaining('spec.names.singular: Invalid value: "A_b": a DNS-1035 label') as never,
      expect.stringContaining('spec.names.shortNames[0]: Invalid value: "A": a DNS-1035 label') as never,
      'spec.names.listKind: Invalid value: "Thing": kind and listKind may not be the same',
      expect.stringContaining('spec.names.categories[0]: Invalid value: "B": a DNS-1035 label') as never,
    ],
  ],
  [
    'versions before names, what they share after them, the conversion, and the pruning last',
    DEFINITIONS,
    definition(
      {
        names: { plural: PLURAL, kind: '' },
        conversion: { strategy: 'Odd' },
        preserveUnknownFields: true,
      },
      { deprecationWarning: '', additionalPrinterColumns: [{ name: '', type: 'string', jsonPath: '.a' }] },
    ),
    [
      'spec.versions[0].deprecationWarning: Invalid value: "": can only be set for deprecated versions',
      'spec.names.singular: Required value',
      'spec.names.kind: Required value',
      'spec.names.listKind: Required value',
      'spec.additionalPrinterColumns[0].name: Required value',
      'spec.conversion.strategy: Invalid value: "Odd": must be None if spec.preserveUnknownFields is true',
      'spec.conversion.strategy: Unsupported value: "Odd": supported values: "None", "Webhook"',
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ],
  [
    'a way to tell flows apart, as a whole',
    `/apis/${GROUP.flowcontrol}/v1beta1/flowschemas`,
    {
      spec: {
        matchingPrecedence: 5,
        priorityLevelConfiguration: { name: 'x' },
        distinguisherMethod: { type: 'Odd' },
      },
    },
    [
      'spec.distinguisherMethod.type: Unsupported value: flowcontrol.FlowDistinguisherMethod{Type:"Odd"}: supported values: "ByNamespace", "ByUser"',
    ],
  ],
  [
    'a toleration that is there twice, as a whole',
    `/apis/${GROUP.node}/v1/runtimeclasses`,
    {
      handler: 'h',
      scheduling: {
        tolerations: [
          { key: 'a', operator: 'Exists' },
          { key: 'a', operator: 'Exists' },
        ],
      },
    },
    [
      'scheduling.tolerations[1]: Duplicate value: core.Toleration{Key:"a", Operator:"Exists", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}',
    ],
  ],
  [
    'the selector of a scope that does not go with the resource, as a whole',
    `/api/v1/${HERE}/resourcequotas`,
    {
      spec: {
        hard: { services: '1' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }] },
      },
    },
    [
      'spec.scopeSelector.matchExpressions: Invalid value: core.ScopeSelector{MatchExpressions:[]core.ScopedResourceSelectorRequirement{core.ScopedResourceSelectorRequirement{ScopeName:"PriorityClass", Operator:"In", Values:[]string{"a"}}}}: unsupported scope applied to resource',
    ],
  ],
  [
    'an Event that is to own something, as a whole',
    `/api/v1/${HERE}/configmaps`,
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'o', uid: 'u' }] } },
    [
      'metadata.ownerReferences: Invalid value: v1.OwnerReference{APIVersion:"v1", Kind:"Event", Name:"o", UID:"u", Controller:(*bool)(nil), BlockOwnerDeletion:(*bool)(nil)}: /v1, Kind=Event is disallowed from being an owner',
    ],
  ],
  [
    'lists without items by the names of their types',
    DEFINITIONS,
    definition({ versions: [] }),
    [
      'spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{}: must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
    ],
  ],
  [
    'a keyed list with a schema for each of its items',
    DEFINITIONS,
    definition(
      {},
      {
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              a: {
                type: 'array',
                items: [],
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['k'],
              },
            },
          },
        },
      },
    ),
    expect.arrayContaining([
      expect.stringContaining(
        'properties[a].items: Invalid value: []: must only have a single schema if x-kubernetes-list-type is map',
      ) as string,
    ]) as never,
  ],
  [
    'a service whose name the server is to complete',
    `/apis/${GROUP.apiregistration}/v1/apiservices`,
    {
      metadata: { name: 'v1.example.com', generateName: 'v' },
      spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 },
    },
    ['metadata.generateName: Invalid value: "v": must be `spec.version+"."+spec.group`: "v1.example.com"'],
  ],
  [
    'usages that nobody knows before those that are named twice',
    `/apis/${GROUP.certificates}/v1/certificatesigningrequests`,
    { spec: { request: '', signerName: 'example.com/a', usages: ['x', 'x'] } },
    [
      expect.stringContaining('spec.request') as never,
      expect.stringContaining('spec.usages[0]: Unsupported value: "x"') as never,
      expect.stringContaining('spec.usages[1]: Unsupported value: "x"') as never,
      'spec.usages[1]: Duplicate value: "x"',
    ],
  ],
  [
    'a local review of a path and of another place',
    `/apis/${GROUP.authorization}/v1/${HERE}/localsubjectaccessreviews`,
    {
      metadata: { namespace: 'default' },
      spec: {
        user: 'u',
        resourceAttributes: { namespace: 'other' },
        nonResourceAttributes: { path: '/', verb: 'get' },
      },
    },
    [
      'spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/", Verb:"get"}: cannot be specified in combination with resourceAttributes',
      expect.stringMatching(/^metadata: Invalid value: .*: must be empty except for namespace$/) as never,
      'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
      'spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/", Verb:"get"}: disallowed on this kind of request',
    ],
  ],
];

test.each([...WORKLOADS, ...SCALING, ...ACCESS, ...NETWORKS, ...OTHERS, ...REGISTERED])(
  'a refusal tells of %s',
  async (_title, url, object, messages) => {
    const metadata = { name: 'x', ...('metadata' in object ? (object.metadata as object) : {}) };
    const reply = await api.call('POST', url, { text: stringifyExact({ ...object, metadata }) });
    expect(told(reply)).toEqual(messages);
  },
);

test('an attachment tells of another bound of its messages than the one that is looked at', async () => {
  const url = `${STORAGE}/volumeattachments`;
  await api.call('POST', url, {
    body: {
      metadata: { name: 'v' },
      spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } },
    },
  });
  const status = { attached: false, attachError: { message: 'a'.repeat(1025) } };
  const reply = await api.call('PATCH', `${url}/v/status`, { body: { status } });
  expect(told(reply)).toEqual(['status.attachError.message: Too long: must have at most 262144 bytes']);
});

test('an attachment shows what it cannot change to, as JSON where that holds a pointer', async () => {
  const url = `${STORAGE}/volumeattachments`;
  const spec = { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } };
  await api.call('POST', url, { body: { metadata: { name: 'w' }, spec } });
  const none = await api.call('PATCH', `${url}/w`, { body: { spec: { source: null } } });
  expect(told(none)).toEqual([
    'spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName',
    'spec: Invalid value: storage.VolumeAttachmentSpec{Attacher:"a", Source:storage.VolumeAttachmentSource{PersistentVolumeName:(*string)(nil), InlineVolumeSpec:(*core.PersistentVolumeSpec)(nil)}, NodeName:"n"}: field is immutable',
  ]);
  const other = await api.call('PATCH', `${url}/w`, { body: { spec: { attacher: 'b' } } });
  expect(told(other)).toEqual([
    `spec: Invalid value: ${JSON.stringify({ attacher: 'b', source: spec.source, nodeName: 'n' })}: field is immutable`,
  ]);
});

test('what a volume inside an attachment may not say is told where its field stands among the others', async () => {
  const inlineVolumeSpec = {
    storageClassName: 'c',
    nodeAffinity: {},
    persistentVolumeReclaimPolicy: 'Delete',
    capacity: { storage: '1Gi' },
    claimRef: {},
  };
  const reply = await api.call('POST', `${STORAGE}/volumeattachments`, {
    body: { metadata: { name: 'i' }, spec: { attacher: 'a', nodeName: 'n', source: { inlineVolumeSpec } } },
  });
  const at = 'spec.source.inlineVolumeSpec';
  const fields = [
    'claimRef',
    'capacity',
    'csi',
    'accessModes',
    'persistentVolumeReclaimPolicy',
    'nodeAffinity',
  ];
  expect(told(reply).map((each) => each.split(': ')[0])).toEqual([
    ...fields.map((field) => `${at}.${field}`),
    at,
    `${at}.storageClassName`,
  ]);
});

test('a binding shows the role that it cannot change to', async () => {
  const url = `/apis/${GROUP.rbac}/v1/${HERE}/rolebindings`;
  const roleRef = { apiGroup: GROUP.rbac, kind: 'Role', name: 'a' };
  await api.call('POST', url, { body: { metadata: { name: 'b' }, roleRef } });
  const reply = await api.call('PATCH', `${url}/b`, { body: { roleRef: { ...roleRef, name: 'c' } } });
  expect(told(reply)).toEqual([
    `roleRef: Invalid value: rbac.RoleRef{APIGroup:"${GROUP.rbac}", Kind:"Role", Name:"c"}: cannot change roleRef`,
  ]);
});

test('the conditions of a budget say what each of them lacks', async () => {
  const url = `/apis/policy/v1/${HERE}/poddisruptionbudgets`;
  await api.call('POST', url, { body: { metadata: { name: 'b' }, spec: { selector } } });
  const conditions = [
    { type: 'a', status: 'True', reason: 'r', lastTransitionTime: '2021-01-02T03:04:05Z', message: '' },
    { type: 'a', status: 'True', reason: '', observedGeneration: -1, message: '' },
  ];
  const reply = await api.call('PUT', `${url}/b/status`, {
    body: { ...(await api.call('GET', `${url}/b`)).json, status: { conditions } },
  });
  expect(told(reply).slice(0, 4)).toEqual([
    'status.conditions[1].type: Duplicate value: "a"',
    'status.conditions[1].observedGeneration: Invalid value: -1: must be greater than or equal to zero',
    'status.conditions[1].lastTransitionTime: Required value: must be set',
    'status.conditions[1].reason: Required value: must be set',
  ]);
});

test('an autoscaler is stored as autoscaling/v1 can say it', async () => {
  const sent = scaled({
    metrics: [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } },
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'Value', value: '5', averageValue: '6' } },
      },
      {
        type: 'Object',
        object: { describedObject: described, metric, target: { type: 'AverageValue', averageValue: '7' } },
      },
    ],
  });
  const { json } = await api.call('POST', AUTOSCALERS, { body: { ...sent, metadata: { name: 'a' } } });
  expect(json.spec.metrics).toEqual([
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '6' } } },
    {
      type: 'Object',
      object: {
        describedObject: described,
        metric,
        target: { type: 'AverageValue', value: '0', averageValue: '7' },
      },
    },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } },
  ]);
  const again = await api.call('PUT', `${AUTOSCALERS}/a`, { body: json });
  expect([again.code, again.json.metadata.resourceVersion]).toEqual([200, json.metadata.resourceVersion]);
});

test('a RuntimeClass may be created by a PUT', async () => {
  const url = `/apis/${GROUP.node}/v1/runtimeclasses/r`;
  const reply = await api.call('PUT', url, { body: { metadata: { name: 'r' }, handler: 'h' } });
  expect(reply.code).toBe(201);
});
