import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { ANNOTATION, FINALIZER } from '../../../../shared/names';

/** What v1.21 says of objects of the core group, and in which order. */

const HERE = '/api/v1/namespaces/default';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

/** `field: message` for each thing that is wrong. */
function messagesOf({ code, json }: Reply): readonly string[] {
  if (code !== 422) return [`${String(code)} ${String(json.message ?? '')}`];
  const causes = json.details.causes as readonly { readonly field: string; readonly message: string }[];
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

/** The resource, the object's own fields, and what is wrong with them. */
type Row = readonly [resource: string, object: object, messages: readonly string[]];

function urlOf(resource: string): string {
  return ['nodes', 'persistentvolumes', 'namespaces'].includes(resource)
    ? `/api/v1/${resource}`
    : `${HERE}/${resource}`;
}

const created = (title: string, rows: readonly Row[]): void => {
  test.each(rows)(`${title}: %s %j`, async (resource, object, messages) => {
    const body = {
      ...object,
      metadata: { name: 'x', ...('metadata' in object ? (object.metadata as object) : {}) },
    };
    expect(messagesOf(await api.call('POST', `${urlOf(resource)}?dryRun=All`, { body }))).toEqual(messages);
  });
};

const container = { name: 'c', image: 'i' };
const pod = (spec: object): object => ({ spec: { containers: [container], ...spec } });
const claim = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const MORE = 'Forbidden: may not specify more than 1 volume type';
const IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

created('volumes of pods', [
  [
    'pods',
    pod({
      volumes: [
        { name: 'a', ephemeral: { volumeClaimTemplate: claim } },
        { name: 'b', persistentVolumeClaim: { claimName: 'x-a' } },
      ],
    }),
    [
      'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "x-a": must not reference a PVC that gets created for an ephemeral volume',
    ],
  ],
  [
    'pods',
    pod({
      volumes: [
        {
          name: 'a',
          ephemeral: { volumeClaimTemplate: { ...claim, metadata: { uid: 'u', labels: { a: 'b' } } } },
        },
      ],
    }),
    [
      'spec.volumes[0].ephemeral.volumeClaimTemplate.metadata.uID: Forbidden: cannot be set for an ephemeral volume',
    ],
  ],
  [
    'pods',
    pod({
      volumes: [
        {
          name: 'a',
          ephemeral: {
            volumeClaimTemplate: { spec: { ...claim.spec, dataSource: { name: 'a', kind: 'Pod' } } },
          },
        },
      ],
    }),
    ['spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource: Invalid value: "Pod"'],
  ],
  [
    'pods',
    pod({ volumes: [{ name: 'a', configMap: { name: '' }, persistentVolumeClaim: { claimName: '' } }] }),
    ['spec.volumes[0].persistentVolumeClaim.claimName: Required value', `spec.volumes[0].configMap: ${MORE}`],
  ],
  [
    'pods',
    pod({ volumes: [{ name: 'a', quobyte: { registry: 'a,b:1,c', volume: 'v' } }] }),
    [
      'spec.volumes[0].quobyte.registry: Invalid value: "a,b:1,c": must be a host:port pair or multiple pairs separated by commas',
    ],
  ],
]);

created('containers', [
  [
    'pods',
    pod({
      containers: [
        {
          ...container,
          volumeDevices: [
            { name: 'd', devicePath: '../x' },
            { name: 'e', devicePath: '../x' },
          ],
        },
      ],
    }),
    [
      'spec.containers[0].volumeDevices[0].name: Not found: "d"',
      `spec.containers[0].volumeDevices[0].devicePath: Invalid value: "../x": can not contain backsteps ('..')`,
      'spec.containers[0].volumeDevices[1].name: Not found: "e"',
      `spec.containers[0].volumeDevices[1].devicePath: Invalid value: "../x": can not contain backsteps ('..')`,
    ],
  ],
  [
    'pods',
    pod({
      containers: [
        {
          ...container,
          env: [
            {
              name: 'A',
              valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi', divisor: '3' } },
            },
          ],
          envFrom: [{ configMapRef: { name: 'abc-' } }],
        },
      ],
    }),
    [
      'spec.containers[0].env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.hugepages-2Mi": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
      `spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.hugepages-2Mi": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the hugepages resource`,
    ],
  ],
  [
    'pods',
    pod({
      containers: [
        { ...container, resources: { limits: { cpu: '1', 'hugepages-x': '1' }, requests: { cpu: '1' } } },
      ],
    }),
    [
      'spec.containers[0].resources.limits[hugepages-x]: Invalid value: "1": 1 is not positive integer multiple of hugepages-x',
      'spec.containers[0].resources.requests[hugepages-x]: Invalid value: "1": 1 is not positive integer multiple of hugepages-x',
    ],
  ],
  [
    'pods',
    pod({ initContainers: [{ ...container, name: 'a' }, { ...container, name: 'a' }, container] }),
    [
      'spec.initContainers[1].name: Duplicate value: "a"',
      'spec.initContainers[2].name: Duplicate value: "c"',
    ],
  ],
]);

created('the rest of pods', [
  [
    'pods',
    pod({ dnsPolicy: 'None', dnsConfig: { searches: ['-'], options: [{ value: '1' }] } }),
    [
      'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
    ],
  ],
  [
    'pods',
    pod({ securityContext: { runAsUser: -1 }, hostname: 'A', readinessGates: [{ conditionType: '-' }] }),
    [
      'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      expect.stringMatching(/^spec\.readinessGates\[0\]\.conditionType: /) as string,
      expect.stringMatching(/^spec\.hostname: /) as string,
    ],
  ],
  [
    'pods',
    { ...pod({}), metadata: { annotations: { [ANNOTATION.podTolerations]: '{}' } } },
    [
      `metadata.annotations: Invalid value: "${ANNOTATION.podTolerations}": json: cannot unmarshal object into Go value of type []core.Toleration`,
    ],
  ],
]);

const service = (spec: object): object => ({ spec: { ports: [{ port: 80 }], ...spec } });

created('services and endpoints', [
  [
    'services',
    service({ clusterIPs: ['x'], clusterIP: 'x', externalIPs: ['127.0.0.1', '::'] }),
    [
      `spec.clusterIPs[0]: Invalid value: "x": ${IP}`,
      'spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8)',
      'spec.externalIPs[1]: Invalid value: "::": may not be unspecified (0.0.0.0)',
    ],
  ],
  [
    'services',
    service({ ipFamilyPolicy: '' }),
    [
      'spec.ipFamilyPolicy: Unsupported value: "": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ],
  ],
  [
    'services',
    service({
      ports: [
        { name: 'a', port: 80, nodePort: 30_000 },
        { name: 'b', port: 80, nodePort: 30_000 },
      ],
    }),
    [
      "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
      'spec.ports[1].nodePort: Duplicate value: 30000',
      'spec.ports[1]: Duplicate value: core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:80, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
    ],
  ],
  [
    'services',
    service({
      type: 'LoadBalancer',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80, protocol: 'UDP' },
      ],
    }),
    [
      expect.stringMatching(
        /^spec\.ports: Invalid value: .*: may not contain more than 1 protocol when type is 'LoadBalancer'$/,
      ) as string,
    ],
  ],
  [
    'endpoints',
    { subsets: [{ addresses: [{ ip: 'x' }] }] },
    [
      `subsets[0].addresses[0].ip: Invalid value: "x": ${IP}`,
      'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
    ],
  ],
]);

created('nodes', [
  [
    'nodes',
    { metadata: { annotations: { [ANNOTATION.nodeTaints]: '[{"key":"a","effect":"x"}]' } } },
    [
      `metadata.annotations.${ANNOTATION.nodeTaints}[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
    ],
  ],
  [
    'nodes',
    {
      metadata: {
        annotations: {
          [ANNOTATION.nodeAvoidsPods]:
            '{"preferAvoidPods":[{},{"podSignature":{"podController":{"controller":false}}}]}',
        },
      },
    },
    [
      `metadata.annotations.${ANNOTATION.nodeAvoidsPods}[0].PodSignature: Required value`,
      `metadata.annotations.${ANNOTATION.nodeAvoidsPods}[1].PodSignature.PodController.Controller: Invalid value: false: must point to a controller`,
    ],
  ],
  [
    'nodes',
    { metadata: { annotations: { [ANNOTATION.nodeAvoidsPods]: '{' } } },
    [
      `metadata.annotations.AvoidPods: Invalid value: "${ANNOTATION.nodeAvoidsPods}": unexpected end of JSON input`,
    ],
  ],
  [
    'nodes',
    { spec: { podCIDR: 'x', podCIDRs: ['x', '10.0.0.0/8'] } },
    [
      'spec.podCIDRs[0]: Invalid value: []string{"x", "10.0.0.0/8"}: must be valid CIDR',
      'spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:failed to parse cidr value:"x" with error:invalid CIDR address: x',
      'spec.podCIDRs: Invalid value: []string{"x", "10.0.0.0/8"}: may specify no more than one CIDR for each IP family',
    ],
  ],
  ['nodes', { spec: { configSource: {} } }, ['201 ']],
]);

const volume = (spec: object): object => ({
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec },
});

created('persistent volumes, quotas and limits', [
  [
    'persistentvolumes',
    volume({ nfs: { server: 's', path: '/' }, flexVolume: { driver: '' }, local: { path: '' } }),
    [
      'spec.local: Forbidden: may not specify more than 1 volume type',
      'spec.flexVolume.driver: Required value',
    ],
  ],
  [
    'persistentvolumes',
    volume({ hostPath: { path: '/...' }, persistentVolumeReclaimPolicy: 'Recycle' }),
    ['201 '],
  ],
  [
    'persistentvolumes',
    volume({ hostPath: { path: '//./' }, persistentVolumeReclaimPolicy: 'Recycle' }),
    ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  ],
  [
    'resourcequotas',
    { spec: { hard: { secrets: '1' }, scopes: ['CrossNamespacePodAffinity'] } },
    [
      'spec.scopes: Invalid value: []core.ResourceQuotaScope{"CrossNamespacePodAffinity"}: unsupported scope',
      'spec.scopes: Invalid value: []core.ResourceQuotaScope{"CrossNamespacePodAffinity"}: unsupported scope applied to resource',
    ],
  ],
  [
    'limitranges',
    {
      spec: {
        limits: [
          { type: 'Pod', max: { cpu: '300m' }, min: { cpu: '100m' }, maxLimitRequestRatio: { cpu: '3' } },
        ],
      },
    },
    ['201 '],
  ],
]);

const POD_CHANGED =
  'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';
const sized = (memory: string): object => ({ ...container, resources: { requests: { memory } } });
const ONE_GIB = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] };

/** The resource, the object, a merge patch, and what is wrong with the change. */
type Change = readonly [resource: string, object: object, patch: object, messages: readonly string[]];

const changes: readonly Change[] = [
  [
    'pods',
    pod({ initContainers: [{ ...container, name: 'a' }] }),
    { spec: { containers: [{ ...container, image: 'j' }], initContainers: null } },
    ['spec.initContainers: Forbidden: pod updates may not add or remove containers'],
  ],
  [
    'services',
    service({ selector: { a: 'b' } }),
    { spec: { ipFamilies: ['IPv6'] } },
    [
      expect.stringMatching(/expected an IPv6 value as indicated by `ipFamilies\[0\]`$/) as string,
      'spec.ipFamilies[0]: Invalid value: []core.IPFamily{"IPv6"}: may not change once set',
    ],
  ],
  [
    'services',
    service({ clusterIP: 'None', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }),
    { spec: { ipFamilies: ['IPv6', 'IPv6'], sessionAffinity: 'x' } },
    [
      'spec.sessionAffinity: Unsupported value: "x": supported values: "ClientIP", "None"',
      'spec.ipFamilies[1]: Duplicate value: "IPv6"',
    ],
  ],
  [
    'pods',
    pod({ nodeSelector: { 'example.com/tier': 'web' }, hostname: 'h' }),
    {
      spec: { nodeSelector: null, subdomain: 'd', containers: [{ ...container, image: 'j', args: ['-v'] }] },
    },
    [
      `spec: Forbidden: ${POD_CHANGED}
spec.containers[0].args: absent -> ["-v"]
spec.nodeSelector: {"example.com/tier":"web"} -> absent
spec.subdomain: absent -> "d"
`,
    ],
  ],
  [
    'pods',
    { spec: { containers: [sized('1Gi')] } },
    { spec: { containers: [sized('1073741824')] } },
    ['200 '],
  ],
  [
    'persistentvolumeclaims',
    { spec: { ...claim.spec, resources: { requests: { storage: '1k' } } } },
    { spec: { resources: { requests: { storage: '1e3' } } } },
    ['200 '],
  ],
  [
    'persistentvolumes',
    { spec: { ...ONE_GIB, hostPath: { path: '/a', type: '' } } },
    { spec: { ...ONE_GIB, hostPath: { path: '/b' }, nfs: { server: 's', path: '/n' } } },
    [
      `spec.nfs: ${MORE}`,
      `spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation
spec.hostPath.path: "/a" -> "/b"
spec.nfs: absent -> {"server":"s","path":"/n"}
`,
    ],
  ],
  [
    'persistentvolumeclaims',
    claim,
    { spec: { accessModes: ['ReadOnlyMany'], volumeName: 'v', resources: { requests: { storage: '1' } } } },
    [
      `spec: Forbidden: spec is immutable after creation except resources.requests for bound claims
spec.accessModes[0]: "ReadWriteOnce" -> "ReadOnlyMany"
spec.resources.requests.storage: "1Gi" -> "1"
`,
      'spec.resources.requests.storage: Forbidden: field can not be less than previous value',
    ],
  ],
  [
    'nodes',
    {},
    { spec: { configSource: { configMap: { namespace: 'a', name: 'B', uid: 'u', kubeletConfigKey: '' } } } },
    [
      'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec',
      expect.stringMatching(/^spec\.configSource\.configMap\.name: Invalid value: "B"/) as string,
      'spec.configSource.configMap.kubeletConfigKey: Required value: kubeletConfigKey must be set',
    ],
  ],
];

test.each(changes)('a change: %s %j by %j', async (resource, object, patch, messages) => {
  const name = `changed-${String((count += 1))}`;
  const metadata = { name };
  const reply = await api.call('POST', urlOf(resource), { body: { ...object, metadata } });
  expect(messagesOf(reply)).toEqual(['201 ']);
  const url = `${urlOf(resource)}/${name}`;
  expect(messagesOf(await api.call('PATCH', url, { body: patch }))).toEqual(messages);
});

let count = 0;

test('addresses of a pod are told one by one and together, unless there were wrong ones before', async () => {
  await api.call('POST', `${HERE}/pods`, { body: { ...pod({}), metadata: { name: 'addressed' } } });
  const url = `${HERE}/pods/addressed/status`;
  const wrong = { status: { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.1' }] } };
  expect(messagesOf(await api.call('PATCH', url, { body: wrong }))).toEqual([
    'status.podIPs: Invalid value: []core.PodIP{core.PodIP{IP:"10.0.0.1"}, core.PodIP{IP:"10.0.0.1"}}: may specify no more than one IP for each IP family',
    'status.podIPs[1]: Duplicate value: core.PodIP{IP:"10.0.0.1"}',
  ]);
});

test('the status of a pod neither marks it nor tells its owners', async () => {
  await api.call('POST', `${HERE}/pods`, { body: { ...pod({}), metadata: { name: 'unmarked' } } });
  const { code, json } = await api.call('PATCH', `${HERE}/pods/unmarked/status`, {
    body: { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' }, status: { message: 'm' } },
  });
  expect([code, json.metadata.deletionTimestamp, json.status.message]).toEqual([200, undefined, 'm']);
});

test('a time that may not change is told as Go writes it', async () => {
  await api.call('POST', `${HERE}/configmaps`, { body: { metadata: { name: 'timed' } } });
  const body = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } };
  const told = 'metadata.deletionTimestamp: Invalid value: 2030-01-01 00:00:00 +0000 UTC: field is immutable';
  expect(messagesOf(await api.call('PATCH', `${HERE}/configmaps/timed`, { body }))).toEqual([told]);
});

test('a namespace keeps the finalizers that it asked for, repeated ones too', async () => {
  const finalizers = ['example.com/a', 'example.com/a'];
  const { json } = await api.call('POST', '/api/v1/namespaces?dryRun=All', {
    body: { metadata: { name: 'held' }, spec: { finalizers } },
  });
  expect(json.spec.finalizers).toEqual([...finalizers, FINALIZER.namespaceContent]);
});
