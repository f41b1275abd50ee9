import { eventually } from '../shared/testing/eventually';
import { httpVersion } from './support/http-version';
import { sized } from './support/scale';
import type { Tally, Tenant } from './support/storm';
import { heartbeats, quietRounds } from './support/storm';
import { startStorm } from './support/storm-process';
import { suiteHaSet } from './support/suite';

/**
 * Two tenants on three replicas behind a balancer: one sends far more than the set can process, the other a little. Nothing here depends on
 * speed; ADR 54 has figures.
 */
const set = suiteHaSet({
  replicas: 3,
  etcd: 1,
  balancer: true,
  controllerManagers: 1,
  dialect: 'kubernetes',
});

const OBJECTS = sized({ full: 10_000, small: 1_000 });
const ROUNDS = sized({ full: 200, small: 20 });
const STORM = { lists: 30, creates: 10, watches: 20 };
const WRITERS = 16;
const TEXT = 'x'.repeat(900);
const LEADER = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
const SCHEMAS = '/apis/flowcontrol.apiserver.k8s.io/v1beta1/flowschemas';

const AFTER_STORM = [
  'apiserver_flowcontrol_seats_in_use{priority_level="global-default"}',
  'apiserver_current_inqueue_requests{request_kind="readOnly"}',
  'apiserver_request_memory_bytes{kind="answers"}',
  'apiserver_watch_cache_watch_queue_bytes',
];

const namespaceOf = (name: string): object => ({ metadata: { name } });

beforeAll(async () => {
  for (const name of ['noisy', 'quiet']) {
    expect((await set.client.create('/api/v1/namespaces', namespaceOf(name))).status).toBe(201);
  }
  await bind('cluster-admin', [
    { kind: 'User', name: 'noisy' },
    { kind: 'User', name: 'quiet' },
  ]);
  await bind('system:node', [{ kind: 'Group', name: 'system:nodes' }]);
  await Promise.all(
    Array.from({ length: WRITERS }, async (_writer, at) => {
      for (let index = at; index < OBJECTS; index += WRITERS) {
        const body = { metadata: { name: `filler-${String(index)}` }, data: { text: TEXT } };
        const answer = await set.client.create('/api/v1/namespaces/noisy/configmaps', body);
        if (answer.status !== 201) throw new Error(answer.text);
      }
    }),
  );
});

test('responses name their flow schema and priority level, and FlowSchemas report that their levels exist', async () => {
  const { headers } = await set.client.get('/api/v1/namespaces/quiet');
  const exempt = await set.client.get(`${SCHEMAS}/exempt`);
  expect(headers['x-kubernetes-pf-flowschema-uid']).toBe(exempt.body.metadata?.uid);
  expect(headers['x-kubernetes-pf-prioritylevel-uid']).toMatch(/^[0-9a-f-]{36}$/u);
  await eventually('every schema has the condition', async () => {
    const { body } = await set.client.get(SCHEMAS);
    const schemas = body.items ?? [];
    return schemas.length === 11 && schemas.every(({ status }) => hasItsLevel(status as SchemaStatus));
  });
});

test('an overloading tenant does not starve another tenant, heartbeats, or the leader', async () => {
  const pids = processes();
  const leader = await leaderLease();
  const over = new AbortController();
  const noisy = startStorm({ tenant: tenant('noisy'), size: STORM });
  const beating = heartbeats(tenant('worker'), { node: 'worker', everyMs: 0 }, over.signal);
  const quiet = await quietRounds(tenant('quiet'), ROUNDS);
  // The leader has renewed its lease in the storm.
  await eventually('the lease is renewed', async () => (await leaderLease()).renewTime !== leader.renewTime);
  over.abort();
  const [codes, beats] = await Promise.all([noisy.stop(), beating]);

  expect([...quiet.codes.keys()].sort((a, b) => a - b)).toEqual([200, 201]);
  expect(count(quiet)).toBe(ROUNDS * 5);
  expect([...beats.codes.keys()].sort((a, b) => a - b)).toEqual([200, 201]);
  expect(codes.get(200)).toBeGreaterThan(0);
  expect([...codes.keys()].filter((code) => ![0, 200, 201, 429].includes(code))).toEqual([]);
  expect((await leaderLease()).leaseTransitions).toBe(leader.leaseTransitions);
  expect(processes()).toEqual(pids);
  for (const { client } of set.replicas) {
    await eventually('all resources of the overload are released', async () => {
      const { text } = await client.get('/metrics');
      return AFTER_STORM.every((line) => text.includes(`${line} 0\n`));
    });
  }
});

async function bind(
  role: string,
  whom: readonly { readonly kind: string; readonly name: string }[],
): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const { status } = await set.client.create(`/apis/${apiGroup}/v1/clusterrolebindings`, {
    metadata: { name: `of-${role}` },
    subjects: whom.map((subject) => ({ ...subject, apiGroup })),
    roleRef: { kind: 'ClusterRole', name: role, apiGroup },
  });
  expect(status).toBe(201);
}

function tenant(name: string): Tenant {
  const [replica] = set.replicas;
  if (replica === undefined) throw new Error('there is no replica');
  return {
    server: set.server,
    caFile: replica.caFile,
    token: set.adminToken,
    user: name,
    namespace: name,
    // A single connection would send the whole load to one replica.
    http: httpVersion(name === 'noisy' ? '1.1' : '2'),
  };
}

function count({ codes }: Tally): number {
  return [...codes.values()].reduce((sum, each) => sum + each, 0);
}

function processes(): readonly (number | undefined)[] {
  return [...set.replicas, ...set.controllerManagers].map((program) => program.process().pid);
}

interface SchemaStatus {
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
}

function hasItsLevel(status: SchemaStatus | undefined): boolean {
  return status?.conditions?.some((each) => each.type === 'Dangling' && each.status === 'False') === true;
}

interface LeaseSpec {
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

async function leaderLease(): Promise<LeaseSpec> {
  const { body } = await set.client.get(LEADER);
  return body.spec ?? {};
}
