import type { Pod } from '../../../../shared/api/types/core-v1';
import type { PodSecurityPolicy, PodSecurityPolicySpec } from '../../../../shared/api/types/policy-v1beta1';
import { ANNOTATION, ROOT_CA } from '../../../../shared/names';
import { compilePolicy } from './compiled-policy';

const ANY = { rule: 'RunAsAny' };

type Annotations = Readonly<Record<string, string>>;

/** A policy that allows harmless pods, with any values where it has rules. */
function policyOf(spec: Partial<PodSecurityPolicySpec>, annotations: Annotations = {}): PodSecurityPolicy {
  const open = { runAsUser: ANY, seLinux: ANY, fsGroup: ANY, supplementalGroups: ANY };
  return { metadata: { name: 'p', annotations }, spec: { ...open, ...spec } };
}

interface Given {
  readonly pod?: object;
  readonly container?: object;
  readonly context?: object;
  readonly podContext?: object;
  readonly annotations?: Annotations;
}

function podOf({ pod = {}, container = {}, context, podContext, annotations }: Given): Pod {
  const only = { name: 'c', ...container, ...(context === undefined ? {} : { securityContext: context }) };
  return {
    metadata: { name: 'pod', ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      containers: [only],
      ...(podContext === undefined ? {} : { securityContext: podContext }),
      ...pod,
    },
  } as unknown as Pod;
}

/** Returns the pod with the policy's defaults and its violations. */
function outcome(
  policy: PodSecurityPolicy,
  given: Given,
): { readonly pod: Pod; readonly problems: string[] } {
  const compiled = compilePolicy(policy);
  if (compiled === undefined) throw new Error('the policy is incomplete');
  const pod = compiled.fill(podOf(given));
  return { pod, problems: compiled.problems(pod).map(({ field, message }) => `${field}: ${message}`) };
}

const CONTEXT = 'spec.containers[0].securityContext';
const RANGES = [
  { min: 1, max: 10 },
  { min: 20, max: 30 },
];
const IN_RANGES = '[{1 10} {20 30}]';
const MUST = { rule: 'MustRunAs', ranges: RANGES };
const MAY = { rule: 'MayRunAs', ranges: RANGES };
const LABEL = { level: 's0:c0,c6', role: 'r', type: 't', user: 'u' };
const SE_LINUX = { rule: 'MustRunAs', seLinuxOptions: LABEL };
const APP_ARMOR = `${ANNOTATION.appArmorContainerPrefix}c`;
const SECCOMP = `${ANNOTATION.seccompContainerPrefix}c`;

describe('violations', () => {
  const volume = (source: object): Given => ({ pod: { volumes: [{ name: 'v', ...source }] } });
  const token = { path: 'token' };
  const projected = (...sources: object[]): Given => volume({ projected: { sources } });
  const namespaceItem = {
    path: 'namespace',
    fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
  };
  const allowedHostPaths = [{ pathPrefix: '/foo/' }, { pathPrefix: '/ro', readOnly: true }];
  const hostPaths = { volumes: ['hostPath'], allowedHostPaths };
  const hostPath = (path: string): Given => volume({ hostPath: { path } });
  const mounted = (readOnly: boolean): Given => ({
    ...hostPath('/ro/x'),
    container: { volumeMounts: [{ name: 'other' }, { name: 'v', readOnly }] },
  });
  const sysctl = (name: string): Given => ({ podContext: { sysctls: [{ name, value: '1' }] } });
  const SYSCTL = 'pod.spec.securityContext.sysctls[0]: Forbidden';
  const sysctls = {
    allowedUnsafeSysctls: ['kernel.*', 'a.b'],
    forbiddenSysctls: ['kernel.shm*', 'net.ipv4.tcp_syncookies'],
  };
  const allowed = { [ANNOTATION.appArmorAllowedProfiles]: 'runtime/default,localhost/a' };
  const profiles = (text: string): Annotations => ({ [ANNOTATION.seccompAllowedProfiles]: text });
  const POD_SECCOMP = `pod.metadata.annotations[${ANNOTATION.seccompPod}]: Forbidden`;
  const CONTAINER_SECCOMP = `pod.metadata.annotations[${SECCOMP}]: Forbidden`;

  test.each<readonly [what: string, policy: PodSecurityPolicy, given: Given, problems: readonly string[]]>([
    ['a user in a range', policyOf({ runAsUser: MUST }), { context: { runAsUser: 25 } }, []],
    ['a user in a range, of the pod', policyOf({ runAsUser: MUST }), { podContext: { runAsUser: 25 } }, []],
    [
      'a user between the ranges',
      policyOf({ runAsUser: MUST }),
      { context: { runAsUser: 15 } },
      [`${CONTEXT}.runAsUser: Invalid value: 15: must be in the ranges: ${IN_RANGES}`],
    ],
    [
      'another user than root',
      policyOf({ runAsUser: { rule: 'MustRunAsNonRoot' } }),
      { context: { runAsUser: 1 } },
      [],
    ],
    [
      'root',
      policyOf({ runAsUser: { rule: 'MustRunAsNonRoot' } }),
      { context: { runAsUser: 0 } },
      [`${CONTEXT}.runAsUser: Invalid value: 0: running with the root UID is forbidden`],
    ],
    [
      'a container that may be root',
      policyOf({ runAsUser: { rule: 'MustRunAsNonRoot' } }),
      { context: { runAsNonRoot: false, runAsUser: 1 } },
      [`${CONTEXT}.runAsNonRoot: Invalid value: false: must be true`],
    ],
    [
      'a first group outside',
      policyOf({ runAsGroup: MAY }),
      { context: { runAsGroup: 15 } },
      [`${CONTEXT}: Invalid value: []int64{15}: group 15 must be in the ranges: ${IN_RANGES}`],
    ],
    ['no first group where one may be', policyOf({ runAsGroup: MAY }), {}, []],
    [
      'groups, of which one is outside',
      policyOf({ supplementalGroups: MAY }),
      { podContext: { supplementalGroups: [5, 40] } },
      [
        'spec.securityContext.supplementalGroups: Invalid value: []int64{5, 40}: ' +
          `group 40 must be in the ranges: ${IN_RANGES}`,
      ],
    ],
    [
      'no groups where there must be one',
      policyOf({ supplementalGroups: MUST }),
      { podContext: { supplementalGroups: [] } },
      [
        'spec.securityContext.supplementalGroups: Invalid value: []int64{}: ' +
          'unable to validate empty groups against required ranges',
      ],
    ],
    [
      'a group of volumes outside',
      policyOf({ fsGroup: MUST }),
      { podContext: { fsGroup: 31 } },
      [
        `spec.securityContext.fsGroup: Invalid value: []int64{31}: group 31 must be in the ranges: ${IN_RANGES}`,
      ],
    ],
    [
      'an SELinux level in another order',
      policyOf({ seLinux: SE_LINUX }),
      { context: { seLinuxOptions: { ...LABEL, level: 's0:c6,c0' } } },
      [],
    ],
    [
      'another SELinux context',
      policyOf({ seLinux: SE_LINUX }),
      { context: { seLinuxOptions: { level: 's1:c0,c6', user: 'u' } } },
      [
        `${CONTEXT}.seLinuxOptions.level: Invalid value: "s1:c0,c6": must be s0:c0,c6`,
        `${CONTEXT}.seLinuxOptions.role: Invalid value: "": must be r`,
        `${CONTEXT}.seLinuxOptions.type: Invalid value: "": must be t`,
      ],
    ],
    ['any AppArmor profile', policyOf({}), { annotations: { [APP_ARMOR]: 'localhost/x' } }, []],
    [
      'an allowed AppArmor profile',
      policyOf({}, allowed),
      { annotations: { [APP_ARMOR]: 'localhost/a' } },
      [],
    ],
    [
      'no AppArmor profile',
      policyOf({}, allowed),
      {},
      [`pod.metadata.annotations[${APP_ARMOR}]: Forbidden: AppArmor profile must be set`],
    ],
    [
      'another AppArmor profile',
      policyOf({}, allowed),
      { annotations: { [APP_ARMOR]: 'localhost/b' } },
      [
        `pod.metadata.annotations[${APP_ARMOR}]: Forbidden: localhost/b is not an allowed profile. ` +
          'Allowed values: "runtime/default,localhost/a"',
      ],
    ],
    [
      'a seccomp profile where none is allowed',
      policyOf({}),
      { context: { seccompProfile: { type: 'Unconfined' } } },
      [`${CONTAINER_SECCOMP}: seccomp may not be set`],
    ],
    [
      'any seccomp profile',
      policyOf({}, profiles('*')),
      { context: { seccompProfile: { type: 'Unconfined' } } },
      [],
    ],
    [
      'the old name of an allowed seccomp profile',
      policyOf({}, profiles('docker/default')),
      { podContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      [],
    ],
    [
      'no seccomp profile where one must be',
      policyOf({}, profiles('localhost/a')),
      {},
      [POD_SECCOMP, CONTAINER_SECCOMP].map(
        (path) => `${path}:  is not an allowed seccomp profile. Valid values are localhost/a`,
      ),
    ],
    [
      'another seccomp profile in one container',
      policyOf({}, profiles('localhost/a')),
      {
        podContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'a' } },
        annotations: { [SECCOMP]: 'localhost/b' },
      },
      [`${CONTAINER_SECCOMP}: localhost/b is not an allowed seccomp profile. Valid values are localhost/a`],
    ],
    ['a safe sysctl', policyOf({}), sysctl('net.ipv4.ping_group_range'), []],
    ['an unsafe sysctl', policyOf({}), sysctl('a.b'), [`${SYSCTL}: unsafe sysctl "a.b" is not allowed`]],
    ['a sysctl that is allowed', policyOf(sysctls), sysctl('a.b'), []],
    ['a sysctl that a pattern allows', policyOf(sysctls), sysctl('kernel.msgmax'), []],
    [
      'a sysctl that a pattern forbids',
      policyOf(sysctls),
      sysctl('kernel.shm_rmid_forced'),
      [`${SYSCTL}: sysctl "kernel.shm_rmid_forced" is not allowed`],
    ],
    [
      'a safe sysctl that is forbidden',
      policyOf(sysctls),
      sysctl('net.ipv4.tcp_syncookies'),
      [`${SYSCTL}: sysctl "net.ipv4.tcp_syncookies" is not allowed`],
    ],
    [
      'an unlisted capability',
      policyOf({ allowedCapabilities: ['A'], defaultAddCapabilities: ['D'] }),
      { context: { capabilities: { add: ['A', 'B', 'D'] } } },
      [`${CONTEXT}.capabilities.add: Invalid value: "B": capability may not be added`],
    ],
    [
      'a capability that must be dropped',
      policyOf({ requiredDropCapabilities: ['A'] }),
      { context: { capabilities: { add: ['A'] } } },
      [`${CONTEXT}.capabilities.add: Invalid value: "A": capability may not be added`],
    ],
    [
      'any capability',
      policyOf({ allowedCapabilities: ['*'] }),
      { context: { capabilities: { add: ['B'] } } },
      [],
    ],
    [
      'namespaces of the node',
      policyOf({ hostPID: true }),
      { pod: { hostNetwork: true, hostPID: true, hostIPC: true } },
      [
        'spec.securityContext.hostNetwork: Invalid value: true: Host network is not allowed to be used',
        'spec.securityContext.hostIPC: Invalid value: true: Host IPC is not allowed to be used',
      ],
    ],
    [
      'a port of the node outside',
      policyOf({
        hostPorts: [
          { min: 5, max: 5 },
          { min: 10, max: 20 },
        ],
      }),
      {
        container: {
          ports: [
            { containerPort: 1 },
            { containerPort: 1, hostPort: 21 },
            { containerPort: 1, hostPort: 5 },
          ],
        },
      },
      [
        'spec.containers[0].hostPort: Invalid value: 21: ' +
          'Host port 21 is not allowed to be used. Allowed ports: [5,10-20]',
      ],
    ],
    [
      'a privileged container',
      policyOf({}),
      { context: { privileged: true } },
      [`${CONTEXT}.privileged: Invalid value: true: Privileged containers are not allowed`],
    ],
    [
      'a privileged container that may be',
      policyOf({ privileged: true }),
      { context: { privileged: true } },
      [],
    ],
    [
      'another mount of /proc',
      policyOf({}),
      { context: { procMount: 'Unmasked' } },
      [`${CONTEXT}.procMount: Invalid value: "Unmasked": ProcMountType is not allowed`],
    ],
    [
      'a root that may be written to',
      policyOf({ readOnlyRootFilesystem: true }),
      { context: { readOnlyRootFilesystem: false } },
      [`${CONTEXT}.readOnlyRootFilesystem: Invalid value: false: ReadOnlyRootFilesystem must be set to true`],
    ],
    [
      'a process that may gain rights',
      policyOf({ allowPrivilegeEscalation: false }),
      { context: { allowPrivilegeEscalation: true } },
      [
        `${CONTEXT}.allowPrivilegeEscalation: Invalid value: true: ` +
          'Allowing privilege escalation for containers is not allowed',
      ],
    ],
    [
      'a runtime class that is not listed',
      policyOf({ runtimeClass: { allowedRuntimeClassNames: ['a'] } }),
      { pod: { runtimeClassName: 'b' } },
      ['spec.runtimeClassName: Invalid value: "b"'],
    ],
    [
      'any runtime class',
      policyOf({ runtimeClass: { allowedRuntimeClassNames: ['*'] } }),
      { pod: { runtimeClassName: 'b' } },
      [],
    ],
    [
      'a volume of another type',
      policyOf({ volumes: ['emptyDir'] }),
      volume({ nfs: { server: 's', path: '/' } }),
      ['spec.volumes[0]: Invalid value: "nfs": nfs volumes are not allowed to be used'],
    ],
    [
      'a volume of a type that has two names',
      policyOf({ volumes: ['cephFS'] }),
      volume({ cephfs: { monitors: ['m'] } }),
      [],
    ],
    ['a volume of any type', policyOf({ volumes: ['*'] }), volume({ nfs: { server: 's', path: '/' } }), []],
    [
      'the token of the account where secrets are allowed',
      policyOf({ volumes: ['secret'] }),
      projected(
        { serviceAccountToken: token },
        { configMap: { name: ROOT_CA.configMap } },
        { downwardAPI: { items: [namespaceItem] } },
      ),
      [],
    ],
    ...[
      { serviceAccountToken: { ...token, audience: 'a' } },
      { configMap: { name: 'mine' } },
      { downwardAPI: { items: [{ ...namespaceItem, path: 'x' }] } },
      { secret: { name: 's' } },
    ].map(
      (source) =>
        [
          `a projected volume of ${JSON.stringify(source)}`,
          policyOf({ volumes: ['secret'] }),
          projected(source),
          ['spec.volumes[0]: Invalid value: "projected": projected volumes are not allowed to be used'],
        ] as const,
    ),
    ['a host path below an allowed one', policyOf(hostPaths), hostPath('/foo/bar'), []],
    ['an allowed host path', policyOf(hostPaths), hostPath('/foo'), []],
    [
      'a host path that only begins so',
      policyOf(hostPaths),
      hostPath('/foobar'),
      ['spec.volumes[0].hostPath.pathPrefix: Invalid value: "/foobar": is not allowed to be used'],
    ],
    ['a read-only mount', policyOf(hostPaths), mounted(true), []],
    [
      'a mount that may be written to',
      policyOf(hostPaths),
      mounted(false),
      ['spec.containers[0].volumeMounts[1].readOnly: Invalid value: false: must be read-only'],
    ],
    [
      'a flex volume of another driver',
      policyOf({ volumes: ['flexVolume'], allowedFlexVolumes: [{ driver: 'd' }] }),
      volume({ flexVolume: { driver: 'e' } }),
      ['spec.volumes[0].driver: Invalid value: "e": Flexvolume driver is not allowed to be used'],
    ],
    [
      'a CSI volume of another driver',
      policyOf({ volumes: ['csi'], allowedCSIDrivers: [{ name: 'd' }] }),
      volume({ csi: { driver: 'e' } }),
      ['spec.volumes[0].csi.driver: Invalid value: "e": Inline CSI driver is not allowed to be used'],
    ],
    ['a CSI volume of any driver', policyOf({ volumes: ['csi'] }), volume({ csi: { driver: 'e' } }), []],
  ])('%s', (_what, policy, given, problems) => {
    expect(outcome(policy, given).problems).toEqual(problems);
  });

  test('are found in init and ephemeral containers too', () => {
    const bad = { name: 'x', securityContext: { privileged: true } };
    const { problems } = outcome(policyOf({}), {
      pod: { initContainers: [bad], ephemeralContainers: [bad] },
    });
    expect(problems.map((text) => text.split(':')[0])).toEqual([
      'spec.initContainers[0].securityContext.privileged',
      'spec.ephemeralContainers[0].securityContext.privileged',
    ]);
  });
});

describe('defaults', () => {
  test.each<readonly [what: string, policy: PodSecurityPolicy, given: Given, filled: object]>([
    ['the least user', policyOf({ runAsUser: MUST }), {}, { context: { runAsUser: 1 } }],
    [
      'that no user is root',
      policyOf({ runAsUser: { rule: 'MustRunAsNonRoot' } }),
      {},
      { context: { runAsNonRoot: true } },
    ],
    ['the least first group', policyOf({ runAsGroup: MUST }), {}, { context: { runAsGroup: 1 } }],
    ['the least group of volumes', policyOf({ fsGroup: MUST }), {}, { podContext: { fsGroup: 1 } }],
    [
      'one more group',
      policyOf({ supplementalGroups: MUST }),
      {},
      { podContext: { supplementalGroups: [1] } },
    ],
    [
      'the SELinux context, in the pod',
      policyOf({ seLinux: SE_LINUX }),
      {},
      { podContext: { seLinuxOptions: LABEL } },
    ],
    [
      'capabilities in the order of their names, but what the container drops',
      policyOf({
        defaultAddCapabilities: ['Z', 'A'],
        allowedCapabilities: ['M'],
        requiredDropCapabilities: ['N'],
      }),
      { context: { capabilities: { add: ['M'], drop: ['A'] } } },
      { context: { capabilities: { add: ['M', 'Z'], drop: ['A', 'N'] } } },
    ],
    [
      'a read-only root',
      policyOf({ readOnlyRootFilesystem: true }),
      {},
      { context: { readOnlyRootFilesystem: true } },
    ],
    [
      'no gain of rights',
      policyOf({ allowPrivilegeEscalation: false }),
      {},
      { context: { allowPrivilegeEscalation: false } },
    ],
    [
      'the usual gain of rights',
      policyOf({ defaultAllowPrivilegeEscalation: false, allowPrivilegeEscalation: true }),
      {},
      { context: { allowPrivilegeEscalation: false } },
    ],
    [
      'the usual runtime class',
      policyOf({ runtimeClass: { allowedRuntimeClassNames: ['a'], defaultRuntimeClassName: 'a' } }),
      {},
      { pod: { runtimeClassName: 'a' } },
    ],
    [
      'the usual AppArmor profile',
      policyOf({}, { [ANNOTATION.appArmorDefaultProfile]: 'runtime/default' }),
      {},
      { annotations: { [APP_ARMOR]: 'runtime/default' } },
    ],
    [
      'the usual seccomp profile',
      policyOf(
        {},
        { [ANNOTATION.seccompDefaultProfile]: 'runtime/default', [ANNOTATION.seccompAllowedProfiles]: '*' },
      ),
      {},
      { annotations: { [ANNOTATION.seccompPod]: 'runtime/default' } },
    ],
    [
      'the seccomp profile of the field, in the words of the annotation',
      policyOf({}, { [ANNOTATION.seccompAllowedProfiles]: '*' }),
      { podContext: { seccompProfile: { type: 'Unconfined' } } },
      {
        podContext: { seccompProfile: { type: 'Unconfined' } },
        annotations: { [ANNOTATION.seccompPod]: 'unconfined' },
      },
    ],
  ])('%s', (_what, policy, given, filled) => {
    expect(outcome(policy, given)).toEqual({ pod: podOf(filled), problems: [] });
  });

  test('change nothing that the pod sets, and then return the same pod', () => {
    const pod = podOf({
      podContext: { runAsUser: 2, runAsGroup: 2, fsGroup: 2, supplementalGroups: [2], seLinuxOptions: LABEL },
      context: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
    });
    const policy = policyOf({
      runAsUser: MUST,
      runAsGroup: MUST,
      fsGroup: MUST,
      supplementalGroups: MUST,
      seLinux: SE_LINUX,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(compilePolicy(policy)?.fill(pod)).toBe(pod);
  });
});

test.each<readonly [string, Partial<PodSecurityPolicySpec>]>([
  ['users of no range', { runAsUser: { rule: 'MustRunAs' } }],
  ['groups of no range', { fsGroup: { rule: 'MayRunAs' } }],
  ['first groups of no range', { runAsGroup: { rule: 'MustRunAs' } }],
  ['an SELinux context that it does not tell', { seLinux: { rule: 'MustRunAs' } }],
  ['an unknown rule', { supplementalGroups: { rule: 'Odd' } }],
])('a policy is of no use that demands %s', (_what, spec) => {
  expect(compilePolicy(policyOf(spec))).toBeUndefined();
});
