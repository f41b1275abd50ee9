import type { ApiObject } from '../../../../shared/object/object';
import { ANNOTATION, LABEL, TAINT, USER } from '../../../../shared/names';
import { alwaysDeny } from './always';
import { alwaysPullImages } from './always-pull-images';
import { denyServiceExternalIps } from './deny-service-external-ips';
import { extendedResourceToleration } from './extended-resource-toleration';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology';
import { podNodeSelector, podNodeSelectorProblem } from './pod-node-selector';
import { podTolerationRestriction } from './pod-toleration-restriction';
import { NAMESPACES } from '../../cluster/resources';
import { securityContextDeny } from './security-context-deny';
import { attributesOf, clusterOf, outcomeOf, resultOf } from '../testing/plugin-bench';

const PODS = 'v1/pods';
const podOf = (spec: object): ApiObject => ({ metadata: { name: 'p' }, spec });
const creationOf = (spec: object) => attributesOf(PODS, { object: podOf(spec) });
const updateOf = (before: object, after: object) =>
  attributesOf(PODS, { operation: 'UPDATE', object: podOf(after), oldObject: podOf(before) });
const namespaceWith = (annotations: Record<string, string>) =>
  clusterOf([[NAMESPACES, { metadata: { name: 'ns', annotations } }]]);

describe('AlwaysDeny', () => {
  test("refuses every write except the server's own", async () => {
    expect(await outcomeOf(alwaysDeny, creationOf({}))).toContain('is denying all modifications');
    const user = { name: USER.apiServer, uid: '', groups: [], extra: {} };
    expect(await outcomeOf(alwaysDeny, attributesOf(PODS, { object: podOf({}), user }))).toMatchObject({
      metadata: { name: 'p' },
    });
  });
});

describe('AlwaysPullImages', () => {
  const containers = [{ name: 'c', image: 'i', imagePullPolicy: 'IfNotPresent' }];

  test('sets the policy of every container of a new pod', async () => {
    const initContainers = [{ name: 'i', image: 'i' }];
    expect(await outcomeOf(alwaysPullImages, creationOf({ containers, initContainers }))).toMatchObject({
      spec: {
        containers: [{ imagePullPolicy: 'Always' }],
        initContainers: [{ imagePullPolicy: 'Always' }],
      },
    });
  });

  test('ignores an update without a new image', async () => {
    expect(await outcomeOf(alwaysPullImages, updateOf({ containers }, { containers }))).toEqual(
      podOf({ containers }),
    );
    const changed = [{ ...containers[0], image: 'j' }];
    expect(
      await outcomeOf(alwaysPullImages, updateOf({ containers }, { containers: changed })),
    ).toMatchObject({
      spec: { containers: [{ imagePullPolicy: 'Always' }] },
    });
  });

  test('refuses a policy that a later plugin changed back', () => {
    const { signal } = new AbortController();
    expect(() => alwaysPullImages.validate?.(creationOf({ containers }), clusterOf(), signal)).toThrow(
      'spec.containers[0].imagePullPolicy',
    );
  });
});

test.each([
  [LABEL.hostname, undefined],
  [LABEL.topologyZone, `has TopologyKey ${LABEL.topologyZone} but only key ${LABEL.hostname} is allowed`],
])('LimitPodHardAntiAffinityTopology and the key %s', async (topologyKey, problem) => {
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] };
  const outcome = await outcomeOf(
    limitPodHardAntiAffinityTopology,
    creationOf({ affinity: { podAntiAffinity } }),
  );
  expect(resultOf(outcome)).toContain(problem ?? 'admitted');
});

describe('ExtendedResourceToleration', () => {
  const asking = (...names: string[]) => [
    { name: 'c', resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) } },
  ];
  test.each([
    [asking('cpu'), undefined, undefined],
    [asking('example.com/gpu', 'cpu'), undefined, [{ key: 'example.com/gpu', operator: 'Exists' }]],
    [
      asking('example.com/b', 'example.com/a'),
      [{ key: 'example.com/a', operator: 'Exists' }],
      [
        { key: 'example.com/a', operator: 'Exists' },
        { key: 'example.com/b', operator: 'Exists' },
      ],
    ],
  ])('containers %j with tolerations %j', async (containers, tolerations, expected) => {
    const spec = { containers, ...(tolerations === undefined ? {} : { tolerations }) };
    const outcome = await outcomeOf(extendedResourceToleration, creationOf(spec));
    expect((outcome as ApiObject)['spec']).toEqual({
      containers,
      ...(expected === undefined ? {} : { tolerations: expected }),
    });
  });
});

test.each([
  [undefined, [], true],
  [undefined, ['192.0.2.1'], false],
  [['192.0.2.1'], ['192.0.2.1'], true],
  [['192.0.2.1', '192.0.2.2'], ['192.0.2.2'], true],
  [['192.0.2.1'], ['192.0.2.1', '192.0.2.2'], false],
])('DenyServiceExternalIPs from %j to %j', async (before, externalIPs, isAdmitted) => {
  const object: ApiObject = { metadata: { name: 's' }, spec: { externalIPs } };
  const attributes =
    before === undefined
      ? attributesOf('v1/services', { object })
      : attributesOf('v1/services', {
          operation: 'UPDATE',
          object,
          oldObject: { ...object, spec: { externalIPs: before } },
        });
  const outcome = await outcomeOf(denyServiceExternalIps, attributes);
  expect(resultOf(outcome)).toMatch(isAdmitted ? /^admitted$/ : /Use of external IPs is denied/);
});

test.each([
  [{ containers: [{ name: 'c' }], securityContext: { runAsNonRoot: true } }, undefined],
  [{ securityContext: { runAsUser: 0 } }, 'pod.Spec.SecurityContext.RunAsUser is forbidden'],
  [{ securityContext: { fsGroup: 1 } }, 'pod.Spec.SecurityContext.FSGroup is forbidden'],
  [{ initContainers: [{ securityContext: { runAsUser: 1 } }] }, 'SecurityContext.RunAsUser is forbidden'],
  [
    { containers: [{ securityContext: { seLinuxOptions: {} } }] },
    'SecurityContext.SELinuxOptions is forbidden',
  ],
])('SecurityContextDeny and %j', async (spec, problem) => {
  const outcome = await outcomeOf(securityContextDeny, creationOf(spec));
  expect(resultOf(outcome)).toContain(problem ?? 'admitted');
});

describe('PodNodeSelector', () => {
  const plugin = podNodeSelector({
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'tier=all', ns: 'tier=all,tier2=x,disk=ssd' },
  });
  const own = namespaceWith({ [ANNOTATION.namespaceNodeSelector]: 'disk=ssd' });

  test.each([
    ['the cluster’s selector', {}, clusterOf(), { tier: 'all' }],
    ['that of its namespace', {}, own, { disk: 'ssd' }],
    ['its own beside it', { nodeSelector: { tier2: 'x' } }, own, { tier2: 'x', disk: 'ssd' }],
  ])('a pod gets %s', async (_what, spec, cluster, nodeSelector) => {
    expect(await outcomeOf(plugin, creationOf(spec), cluster)).toEqual(podOf({ nodeSelector }));
  });

  test.each([
    [{ nodeSelector: { disk: 'hdd' } }, 'conflicts with its namespace node label selector'],
    [{ nodeSelector: { other: 'x' } }, 'labels conflict with its namespace whitelist'],
  ])('a pod with %j is refused', async (spec, problem) => {
    expect(await outcomeOf(plugin, creationOf(spec), own)).toContain(problem);
  });

  test.each([
    ['disk', 'invalid selector: [disk]'],
    ['a=b=c', 'invalid selector: [a b c]'],
    ['disk=ssd,', 'invalid selector: []'],
    ['zone in (a', 'invalid selector: [zone in (a]'],
    ['-a=b', '<nil>: Invalid value: "-a": name part must consist of'],
    ['a=-b', '[a]: Invalid value: "-b": a valid label must be an empty string or consist of'],
    ['a!=b', '<nil>: Invalid value: "a!": name part must consist of'],
  ])('an unreadable selector %j of the namespace refuses all pods', async (words, problem) => {
    const cluster = namespaceWith({ [ANNOTATION.namespaceNodeSelector]: words });
    const outcome = await outcomeOf(plugin, creationOf({}), cluster);
    expect(outcome).toEqual(expect.stringContaining(`403 pods "p" is forbidden: ${problem}`));
    const podNodeSelectorPluginConfig = { clusterDefaultNodeSelector: 'a=b', ns: words };
    expect(podNodeSelectorProblem({ podNodeSelectorPluginConfig })).toContain('the selector of ns');
  });

  test('without configuration and annotation nothing is changed', async () => {
    expect(podNodeSelectorProblem(undefined)).toBeUndefined();
    expect(await outcomeOf(podNodeSelector(undefined), creationOf({}))).toEqual(podOf({}));
  });
});

describe('PodTolerationRestriction', () => {
  const exists = (key: string) => ({ key, operator: 'Exists' });
  const plugin = podTolerationRestriction({ default: [exists('d')], whitelist: [exists('d'), exists('w')] });
  const list = (...keys: string[]) => JSON.stringify(keys.map(exists));

  test.each([
    ['the server’s defaults', {}, clusterOf(), [exists('d')]],
    [
      'the namespace’s defaults',
      {},
      namespaceWith({
        [ANNOTATION.namespaceDefaultTolerations]: list('n'),
        [ANNOTATION.namespaceTolerationsAllowed]: list('n'),
      }),
      [exists('n')],
    ],
    ['its own beside them', { tolerations: [exists('w')] }, clusterOf(), [exists('w'), exists('d')]],
    [
      'none by default where its namespace says so',
      { tolerations: [exists('w')] },
      namespaceWith({ [ANNOTATION.namespaceDefaultTolerations]: '' }),
      [exists('w')],
    ],
    [
      'whatever it says where its namespace holds it to nothing',
      { tolerations: [exists('x')] },
      namespaceWith({ [ANNOTATION.namespaceTolerationsAllowed]: '' }),
      [exists('x'), exists('d')],
    ],
  ])('a pod gets %s', async (_what, spec, cluster, tolerations) => {
    expect(await outcomeOf(plugin, creationOf(spec), cluster)).toEqual(podOf({ tolerations }));
  });

  test('a pod with requests tolerates memory pressure', async () => {
    const containers = [{ name: 'c', resources: { requests: { cpu: '1' } } }];
    expect(await outcomeOf(podTolerationRestriction(undefined), creationOf({ containers }))).toMatchObject({
      spec: { tolerations: [{ key: TAINT.memoryPressure, operator: 'Exists', effect: 'NoSchedule' }] },
    });
  });

  test('an update keeps tolerations, also redundant ones', async () => {
    const spec = { tolerations: [exists('w'), { ...exists('w'), effect: 'NoSchedule' }] };
    expect(await outcomeOf(plugin, updateOf(spec, spec))).toEqual(podOf(spec));
  });

  test('a toleration that is not allowed is refused, and the message names the namespace', async () => {
    const creation = creationOf({ tolerations: [exists('x')] });
    expect(await outcomeOf(plugin, creation)).toContain('conflict with its cluster whitelist');
    const cluster = namespaceWith({ [ANNOTATION.namespaceTolerationsAllowed]: list('d') });
    expect(await outcomeOf(plugin, creation, cluster)).toContain('conflict with its namespace whitelist');
  });

  test.each([
    ['[{"key":', 'unexpected end of JSON input'],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['[] x', "invalid character 'x' after top-level value"],
    ['{"a":1}', 'json: cannot unmarshal object into Go value of type []v1.Toleration'],
    ['"x"', 'json: cannot unmarshal string into Go value of type []v1.Toleration'],
    ['[1]', 'json: cannot unmarshal number into Go value of type v1.Toleration'],
    ['[{"key":1}]', 'json: cannot unmarshal number into Go struct field Toleration.key of type string'],
    [
      '[{"tolerationSeconds":"1"}]',
      'json: cannot unmarshal string into Go struct field Toleration.tolerationSeconds of type int64',
    ],
  ])('an unreadable annotation %j refuses all pods', async (text, problem) => {
    for (const annotation of [
      ANNOTATION.namespaceDefaultTolerations,
      ANNOTATION.namespaceTolerationsAllowed,
    ]) {
      const outcome = await outcomeOf(plugin, creationOf({}), namespaceWith({ [annotation]: text }));
      expect(outcome).toBe(`403 pods "p" is forbidden: ${problem}`);
    }
  });

  test('unknown fields in the annotation are dropped', async () => {
    const text = '[{"key":"d","operator":"Exists","other":[1],"value":null}]';
    const cluster = namespaceWith({ [ANNOTATION.namespaceDefaultTolerations]: text });
    expect(await outcomeOf(plugin, creationOf({}), cluster)).toEqual(podOf({ tolerations: [exists('d')] }));
  });
});
