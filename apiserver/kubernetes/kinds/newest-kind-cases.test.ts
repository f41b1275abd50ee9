import { NEWEST_LEVEL } from '../../testing/kinds/newest-level';
import { ANNOTATION, GROUP, SECRET_TYPE } from '../../../shared/names';
import { newerKindCases } from '../../testing/kinds/cases/newer-kinds';
import { resourceCases } from '../../testing/kinds/cases/resource';
import { describeKindCases } from '../../testing/kinds/describe-kind-cases';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

describe(`at API level ${NEWEST_LEVEL}`, () => {
  describeKindCases([...newerKindCases, ...resourceCases]);
});

const SPACE = '/api/v1/namespaces/default';
const selector = { matchLabels: { a: 'b' } };
const podOf = (spec: object, container: object = {}): object => ({
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});
const templateOf = (pod: object): object => ({ metadata: { labels: { a: 'b' } }, ...pod });
const deploymentOf = (pod: object): object => ({ spec: { selector, template: templateOf(pod) } });
const OLD_LABEL = { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } };
const OLD_LABEL_ADVICE = 'deprecated since v1.14; use "kubernetes.io/os" instead';
const portsOf = (...ports: object[]): object => ({ ports });
const filesOf = (...paths: string[]): object => ({
  volumes: [
    { name: 'v', configMap: { name: 'm', items: paths.map((path) => ({ key: path.slice(0, 1), path })) } },
  ],
});

/** Objects that are created with warnings. Source: WarningsOnCreate of the strategies of v1.36. */
const WARNED: readonly (readonly [what: string, url: string, object: object, warnings: readonly string[]])[] =
  [
    [
      'an old label of nodes',
      'pods',
      podOf(OLD_LABEL),
      [`spec.nodeSelector[beta.kubernetes.io/os]: ${OLD_LABEL_ADVICE}`],
    ],
    [
      'a template with an old label of nodes',
      `/apis/apps/v1/namespaces/default/deployments`,
      deploymentOf(podOf(OLD_LABEL)),
      [`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: ${OLD_LABEL_ADVICE}`],
    ],
    [
      'a fraction of a byte',
      'pods',
      podOf({}, { resources: { requests: { memory: '1.5' } } }),
      [
        'spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer',
      ],
    ],
    [
      'a hidden variable',
      'pods',
      podOf(
        {},
        {
          env: [
            { name: 'A', value: 'x' },
            { name: 'A', value: '$(A)y' },
            { name: 'A', value: 'z' },
          ],
        },
      ),
      ['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'overlapping ports',
      'pods',
      podOf({}, portsOf({ containerPort: 80 }, { containerPort: 80, hostPort: 81 })),
      ['spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]'],
    ],
    [
      'a file inside of another',
      'pods',
      podOf(filesOf('a', 'a/b')),
      ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
    ],
    [
      'a term without a selector, and a secret without a name',
      'pods',
      podOf({
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z' }] } },
        imagePullSecrets: [{}],
      }),
      [
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
        'spec.imagePullSecrets[0].name: invalid empty name ""',
      ],
    ],
    [
      'external addresses of a Service',
      'services',
      { spec: { ports: [{ port: 80 }], externalIPs: ['2001:DB8::1'] } },
      [
        'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
        'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
      ],
    ],
    [
      'more requests than limits',
      'resourcequotas',
      { spec: { hard: { 'requests.cpu': '2', 'limits.cpu': '1' } } },
      ['ResourceQuota requests.cpu (2) should be less than limits.cpu (1)'],
    ],
    [
      'a certificate that is none',
      'secrets',
      { type: SECRET_TYPE.tls, stringData: { 'tls.crt': 'x', 'tls.key': 'y' } },
      ['tls: failed to find any PEM data in certificate input'],
    ],
    [
      'a fraction of a byte of a claim',
      'persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1.5' } } } },
      ['spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'],
    ],
    [
      'a volume that is recycled',
      '/api/v1/persistentvolumes',
      {
        spec: {
          accessModes: ['ReadWriteOnce'],
          capacity: { storage: '1Gi' },
          hostPath: { path: '/tmp' },
          persistentVolumeReclaimPolicy: 'Recycle',
        },
      },
      [
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      ],
    ],
    [
      'the class of an Ingress in an annotation',
      `/apis/${GROUP.networking}/v1/namespaces/default/ingresses`,
      {
        metadata: { annotations: { [ANNOTATION.ingressClass]: 'c' } },
        spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      },
      [`annotation "${ANNOTATION.ingressClass}" is deprecated, please use 'spec.ingressClassName' instead`],
    ],
  ];

describe('warnings of writes', () => {
  let api: InProcessApi;
  beforeAll(async () => {
    api = await startInProcessApi(undefined, { definitionsLive: false });
  });
  afterAll(async () => {
    await api.close();
  });

  const urlOf = (url: string): string => (url.startsWith('/') ? url : `${SPACE}/${url}`);
  const named = (object: object, at: number): { readonly metadata: { readonly name: string } } => ({
    ...object,
    metadata: { ...(object as { metadata?: object }).metadata, name: `w${String(at)}` },
  });

  test.each(WARNED.map((row, at) => [...row, at] as const))(
    '%s',
    async (_what, url, object, warnings, at) => {
      const { code, warnings: found } = await api.call('POST', `${urlOf(url)}?dryRun=All`, {
        body: named(object, at),
      });
      expect([code, [...found].sort()]).toEqual([201, [...warnings].sort()]);
    },
  );

  test('an update warns of a template only if the object changes otherwise than in its metadata', async () => {
    const url = urlOf('podtemplates');
    const body = { metadata: { name: 'w' }, template: templateOf(podOf(OLD_LABEL)) };
    const advice = `template.spec.nodeSelector[beta.kubernetes.io/os]: ${OLD_LABEL_ADVICE}`;
    expect((await api.call('POST', url, { body })).warnings).toEqual([advice]);
    const patch = async (change: object): Promise<readonly string[]> =>
      (await api.call('PATCH', `${url}/w`, { body: change })).warnings;
    expect(await patch({ metadata: { labels: { a: 'b' } } })).toEqual([]);
    expect(await patch({ template: { metadata: { labels: { c: 'd' } } } })).toEqual([advice]);
  });
});
