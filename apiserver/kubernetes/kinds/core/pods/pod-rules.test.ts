import type { InProcessApi } from '../../../../testing/in-process-api';
import { startInProcessApi } from '../../../../testing/in-process-api';
import type { Refusal } from '../../../../testing/kinds/refusals';
import { causesOf, refusalOf } from '../../../../testing/kinds/refusals';
import type { JsonObject } from '../../../../../shared/object/clone';

const PODS = '/api/v1/namespaces/default/pods';
const SECCOMP = 'seccomp.security.alpha.kubernetes.io/pod';
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => {
  await api.close();
});

let count = 0;

function pod(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  count += 1;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${String(count)}`, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  };
}

/** A pod of one container. */
function one(container: JsonObject, spec: JsonObject = {}): JsonObject {
  return pod({ containers: [{ name: 'c', image: 'i', ...container }], ...spec });
}

function volume(source: JsonObject): JsonObject {
  return pod({ volumes: [{ name: 'v', ...source }] });
}

function env(...variables: JsonObject[]): JsonObject {
  return one({ env: variables });
}

function ports(...list: JsonObject[]): JsonObject {
  return one({ ports: list });
}

function affinity(value: JsonObject): JsonObject {
  return pod({ affinity: value });
}

const C = 'spec.containers[0]';
const V = 'spec.volumes[0]';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const SPECS: readonly Refusal[] = [
  ['no containers', pod({ containers: [] }), ['Required spec.containers']],
  ['a restart policy of its own', pod({ restartPolicy: 'Maybe' }), ['NotSupported spec.restartPolicy']],
  ['a DNS policy of its own', pod({ dnsPolicy: 'Maybe' }), ['NotSupported spec.dnsPolicy']],
  ['DNS from nowhere', pod({ dnsPolicy: 'None' }), ['Required spec.dnsConfig']],
  [
    'a DNS policy None without nameservers',
    pod({ dnsPolicy: 'None', dnsConfig: { searches: ['a.b'] } }),
    ['Required spec.dnsConfig.nameservers'],
  ],
  [
    'four nameservers, one of them no address',
    pod({ dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', 'x'] } }),
    ['Invalid spec.dnsConfig.nameservers', 'Invalid spec.dnsConfig.nameservers[3]'],
  ],
  [
    'seven search domains, one of them bad',
    pod({ dnsConfig: { searches: ['a', 'b', 'c', 'd', 'e', 'f.', '-'] } }),
    ['Invalid spec.dnsConfig.searches', 'Invalid spec.dnsConfig.searches[6]'],
  ],
  [
    'a resolver option without a name',
    pod({ dnsConfig: { options: [{ value: '1' }] } }),
    ['Required spec.dnsConfig.options[0]'],
  ],
  ['a bad node selector', pod({ nodeSelector: { 'a b': 'c' } }), ['Invalid spec.nodeSelector']],
  ['a deadline of 0', pod({ activeDeadlineSeconds: 0 }), ['Invalid spec.activeDeadlineSeconds']],
  [
    'a deadline beyond 31 bits',
    pod({ activeDeadlineSeconds: 2147483648 }),
    ['Invalid spec.activeDeadlineSeconds'],
  ],
  ['a host name with dots', pod({ hostname: 'a.b' }), ['Invalid spec.hostname']],
  ['a bad subdomain', pod({ subdomain: 'A' }), ['Invalid spec.subdomain']],
  ['a bad node name', pod({ nodeName: 'a_b' }), ['Invalid spec.nodeName']],
  [
    'shared process namespaces twice',
    pod({ shareProcessNamespace: true, hostPID: true }),
    ['Invalid spec.securityContext.shareProcessNamespace'],
  ],
  [
    'a host alias without address and with a bad name',
    pod({ hostAliases: [{ ip: 'x', hostnames: ['A'] }] }),
    ['Invalid spec.hostAliases.hostnames', 'Invalid spec.hostAliases.ip'],
  ],
  [
    'a bad readiness gate',
    pod({ readinessGates: [{ conditionType: 'a b' }] }),
    ['Invalid spec.readinessGates[0].conditionType'],
  ],
  [
    'a topology spread of nothing',
    pod({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Odd' }] }),
    [
      'Invalid spec.topologySpreadConstraints[0].maxSkew',
      'NotSupported spec.topologySpreadConstraints[0].whenUnsatisfiable',
      'Required spec.topologySpreadConstraints[0].topologyKey',
    ],
  ],
  [
    'the same topology spread twice',
    pod({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
    ['Duplicate spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}'],
  ],
  [
    'tolerations of all sorts of wrong',
    pod({
      tolerations: [
        { operator: 'Equal', value: 'x' },
        { key: 'a', operator: 'Exists', value: 'x' },
        { key: 'a', operator: 'Odd' },
        { key: 'a b', operator: 'Exists' },
        { key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 },
        { key: 'a', effect: 'Odd' },
      ],
    }),
    [
      'Invalid spec.tolerations[0].operator',
      'Invalid spec.tolerations[1].operator',
      'Invalid spec.tolerations[3].key',
      'Invalid spec.tolerations[4].effect',
      'NotSupported spec.tolerations[2].operator',
      'NotSupported spec.tolerations[5].effect',
    ],
  ],
  [
    'a token of no service account',
    pod({
      serviceAccountName: 'default',
      volumes: [
        {
          name: 'v',
          projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 599 } }] },
        },
      ],
    }),
    [`Invalid ${V}.projected.sources[0].serviceAccountToken.expirationSeconds`],
  ],
];

const CONTAINERS: readonly Refusal[] = [
  ['a container without a name', one({ name: '' }), [`Required ${C}.name`]],
  ['a container name in capitals', one({ name: 'C' }), [`Invalid ${C}.name`]],
  ['a container without an image', one({ image: '' }), [`Required ${C}.image`]],
  ['an image between spaces', one({ image: ' i ' }), [`Invalid ${C}.image`]],
  ['an unknown pull policy', one({ imagePullPolicy: 'Odd' }), [`NotSupported ${C}.imagePullPolicy`]],
  [
    'an unknown message policy',
    one({ terminationMessagePolicy: 'Odd' }),
    [`Invalid ${C}.terminationMessagePolicy`],
  ],
  [
    'two containers of one name',
    pod({
      containers: [
        { name: 'c', image: 'i' },
        { name: 'c', image: 'i' },
      ],
    }),
    ['Duplicate spec.containers[1].name'],
  ],
  [
    'an init container that shares a name and has what only others may have',
    pod({
      initContainers: [
        {
          name: 'c',
          image: 'i',
          lifecycle: { preStop: { exec: { command: ['x'] } } },
          readinessProbe: { exec: { command: ['x'] } },
          startupProbe: { exec: { command: ['x'] } },
        },
      ],
    }),
    [
      'Duplicate spec.initContainers[0].name',
      'Invalid spec.initContainers[0].lifecycle',
      'Invalid spec.initContainers[0].readinessProbe',
      'Invalid spec.initContainers[0].startupProbe',
    ],
  ],
  ['a port without a number', ports({ name: 'a' }), [`Required ${C}.ports[0].containerPort`]],
  ['a port beyond 16 bits', ports({ containerPort: 65536 }), [`Invalid ${C}.ports[0].containerPort`]],
  ['a negative host port', ports({ containerPort: 1, hostPort: -1 }), [`Invalid ${C}.ports[0].hostPort`]],
  [
    'a port of no protocol',
    ports({ containerPort: 1, protocol: 'tcp' }),
    [`NotSupported ${C}.ports[0].protocol`],
  ],
  [
    'a port name of 16 letters',
    ports({ containerPort: 1, name: 'abcdefghijklmnop' }),
    [`Invalid ${C}.ports[0].name`],
  ],
  ['a port name without letters', ports({ containerPort: 1, name: '80' }), [`Invalid ${C}.ports[0].name`]],
  [
    'a port name with a double dash',
    ports({ containerPort: 1, name: 'a--b' }),
    [`Invalid ${C}.ports[0].name`],
  ],
  [
    'one port name twice',
    ports({ containerPort: 1, name: 'a' }, { containerPort: 2, name: 'a' }),
    [`Duplicate ${C}.ports[1].name`],
  ],
  [
    'one host port twice',
    ports({ containerPort: 1, hostPort: 80 }, { containerPort: 2, hostPort: 80 }),
    [`Duplicate ${C}.ports[1].hostPort`],
  ],
  [
    'a host port that differs in the network of the host',
    one({ ports: [{ containerPort: 1, hostPort: 2 }] }, { hostNetwork: true }),
    [`Invalid ${C}.ports[0].containerPort`],
  ],
  ['a variable without a name', env({ value: 'x' }), [`Required ${C}.env[0].name`]],
  ['a variable that begins with a digit', env({ name: '1a' }), [`Invalid ${C}.env[0].name`]],
  ['a variable called ..', env({ name: '..' }), [`Invalid ${C}.env[0].name`]],
  ['a value from nowhere', env({ name: 'A', valueFrom: {} }), [`Invalid ${C}.env[0].valueFrom`]],
  [
    'a value and where it comes from',
    env({ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
    [`Invalid ${C}.env[0].valueFrom`],
  ],
  [
    'a value from two places',
    env({
      name: 'A',
      valueFrom: { configMapKeyRef: { name: 'a', key: 'k' }, secretKeyRef: { name: 'a', key: 'k' } },
    }),
    [`Invalid ${C}.env[0].valueFrom`],
  ],
  [
    'a field that there is not',
    env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.odd' } } }),
    [`Invalid ${C}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    'a field that variables do not show',
    env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } }),
    [`NotSupported ${C}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    'no field',
    env({ name: 'A', valueFrom: { fieldRef: {} } }),
    [`Required ${C}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    'one label with a bad key',
    env({ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } }),
    [`Invalid ${C}.env[0].valueFrom.fieldRef`],
  ],
  [
    'a part of a field that has none',
    env({ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.name['a']" } } }),
    [`Invalid ${C}.env[0].valueFrom.fieldRef.fieldPath`],
  ],
  [
    'an unknown resource field',
    env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.gold' } } }),
    [`NotSupported ${C}.env[0].valueFrom.resourceFieldRef.resource`],
  ],
  [
    'no resource field',
    env({ name: 'A', valueFrom: { resourceFieldRef: {} } }),
    [`Required ${C}.env[0].valueFrom.resourceFieldRef.resource`],
  ],
  [
    'an odd divisor of cpu',
    env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '2' } } }),
    [`Invalid ${C}.env[0].valueFrom.resourceFieldRef.divisor`],
  ],
  [
    'a key without name and key',
    env({ name: 'A', valueFrom: { secretKeyRef: {} } }),
    [`Invalid ${C}.env[0].valueFrom.secretKeyRef.name`, `Required ${C}.env[0].valueFrom.secretKeyRef.key`],
  ],
  [
    'a key that is no file name',
    env({ name: 'A', valueFrom: { configMapKeyRef: { name: 'a', key: 'a/b' } } }),
    [`Invalid ${C}.env[0].valueFrom.configMapKeyRef.key`],
  ],
  ['variables from nowhere', one({ envFrom: [{}] }), [`Invalid ${C}.envFrom`]],
  [
    'variables from a nameless map',
    one({ envFrom: [{ configMapRef: {} }] }),
    [`Required ${C}.envFrom[0].configMapRef.name`],
  ],
  [
    'variables from two places',
    one({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'a' } }] }),
    [`Invalid ${C}.envFrom`],
  ],
  [
    'a bad prefix of variables',
    one({ envFrom: [{ prefix: '1', secretRef: { name: 'a' } }] }),
    [`Invalid ${C}.envFrom[0].prefix`],
  ],
  [
    'more requested than the limit',
    one({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
    [`Invalid ${C}.resources.requests`],
  ],
  [
    'a negative request',
    one({ resources: { requests: { cpu: '-1' } } }),
    [`Invalid ${C}.resources.requests[cpu]`],
  ],
  [
    'a resource of no kind',
    one({ resources: { limits: { gold: '1' } } }),
    [`Invalid ${C}.resources.limits[gold]`, `Invalid ${C}.resources.requests[gold]`],
  ],
  [
    'a resource that is for quotas',
    one({ resources: { limits: { pods: '1' } } }),
    [`Invalid ${C}.resources.limits[pods]`, `Invalid ${C}.resources.requests[pods]`],
  ],
  [
    'half a piece of gold',
    one({ resources: { limits: { 'a.com/gold': '500m' } } }),
    [`Invalid ${C}.resources.limits[a.com/gold]`, `Invalid ${C}.resources.requests[a.com/gold]`],
  ],
  [
    'gold without a limit',
    one({ resources: { requests: { 'a.com/gold': '1' } } }),
    [`Required ${C}.resources.limits`],
  ],
  [
    'huge pages alone',
    one({ resources: { limits: { 'hugepages-2Mi': '2Mi' } } }),
    [`Forbidden ${C}.resources`],
  ],
  [
    'a part of a huge page',
    one({ resources: { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } } }),
    [`Invalid ${C}.resources.limits[hugepages-2Mi]`, `Invalid ${C}.resources.requests[hugepages-2Mi]`],
  ],
  ['a probe of nothing', one({ livenessProbe: {} }), [`Required ${C}.livenessProbe`]],
  [
    'a probe that runs nothing',
    one({ readinessProbe: { exec: {} } }),
    [`Required ${C}.readinessProbe.exec.command`],
  ],
  [
    'a probe of port 0',
    one({ startupProbe: { tcpSocket: { port: 0 } } }),
    [`Invalid ${C}.startupProbe.tcpSocket.port`],
  ],
  [
    'a probe of a badly named port',
    one({ livenessProbe: { httpGet: { port: 'A', path: '/' } } }),
    [`Invalid ${C}.livenessProbe.httpGet.port`],
  ],
  [
    'a probe by an odd scheme',
    one({ livenessProbe: { httpGet: { port: 1, scheme: 'ftp' } } }),
    [`NotSupported ${C}.livenessProbe.httpGet.scheme`],
  ],
  [
    'a probe with a bad header',
    one({ livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: 'x' }] } } }),
    [`Invalid ${C}.livenessProbe.httpGet.httpHeaders`],
  ],
  [
    'a probe of two sorts',
    one({ readinessProbe: { exec: { command: ['x'] }, tcpSocket: { port: 1 } } }),
    [`Forbidden ${C}.readinessProbe.tcpSocket`],
  ],
  [
    'negative counts of a probe',
    one({
      livenessProbe: {
        exec: { command: ['x'] },
        initialDelaySeconds: -1,
        failureThreshold: -1,
        successThreshold: 2,
      },
    }),
    [
      `Invalid ${C}.livenessProbe.failureThreshold`,
      `Invalid ${C}.livenessProbe.initialDelaySeconds`,
      `Invalid ${C}.livenessProbe.successThreshold`,
    ],
  ],
  ['a hook of nothing', one({ lifecycle: { postStart: {} } }), [`Required ${C}.lifecycle.postStart`]],
  [
    'a mount of no volume',
    one({ volumeMounts: [{ name: 'x', mountPath: '/x' }] }),
    [`NotFound ${C}.volumeMounts[0].name`],
  ],
  [
    'a mount without name and path',
    one({ volumeMounts: [{}] }),
    [
      `NotFound ${C}.volumeMounts[0].name`,
      `Required ${C}.volumeMounts[0].mountPath`,
      `Required ${C}.volumeMounts[0].name`,
    ],
  ],
  [
    'two mounts at one path, one out of its volume',
    one(
      {
        volumeMounts: [
          { name: 'v', mountPath: '/x', subPath: '../a' },
          { name: 'v', mountPath: '/x', subPath: 'a', subPathExpr: '/b' },
        ],
      },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
    [
      `Invalid ${C}.volumeMounts.subPath`,
      `Invalid ${C}.volumeMounts.subPathExpr`,
      `Invalid ${C}.volumeMounts[1].mountPath`,
      `Invalid ${C}.volumeMounts[1].subPathExpr`,
    ],
  ],
  [
    'a mount that reaches the host without privilege',
    one(
      { volumeMounts: [{ name: 'v', mountPath: '/x', mountPropagation: 'Bidirectional' }] },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
    [`Forbidden ${C}.volumeMounts.mountPropagation`],
  ],
  [
    'a device that is no claim',
    one(
      { volumeDevices: [{ name: 'v', devicePath: '/x/../y' }] },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
    [`Invalid ${C}.volumeDevices[0].devicePath`, `Invalid ${C}.volumeDevices[0].name`],
  ],
  [
    'a device that is mounted too',
    one(
      { volumeDevices: [{ name: 'v', devicePath: '/x' }], volumeMounts: [{ name: 'v', mountPath: '/x' }] },
      { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'a' } }] },
    ),
    [
      `Invalid ${C}.volumeDevices[0].devicePath`,
      `Invalid ${C}.volumeDevices[0].name`,
      `Invalid ${C}.volumeMounts[0].mountPath`,
      `Invalid ${C}.volumeMounts[0].name`,
    ],
  ],
];

const VOLUMES: readonly Refusal[] = [
  ['a volume without a name', pod({ volumes: [{ emptyDir: {} }] }), [`Required ${V}.name`]],
  [
    'two volumes of one name',
    pod({
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'v', emptyDir: {} },
      ],
    }),
    ['Duplicate spec.volumes[1].name'],
  ],
  ['a volume of two types', volume({ emptyDir: {}, secret: { secretName: 'a' } }), [`Forbidden ${V}.secret`]],
  ['a negative size', volume({ emptyDir: { sizeLimit: '-1' } }), [`Forbidden ${V}.emptyDir.sizeLimit`]],
  ['a host path without a path', volume({ hostPath: {} }), [`Required ${V}.hostPath.path`]],
  [
    'a host path of an odd type that climbs',
    volume({ hostPath: { path: '/a/../b', type: 'Odd' } }),
    [`Invalid ${V}.hostPath.path`, `NotSupported ${V}.hostPath.type`],
  ],
  ['a secret without a name', volume({ secret: {} }), [`Required ${V}.secret.secretName`]],
  [
    'files of a secret with bad paths and modes',
    volume({
      secret: {
        secretName: 'a',
        items: [
          { key: '', path: '/a' },
          { key: 'b', path: '..b', mode: 512 },
        ],
      },
    }),
    [
      `Invalid ${V}.secret.items[0].path`,
      `Invalid ${V}.secret.items[1].mode`,
      `Invalid ${V}.secret.items[1].path`,
      `Required ${V}.secret.items[0].key`,
    ],
  ],
  [
    'a mode beyond octal 777',
    volume({ configMap: { name: 'a', defaultMode: 512 } }),
    [`Invalid ${V}.configMap.defaultMode`],
  ],
  ['a nameless config map', volume({ configMap: {} }), [`Required ${V}.configMap.name`]],
  [
    'a claim without a name',
    volume({ persistentVolumeClaim: {} }),
    [`Required ${V}.persistentVolumeClaim.claimName`],
  ],
  [
    'an NFS volume of nothing',
    volume({ nfs: { path: 'a' } }),
    [`Invalid ${V}.nfs.path`, `Required ${V}.nfs.server`],
  ],
  [
    'a disk with a partition of 256',
    volume({ gcePersistentDisk: { partition: 256 } }),
    [`Invalid ${V}.persistentDisk.partition`, `Required ${V}.persistentDisk.pdName`],
  ],
  [
    'a block store without id',
    volume({ awsElasticBlockStore: {} }),
    [`Required ${V}.awsElasticBlockStore.volumeID`],
  ],
  [
    'a git repository without address',
    volume({ gitRepo: { directory: '/a' } }),
    [`Invalid ${V}.gitRepo.directory`, `Required ${V}.gitRepo.repository`],
  ],
  [
    'an iSCSI target that authenticates without secret',
    volume({ iscsi: { targetPortal: 'a', iqn: 'iqn.odd', lun: 256, chapAuthSession: true } }),
    [`Invalid ${V}.iscsi.iqn`, `Invalid ${V}.iscsi.lun`, `Required ${V}.iscsi.secretRef`],
  ],
  [
    'a Gluster volume of nothing',
    volume({ glusterfs: {} }),
    [`Required ${V}.glusterfs.endpoints`, `Required ${V}.glusterfs.path`],
  ],
  [
    'a Ceph block device of nothing',
    volume({ rbd: {} }),
    [`Required ${V}.rbd.image`, `Required ${V}.rbd.monitors`],
  ],
  ['a flex volume without driver', volume({ flexVolume: {} }), [`Required ${V}.flexVolume.driver`]],
  [
    'a Quobyte registry without port',
    volume({ quobyte: { registry: 'a', volume: 'b' } }),
    [`Invalid ${V}.quobyte.registry`],
  ],
  ['a Flocker dataset of nothing', volume({ flocker: {} }), [`Required ${V}.flocker`]],
  ['a fibre channel without a lun', volume({ fc: { targetWWNs: ['a'] } }), [`Required ${V}.fc.lun`]],
  [
    'a fibre channel of two sorts',
    volume({ fc: { targetWWNs: ['a'], wwids: ['b'], lun: 1 } }),
    [`Invalid ${V}.fc.targetWWNs`],
  ],
  [
    'an Azure file without share',
    volume({ azureFile: { secretName: 'a' } }),
    [`Required ${V}.azureFile.shareName`],
  ],
  [
    'an Azure disk of odd kinds',
    volume({ azureDisk: { diskName: 'a', diskURI: 'a', kind: 'Managed', cachingMode: 'Odd' } }),
    [`NotSupported ${V}.azureDisk.cachingMode`, `NotSupported ${V}.azureDisk.diskURI`],
  ],
  [
    'a CSI volume without driver',
    volume({ csi: { nodePublishSecretRef: {} } }),
    [`Invalid ${V}.csi.driver`, `Required ${V}.csi.driver`, `Required ${V}.csi.nodePublishSecretRef .name`],
  ],
  [
    'a ScaleIO volume of nothing',
    volume({ scaleIO: {} }),
    [`Required ${V}.scaleIO.gateway`, `Required ${V}.scaleIO.system`, `Required ${V}.scaleIO.volumeName`],
  ],
  ['a file of no field', volume({ downwardAPI: { items: [{ path: 'a' }] } }), [`Required ${V}.downwardAPI`]],
  [
    'a file of a container field without container',
    volume({ downwardAPI: { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] } }),
    [`Required ${V}.downwardAPI.resourceFieldRef.containerName`],
  ],
  [
    'sources that write one file',
    volume({
      projected: {
        sources: [
          { secret: { name: 'a', items: [{ key: 'a', path: 'x' }] } },
          { configMap: { name: 'a', items: [{ key: 'a', path: 'x' }] } },
        ],
      },
    }),
    [`Invalid ${V}.projected`],
  ],
  [
    'one source of two types',
    volume({ projected: { sources: [{ secret: { name: 'a' }, configMap: { name: 'a' } }] } }),
    [`Forbidden ${V}.projected.sources[0]`],
  ],
  [
    'a claim template of nothing',
    volume({ ephemeral: { volumeClaimTemplate: { metadata: { name: 'x' }, spec: {} } } }),
    [
      `Forbidden ${V}.ephemeral.volumeClaimTemplate.metadata.name`,
      `Required ${V}.ephemeral.volumeClaimTemplate.spec.accessModes`,
      `Required ${V}.ephemeral.volumeClaimTemplate.spec.resources[storage]`,
    ],
  ],
];

const SECURITY: readonly Refusal[] = [
  [
    'a negative user',
    one({ securityContext: { runAsUser: -1 } }),
    [`Invalid ${C}.securityContext.runAsUser`],
  ],
  [
    'privilege that may not escalate',
    one({ securityContext: { privileged: true, allowPrivilegeEscalation: false } }),
    [`Forbidden ${C}.securityContext.privileged`, `Invalid ${C}.securityContext`],
  ],
  [
    'SYS_ADMIN that may not escalate',
    one({ securityContext: { capabilities: { add: ['CAP_SYS_ADMIN'] }, allowPrivilegeEscalation: false } }),
    [`Invalid ${C}.securityContext`],
  ],
  [
    'groups beyond 31 bits',
    pod({ securityContext: { fsGroup: 2147483648, supplementalGroups: [1, -1] } }),
    ['Invalid spec.securityContext.fsGroup', 'Invalid spec.securityContext.supplementalGroups[1]'],
  ],
  [
    'kernel parameters of odd names',
    pod({ securityContext: { sysctls: [{ name: 'a' }, { name: 'a' }, { name: 'A' }, {}] } }),
    [
      'Duplicate spec.securityContext.sysctls[1].name',
      'Invalid spec.securityContext.sysctls[2].name',
      'Required spec.securityContext.sysctls[3].name',
    ],
  ],
  [
    'an odd change policy',
    pod({ securityContext: { fsGroupChangePolicy: 'Odd' } }),
    ['NotSupported spec.securityContext.fsGroupChangePolicy'],
  ],
  [
    'an odd seccomp type',
    pod({ securityContext: { seccompProfile: { type: 'Odd' } } }),
    ['NotSupported spec.securityContext.seccompProfile.type'],
  ],
  [
    'a local profile without a file',
    pod({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    ['Required spec.securityContext.seccompProfile.localhostProfile'],
  ],
  [
    'a file of no local profile',
    pod({ securityContext: { seccompProfile: { type: 'Unconfined', localhostProfile: 'a' } } }),
    ['Invalid spec.securityContext.seccompProfile.localhostProfile'],
  ],
  [
    'an odd seccomp annotation',
    pod({}, { annotations: { [SECCOMP]: 'odd' } }),
    [`Invalid metadata.annotations.${SECCOMP}`],
  ],
  [
    'an annotation that contradicts its field',
    pod(
      { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      { annotations: { [SECCOMP]: 'unconfined' } },
    ),
    ['Forbidden spec.securityContext.seccompProfile.type'],
  ],
  [
    'AppArmor for no container',
    pod({}, { annotations: { [`${APP_ARMOR}x`]: 'unconfined' } }),
    [`Invalid metadata.annotations[${APP_ARMOR}x]`],
  ],
  [
    'an odd AppArmor profile',
    pod({}, { annotations: { [`${APP_ARMOR}c`]: 'odd' } }),
    [`Invalid metadata.annotations[${APP_ARMOR}c]`],
  ],
  [
    'a Windows user of three parts and an empty credential',
    one({ securityContext: { windowsOptions: { runAsUserName: 'a\\b\\c', gmsaCredentialSpec: '' } } }),
    [
      `Invalid ${C}.securityContext.windowsOptions.gmsaCredentialSpec`,
      `Invalid ${C}.securityContext.windowsOptions.runAsUserName`,
    ],
  ],
];

const NODE = 'spec.affinity.nodeAffinity';
const TERM = `${NODE}.${REQUIRED}.nodeSelectorTerms`;
const POD = `spec.affinity.podAffinity.${REQUIRED}[0]`;
const AFFINITY: readonly Refusal[] = [
  ['no term', affinity({ nodeAffinity: { [REQUIRED]: { nodeSelectorTerms: [] } } }), [`Required ${TERM}`]],
  [
    'operators and values that do not fit',
    affinity({
      nodeAffinity: {
        [REQUIRED]: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'a', operator: 'In' },
                { key: 'a', operator: 'Exists', values: ['x'] },
                { key: 'a', operator: 'Gt', values: ['1', '2'] },
                { key: 'a b', operator: 'Odd' },
              ],
            },
          ],
        },
      },
    }),
    [
      `Forbidden ${TERM}[0].matchExpressions[1].values`,
      `Invalid ${TERM}[0].matchExpressions[3].key`,
      `Invalid ${TERM}[0].matchExpressions[3].operator`,
      `Required ${TERM}[0].matchExpressions[0].values`,
      `Required ${TERM}[0].matchExpressions[2].values`,
    ],
  ],
  [
    'fields that do not single out a node',
    affinity({
      nodeAffinity: {
        [REQUIRED]: {
          nodeSelectorTerms: [
            {
              matchFields: [
                { key: 'spec.odd', operator: 'In', values: ['a'] },
                { key: 'metadata.name', operator: 'In', values: ['A', 'b'] },
                { key: 'metadata.name', operator: 'Exists' },
              ],
            },
          ],
        },
      },
    }),
    [
      `Invalid ${TERM}[0].matchFields[0].key`,
      `Invalid ${TERM}[0].matchFields[1].values[0]`,
      `Invalid ${TERM}[0].matchFields[2].operator`,
      `Required ${TERM}[0].matchFields[1].values`,
    ],
  ],
  [
    'a weight of 0',
    affinity({ nodeAffinity: { [PREFERRED]: [{ weight: 0, preference: {} }] } }),
    [`Invalid ${NODE}.${PREFERRED}[0].weight`],
  ],
  [
    'no topology',
    affinity({ podAffinity: { [REQUIRED]: [{ topologyKey: '' }] } }),
    [`Invalid ${POD}.topologyKey`, `Required ${POD}.topologyKey`],
  ],
  [
    'a bad namespace',
    affinity({ podAffinity: { [REQUIRED]: [{ topologyKey: 'a', namespaces: ['A'] }] } }),
    [`Invalid ${POD}.namespace`],
  ],
  [
    'a bad selector of pods',
    affinity({
      podAntiAffinity: {
        [PREFERRED]: [
          {
            weight: 101,
            podAffinityTerm: {
              topologyKey: 'a',
              labelSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
            },
          },
        ],
      },
    }),
    [
      `Invalid spec.affinity.podAntiAffinity.${PREFERRED}[0].weight`,
      `Required spec.affinity.podAntiAffinity.${PREFERRED}[0].podAffinityTerm.matchExpressions.matchExpressions[0].values`,
    ],
  ],
];

describe.each([
  ['spec', SPECS],
  ['container', CONTAINERS],
  ['volume', VOLUMES],
  ['security', SECURITY],
  ['affinity', AFFINITY],
])('a pod with a bad %s', (_part, refusals) => {
  test.each(refusals)('is refused for %s', async (_title, body, causes) => {
    expect(await refusalOf(api, PODS, body)).toEqual([...causes].sort());
  });
});

describe('a change of a pod', () => {
  const NAME = 'changed';
  const URL = `${PODS}/${NAME}`;

  beforeAll(async () => {
    const body = pod(
      { tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }], activeDeadlineSeconds: 50 },
      { name: NAME, annotations: { [`${APP_ARMOR}c`]: 'unconfined' } },
    );
    expect((await api.call('POST', PODS, { body })).code).toBe(201);
  });

  const refused: readonly (readonly [title: string, patch: unknown, causes: readonly string[]])[] = [
    ['another restart policy', { spec: { restartPolicy: 'Never' } }, ['Forbidden spec']],
    ['another host name', { spec: { hostname: 'x' } }, ['Forbidden spec']],
    ['another grace period', { spec: { terminationGracePeriodSeconds: 1 } }, ['Forbidden spec']],
    [
      'another container',
      {
        spec: {
          containers: [
            { name: 'c', image: 'i' },
            { name: 'd', image: 'i' },
          ],
        },
      },
      ['Forbidden spec.containers'],
    ],
    [
      'no image',
      { spec: { containers: [{ name: 'c', imagePullPolicy: 'Always' }] } },
      ['Required spec.containers[0].image'],
    ],
    ['a longer deadline', { spec: { activeDeadlineSeconds: 51 } }, ['Invalid spec.activeDeadlineSeconds']],
    ['no deadline', { spec: { activeDeadlineSeconds: null } }, ['Invalid spec.activeDeadlineSeconds']],
    [
      'one toleration less',
      { spec: { tolerations: [{ operator: 'Exists' }] } },
      ['Forbidden spec.tolerations'],
    ],
    [
      'other confinement',
      { metadata: { annotations: { [`${APP_ARMOR}c`]: null } } },
      [`Forbidden metadata.annotations[${APP_ARMOR}c]`],
    ],
  ];
  test.each(refused)('is refused for %s', async (_title, patch, causes) => {
    expect(causesOf(await api.call('PATCH', URL, { body: patch }))).toEqual(causes);
  });

  test('may bring other images, a shorter deadline and more tolerations', async () => {
    const reply = await api.call('GET', URL);
    const { spec } = reply.json;
    const [container] = spec.containers;
    const body = {
      ...reply.json,
      spec: {
        ...spec,
        containers: [{ ...container, image: 'other:2' }],
        activeDeadlineSeconds: 20,
        tolerations: [...spec.tolerations, { key: 'b', operator: 'Exists' }],
      },
    };
    const changed = await api.call('PUT', URL, { body });
    expect(changed.code).toBe(200);
    expect(changed.json.spec.containers[0].image).toBe('other:2');
    expect(changed.json.spec.activeDeadlineSeconds).toBe(20);
  });

  test('of its status leaves the spec alone and keeps one address of each family', async () => {
    const both = { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], podIP: '10.0.0.1' };
    const refusedIps = await api.call('PATCH', `${URL}/status`, { body: { status: both } });
    expect(causesOf(refusedIps)).toEqual(['Invalid status.podIPs']);
    const body = { spec: { hostname: 'x' }, status: { podIP: '10.0.0.3', phase: 'Running' } };
    const changed = await api.call('PATCH', `${URL}/status`, { body });
    expect(changed.code).toBe(200);
    expect(changed.json.spec.hostname).toBeUndefined();
    expect(changed.json.status).toMatchObject({ phase: 'Running', podIPs: [{ ip: '10.0.0.3' }] });
  });

  test('of its status may not revive a container that ended for good', async () => {
    const name = 'ended';
    await api.call('POST', PODS, { body: pod({ restartPolicy: 'Never' }, { name }) });
    const status = (state: JsonObject): JsonObject => ({
      status: { containerStatuses: [{ name: 'c', state }] },
    });
    const ended = await api.call('PATCH', `${PODS}/${name}/status`, {
      body: status({ terminated: { exitCode: 0 } }),
    });
    expect(ended.code).toBe(200);
    const revived = await api.call('PATCH', `${PODS}/${name}/status`, {
      body: status({ terminated: null, running: {} }),
    });
    expect(causesOf(revived)).toEqual(['Forbidden status.containerStatuses[0].state']);
  });
});

describe('a new pod', () => {
  test('is pending, whatever status the client sends', async () => {
    const body = { ...pod({}), status: { phase: 'Running', podIP: '10.0.0.1' } };
    const { code, json } = await api.call('POST', PODS, { body });
    expect(code).toBe(201);
    expect(json.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' });
  });

  test.each([
    ['BestEffort', {}],
    ['Burstable', { requests: { cpu: '1' } }],
    ['Burstable', { limits: { cpu: '1' } }],
    ['Burstable', { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } }],
    ['Guaranteed', { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1024Mi' } }],
  ])('is %s with the resources %j', async (qosClass, resources) => {
    const { json } = await api.call('POST', PODS, { body: one({ resources }) });
    expect(json.status.qosClass).toBe(qosClass);
  });

  test('says its seccomp profiles in fields and annotations', async () => {
    const profile = { seccompProfile: { type: 'RuntimeDefault' } };
    const fields = await api.call('POST', PODS, {
      body: one({ securityContext: profile }, { securityContext: profile }),
    });
    expect(fields.json.metadata.annotations).toEqual({
      [SECCOMP]: 'runtime/default',
      'container.seccomp.security.alpha.kubernetes.io/c': 'runtime/default',
    });
    const annotated = await api.call('POST', PODS, {
      body: pod({}, { annotations: { [SECCOMP]: 'localhost/a.json' } }),
    });
    expect(annotated.json.spec.securityContext.seccompProfile).toEqual({
      type: 'Localhost',
      localhostProfile: 'a.json',
    });
  });

  test('has nothing of features that are off in this release', async () => {
    const body = one({
      securityContext: { procMount: 'Unmasked' },
      livenessProbe: { exec: { command: ['x'] }, terminationGracePeriodSeconds: 5 },
    });
    const { json } = await api.call('POST', PODS, { body });
    const [container] = json.spec.containers;
    expect(container.securityContext.procMount).toBe('Default');
    expect(container.livenessProbe.terminationGracePeriodSeconds).toBeUndefined();
  });

  test('that uses most of what there is passes', async () => {
    const body = pod(
      {
        serviceAccountName: 'default',
        initContainers: [{ name: 'init', image: 'busybox:1.34', command: ['sh', '-c', 'true'] }],
        containers: [
          {
            name: 'web',
            image: 'nginx:1.21',
            ports: [
              { name: 'http', containerPort: 80 },
              { name: 'dns', containerPort: 53, protocol: 'UDP', hostPort: 53 },
              { name: 'dns-tcp', containerPort: 53, protocol: 'TCP', hostPort: 53 },
            ],
            env: [
              { name: 'A', value: 'b' },
              { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
              { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
              { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
            ],
            envFrom: [{ prefix: 'X_', configMapRef: { name: 'config' } }],
            resources: {
              limits: { cpu: '500m', memory: '128Mi', 'a.com/gpu': '1', 'hugepages-2Mi': '4Mi' },
              requests: { cpu: '100m' },
            },
            livenessProbe: {
              httpGet: { path: '/healthz', port: 'http', httpHeaders: [{ name: 'X-A', value: 'b' }] },
            },
            readinessProbe: { tcpSocket: { port: 80 }, successThreshold: 3 },
            startupProbe: { exec: { command: ['true'] } },
            lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } },
            volumeMounts: [
              { name: 'data', mountPath: '/data', subPath: 'a/b' },
              { name: 'all', mountPath: '/all', readOnly: true },
            ],
            volumeDevices: [{ name: 'block', devicePath: '/dev/block' }],
            securityContext: {
              runAsUser: 1000,
              capabilities: { drop: ['ALL'] },
              allowPrivilegeEscalation: false,
            },
          },
        ],
        volumes: [
          { name: 'data', emptyDir: { sizeLimit: '1Gi' } },
          { name: 'block', persistentVolumeClaim: { claimName: 'claim' } },
          { name: 'host', hostPath: { path: '/var/log', type: 'Directory' } },
          {
            name: 'all',
            projected: {
              sources: [
                { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
                { configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
                { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
              ],
            },
          },
          { name: 'nfs', nfs: { server: 'a', path: '/b' } },
          { name: 'csi', csi: { driver: 'inline.example.com' } },
          {
            name: 'scratch',
            ephemeral: {
              volumeClaimTemplate: {
                metadata: { labels: { a: 'b' } },
                spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
              },
            },
          },
        ],
        affinity: {
          nodeAffinity: {
            [REQUIRED]: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] }],
            },
          },
          podAntiAffinity: {
            [PREFERRED]: [
              {
                weight: 100,
                podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'web' } } },
              },
            ],
          },
        },
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'zone',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
        tolerations: [
          { operator: 'Exists' },
          { key: 'a', value: 'b', effect: 'NoExecute', tolerationSeconds: 30 },
        ],
        securityContext: {
          fsGroup: 2000,
          runAsNonRoot: true,
          sysctls: [{ name: 'net.core.somaxconn', value: '1' }],
        },
        hostAliases: [{ ip: '127.0.0.1', hostnames: ['a.local'] }],
        dnsConfig: {
          nameservers: ['1.1.1.1'],
          searches: ['a.svc.'],
          options: [{ name: 'ndots', value: '2' }],
        },
        readinessGates: [{ conditionType: 'example.com/ready' }],
        activeDeadlineSeconds: 3600,
        hostname: 'web',
        subdomain: 'sub',
        imagePullSecrets: [{ name: 'registry' }],
      },
      { labels: { app: 'web' } },
    );
    const reply = await api.call('POST', PODS, { body });
    expect(causesOf(reply)).toEqual(['201 ']);
  });
});
