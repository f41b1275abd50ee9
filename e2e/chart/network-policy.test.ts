import type { LabelSelector } from '../../shared/api/types/meta-v1';
import type {
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../shared/api/types/networking-v1';
import { matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import type { Body } from '../support/client';
import { HELMS, rendered } from '../support/helm';
import type { PodTemplate } from '../support/pods';
import { podTemplateOf } from '../support/pods';

/** Evaluates the NetworkPolicies of the chart as a network plugin does, between the pods that it renders and strangers. */
const [, NEWER] = HELMS;
const run = NEWER.program === undefined ? test.skip : test;

const PARTS = ['apiserver', 'controller-manager', 'etcd', 'redis', 'backup', 'restore'] as const;
const JOBS = ['smoke', 'cluster-info', 'certificates', 'backup', 'restore'] as const;
const EVERYTHING = [
  'redis.mode=chart',
  'backup.enabled=true',
  'restore.backup=latest',
  'clusterInfo.server=https://example.com:6443',
];
const MONITORING = { team: 'monitoring' };
const RESTRICTED = [
  ...EVERYTHING,
  'networkPolicy.apiserverFrom[0].ipBlock.cidr=192.0.2.0/24',
  'networkPolicy.apiserverTo[0].ipBlock.cidr=192.0.2.0/24',
  'networkPolicy.monitoringNamespaceSelector.matchLabels.team=monitoring',
];
const SETS = { 'the defaults': EVERYTHING, 'restricted peers': RESTRICTED } as const;

/** What a release needs: from, to, and the name of the port. */
const NEEDED = [
  ['controller-manager', 'apiserver', 'https'],
  ['cluster-info', 'apiserver', 'https'],
  ['smoke', 'apiserver', 'https'],
  ['apiserver', 'etcd', 'client'],
  ['apiserver', 'redis', 'redis'],
  ['etcd', 'etcd', 'peer'],
  ['etcd', 'etcd', 'client'],
  ['backup', 'etcd', 'client'],
  ['restore', 'etcd', 'client'],
] as const;

interface End {
  /** Undefined for an address outside of the cluster. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The labels of the namespace; undefined is the namespace of the release. */
  readonly namespace?: Readonly<Record<string, string>>;
}

const STRANGER: End = { labels: { app: 'other' }, namespace: { team: 'other' } };
const NEIGHBOUR: End = { labels: { app: 'other' } };
const PROMETHEUS: End = { labels: { app: 'prometheus' }, namespace: MONITORING };

class Network {
  readonly #policies: readonly NetworkPolicy[];
  readonly #pods: readonly PodTemplate[];

  constructor(objects: readonly Body[]) {
    this.#policies = objects.filter((each) => each.kind === 'NetworkPolicy') as unknown as NetworkPolicy[];
    this.#pods = objects.map(podTemplateOf).filter((each): each is PodTemplate => each !== undefined);
  }

  pod(component: string): End {
    const found = this.#pods.find(
      ({ metadata }) => metadata?.labels?.['app.kubernetes.io/component'] === component,
    );
    if (found === undefined) throw new Error(`no pod of ${component}`);
    return { labels: found.metadata?.labels ?? {} };
  }

  /** Whether some policy restricts this direction of a pod. */
  isRestricted(pod: End, direction: 'Ingress' | 'Egress'): boolean {
    return this.#of(pod).some(({ spec }) => spec.policyTypes?.includes(direction) === true);
  }

  /** Whether a pod accepts connections to a port, by name or number, from a peer. */
  accepts(to: End, port: string | number, from: End): boolean {
    if (!this.isRestricted(to, 'Ingress')) return true;
    return this.#of(to).some(({ spec }) =>
      (spec.ingress ?? []).some((rule) => hasPort(rule.ports, port) && hasPeer(rule.from, from)),
    );
  }

  /** Whether a pod may connect to a port of a peer. */
  sends(from: End, port: string | number, to: End): boolean {
    if (!this.isRestricted(from, 'Egress')) return true;
    return this.#of(from).some(({ spec }) =>
      (spec.egress ?? []).some((rule) => hasPort(rule.ports, port) && hasPeer(rule.to, to)),
    );
  }

  #of(pod: End): readonly NetworkPolicy[] {
    return this.#policies.filter(
      ({ spec }) => pod.namespace === undefined && matches(spec.podSelector, pod.labels),
    );
  }
}

function hasPort(ports: readonly NetworkPolicyPort[] | undefined, port: string | number): boolean {
  return ports === undefined || ports.length === 0 || ports.some((each) => each.port === port);
}

/** No peers are all peers. */
function hasPeer(peers: readonly NetworkPolicyPeer[] | undefined, { labels, namespace }: End): boolean {
  if (peers === undefined || peers.length === 0) return true;
  return peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
    if (ipBlock !== undefined) return labels === undefined;
    if (labels === undefined) return false;
    const isNamespace =
      namespaceSelector === undefined ? namespace === undefined : matches(namespaceSelector, namespace ?? {});
    return isNamespace && (podSelector === undefined || matches(podSelector, labels));
  });
}

function matches(selector: LabelSelector, labels: Readonly<Record<string, string>> = {}): boolean {
  return matchesLabels(toLabelSelector(selector), labels);
}

const networks = new Map<string, Promise<Network>>();

/** Each set of values is rendered once. */
async function networkOf(values: readonly string[]): Promise<Network> {
  const key = values.join(',');
  const network =
    networks.get(key) ?? rendered(NEWER, ['--set', key]).then((objects) => new Network(objects));
  networks.set(key, network);
  return network;
}

describe.each(Object.entries(SETS))('with %s:', (_name, values) => {
  run.each(NEEDED)('%s reaches %s at the port %s', async (from, to, port) => {
    const network = await networkOf(values);
    expect(network.accepts(network.pod(to), port, network.pod(from))).toBe(true);
    expect(network.sends(network.pod(from), port, network.pod(to))).toBe(true);
  });

  run('each part that connects by name reaches DNS', async () => {
    const network = await networkOf(values);
    for (const part of ['apiserver', 'controller-manager', 'etcd', ...JOBS])
      for (const port of [53, 5353]) expect(network.sends(network.pod(part), port, STRANGER)).toBe(true);
  });

  run('etcd and Redis accept no other client, in any namespace', async () => {
    const network = await networkOf(values);
    const others = [...PARTS, 'smoke', 'cluster-info', 'certificates'].map((each) => network.pod(each));
    const allowed = NEEDED.map(([from, to, port]) => `${from} ${to} ${port}`);
    for (const [to, port] of [
      ['etcd', 'client'],
      ['etcd', 'peer'],
      ['redis', 'redis'],
    ] as const) {
      const accepted = others
        .filter((from) => network.accepts(network.pod(to), port, from))
        .map((from) => `${String(from.labels?.['app.kubernetes.io/component'])} ${to} ${port}`);
      expect(accepted.filter((each) => !allowed.includes(each))).toEqual([]);
      for (const from of [STRANGER, NEIGHBOUR, PROMETHEUS, {}])
        expect(network.accepts(network.pod(to), port, from)).toBe(false);
    }
  });

  run(
    'no connection reaches the pod of a Job, and only API servers connect to the rest of the world',
    async () => {
      const network = await networkOf(values);
      for (const job of JOBS)
        for (const from of [STRANGER, NEIGHBOUR, network.pod('apiserver')])
          expect(network.accepts(network.pod(job), 80, from)).toBe(false);
      for (const part of [
        'controller-manager',
        'etcd',
        'redis',
        'smoke',
        'cluster-info',
        'backup',
        'restore',
      ])
        for (const to of [STRANGER, {}]) expect(network.sends(network.pod(part), 443, to)).toBe(false);
      expect(network.sends(network.pod('certificates'), 443, {})).toBe(true);
      expect(network.sends(network.pod('apiserver'), 443, {})).toBe(true);
    },
  );
});

run('metrics that need no credentials are closed until a namespace is named', async () => {
  const closed = await networkOf(EVERYTHING);
  const open = await networkOf(RESTRICTED);
  for (const [part, port] of [
    ['etcd', 'metrics'],
    ['controller-manager', 'https'],
  ] as const) {
    for (const from of [STRANGER, NEIGHBOUR, PROMETHEUS, {}])
      expect(closed.accepts(closed.pod(part), port, from)).toBe(false);
    expect(open.accepts(open.pod(part), port, PROMETHEUS)).toBe(true);
    for (const from of [STRANGER, NEIGHBOUR, {}])
      expect(open.accepts(open.pod(part), port, from)).toBe(false);
  }
});

run('apiserverFrom and apiserverTo restrict strangers, and not the release', async () => {
  const network = await networkOf(RESTRICTED);
  const apiserver = network.pod('apiserver');
  expect(network.accepts(apiserver, 'https', {})).toBe(true);
  expect(network.accepts(apiserver, 'https', PROMETHEUS)).toBe(true);
  expect(network.accepts(apiserver, 'https', STRANGER)).toBe(false);
  expect(network.accepts(apiserver, 'https', NEIGHBOUR)).toBe(false);
  expect(network.sends(apiserver, 443, STRANGER)).toBe(false);
  const open = await networkOf(EVERYTHING);
  expect(open.accepts(open.pod('apiserver'), 'https', STRANGER)).toBe(true);
  expect(open.sends(open.pod('apiserver'), 443, STRANGER)).toBe(true);
});

run('backups reach the port of their object store', async () => {
  const s3 = 'backup.target.type=s3,backup.target.s3.bucket=b,backup.target.s3.secretName=s';
  const ports = {
    '': 443,
    'http://store': 80,
    'https://store': 443,
    'https://store:9000': 9000,
    'https://10.0.0.5': 443,
    'http://minio-0': 80,
    'https://[fd00::5]': 443,
    'https://[fd00::5]:9000': 9000,
  };
  for (const [endpoint, port] of Object.entries(ports)) {
    const network = await networkOf([...EVERYTHING, s3, `backup.target.s3.endpoint=${endpoint}`]);
    for (const job of ['backup', 'restore']) {
      expect(network.sends(network.pod(job), port, {})).toBe(true);
      expect(network.sends(network.pod(job), port + 1, {})).toBe(false);
    }
  }
});
