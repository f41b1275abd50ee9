import { ANNOTATION, GROUP, NAMESPACE, NODE_USER } from '../../../../shared/names';
import { eventually } from '../../../../shared/testing/eventually';
import { FIELD_GATES } from '../../kinds/field-gates';
import type { FieldGate } from '../../kinds/field-gates';
import { DEFAULT_KIND_SETTINGS } from '../../../engine/registry/strategy';
import { FaultyMemoryBackend } from '../../../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

const REVIEWS = `/apis/${GROUP.authorization}/v1`;
const CORE = '/api/v1';
const STORAGE = `/apis/${GROUP.storage}/v1`;

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi(undefined, { authorizationModes: ['Node', 'RBAC'] });
});
/** Those that another was started beside, on their store. */
const earlier: InProcessApi[] = [];

afterEach(async () => {
  for (const each of [...earlier.splice(0), api]) await each.close();
});

async function create(path: string, body: object): Promise<Reply['json']> {
  const { code, json, text } = await api.call('POST', path, { body });
  if (code >= 300) throw new Error(text);
  return json;
}

interface Asked {
  readonly node?: string;
  readonly groups?: readonly string[];
  readonly verb?: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

async function review({ node = 'one', groups = [NODE_USER.group], ...asked }: Asked): Promise<Reply['json']> {
  const resourceAttributes = { verb: 'get', namespace: 'default', ...asked };
  const body = { spec: { user: NODE_USER.prefix + node, groups, resourceAttributes } };
  return (await api.call('POST', `${REVIEWS}/subjectaccessreviews`, { body })).json.status;
}

async function may(asked: Asked): Promise<boolean> {
  return (await review(asked)).allowed;
}

const UNRELATED = (node: string): object => ({
  allowed: false,
  reason: `no relationship found between node '${node}' and this object`,
});

async function pod(spec: object, { name = 'web', annotations = {} } = {}): Promise<void> {
  await create(`${CORE}/namespaces/default/pods`, {
    metadata: { name, annotations },
    spec: { nodeName: 'one', containers: [{ name: 'c', image: 'i' }], ...spec },
  });
}

const container = (over: object): object => ({ name: 'c', image: 'i', ...over });

test.each<readonly [string, object, readonly (readonly [resource: string, name: string])[]]>([
  [
    'environment',
    {
      containers: [
        container({
          env: [
            { name: 'A', valueFrom: { secretKeyRef: { name: 's1', key: 'k' } } },
            { name: 'B', valueFrom: { configMapKeyRef: { name: 'c1', key: 'k' } } },
          ],
          envFrom: [{ secretRef: { name: 's2' } }, { configMapRef: { name: 'c2' } }],
        }),
      ],
      initContainers: [{ name: 'i', image: 'i', envFrom: [{ secretRef: { name: 's3' } }] }],
    },
    [
      ['secrets', 's1'],
      ['secrets', 's2'],
      ['secrets', 's3'],
      ['configmaps', 'c1'],
      ['configmaps', 'c2'],
    ],
  ],
  [
    'volumes',
    {
      imagePullSecrets: [{ name: 's1' }],
      volumes: [
        { name: 'a', secret: { secretName: 's2' } },
        { name: 'b', configMap: { name: 'c1' } },
        {
          name: 'd',
          projected: { sources: [{ secret: { name: 's3' } }, { configMap: { name: 'c2' } }] },
        },
        { name: 'e', persistentVolumeClaim: { claimName: 'p1' } },
        { name: 'f', csi: { driver: 'd', nodePublishSecretRef: { name: 's4' } } },
        { name: 'g', azureFile: { secretName: 's5', shareName: 'x' } },
        { name: 'h', cephfs: { monitors: ['m'], secretRef: { name: 's6' } } },
      ],
    },
    [
      ['secrets', 's1'],
      ['secrets', 's2'],
      ['secrets', 's3'],
      ['secrets', 's4'],
      ['secrets', 's5'],
      ['secrets', 's6'],
      ['configmaps', 'c1'],
      ['configmaps', 'c2'],
      ['persistentvolumeclaims', 'p1'],
    ],
  ],
])('a node reads what the %s of its pods refers to, and no other node does', async (_what, spec, all) => {
  await pod(spec);
  for (const [resource, name] of all) {
    expect([name, await may({ resource, name })]).toEqual([name, true]);
    expect(await review({ node: 'two', resource, name })).toEqual(UNRELATED('two'));
    expect(await review({ resource, name, namespace: 'other' })).toEqual(UNRELATED('one'));
  }
  await api.call('DELETE', `${CORE}/namespaces/default/pods/web?gracePeriodSeconds=0`);
  for (const [resource, name] of all) {
    await eventually(`${name} is not allowed any more`, async () => !(await may({ resource, name })));
  }
});

test('what a pod is bound to counts from then on, on its node', async () => {
  await pod({ nodeName: '', volumes: [{ name: 'a', secret: { secretName: 's' } }] });
  expect(await may({ resource: 'secrets', name: 's' })).toBe(false);
  await create(`${CORE}/namespaces/default/pods/web/binding`, {
    metadata: { name: 'web' },
    target: { kind: 'Node', name: 'two' },
  });
  expect(await may({ node: 'two', resource: 'secrets', name: 's' })).toBe(true);
  expect(await may({ node: 'one', resource: 'secrets', name: 's' })).toBe(false);
});

test('of two pods with one secret, the last takes it with it', async () => {
  const spec = { volumes: [{ name: 'a', secret: { secretName: 's' } }] };
  await pod(spec);
  await pod(spec, { name: 'other' });
  await api.call('DELETE', `${CORE}/namespaces/default/pods/web?gracePeriodSeconds=0`);
  const asked = { resource: 'secrets', name: 's' };
  expect(await may(asked)).toBe(true);
  await api.call('DELETE', `${CORE}/namespaces/default/pods/other?gracePeriodSeconds=0`);
  await eventually('it is not allowed any more', async () => !(await may(asked)));
});

test('a volume leads from the claim of a pod to its secrets, in their own namespace or in that of the claim', async () => {
  await pod({ volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'data' } }] });
  for (const [name, claim, spec] of [
    [
      'v1',
      'data',
      { csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { namespace: 'x', name: 's' } } },
    ],
    ['v2', 'data', { azureFile: { secretName: 'a', shareName: 'b' } }],
    [
      'v3',
      'unused',
      { csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { namespace: 'x', name: 't' } } },
    ],
  ] as const) {
    await create(`${CORE}/persistentvolumes`, {
      metadata: { name },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: 'default', name: claim },
        ...spec,
      },
    });
  }
  const volume = { resource: 'persistentvolumes', namespace: '' };
  expect(await may({ ...volume, name: 'v1' })).toBe(true);
  expect(await may({ ...volume, name: 'v3' })).toBe(false);
  expect(await may({ ...volume, name: 'v1', node: 'two' })).toBe(false);
  expect(await may({ resource: 'secrets', namespace: 'x', name: 's' })).toBe(true);
  expect(await may({ resource: 'secrets', name: 'a' })).toBe(true);
  expect(await may({ resource: 'secrets', namespace: 'x', name: 't' })).toBe(false);
  await api.call('DELETE', `${CORE}/persistentvolumes/v1`);
  await eventually(
    'the secret of the volume is not allowed any more',
    async () => !(await may({ resource: 'secrets', namespace: 'x', name: 's' })),
  );
});

test('a mirror pod gives a node nothing', async () => {
  await pod(
    { volumes: [{ name: 'a', configMap: { name: 'c' } }] },
    { annotations: { [ANNOTATION.mirrorPod]: 'x' } },
  );
  expect(await may({ resource: 'configmaps', name: 'c' })).toBe(false);
});

test('a node may read the attachments of volumes to itself', async () => {
  await create(`${STORAGE}/volumeattachments`, {
    metadata: { name: 'va' },
    spec: { attacher: 'a', nodeName: 'one', source: { persistentVolumeName: 'v' } },
  });
  const asked = { group: GROUP.storage, resource: 'volumeattachments', name: 'va', namespace: '' };
  expect(await may(asked)).toBe(true);
  expect(await may({ ...asked, node: 'two' })).toBe(false);
});

test('a node has tokens made for the accounts of its pods, and for no other', async () => {
  await create(`${CORE}/namespaces/default/serviceaccounts`, { metadata: { name: 'robot' } });
  await pod({ serviceAccountName: 'robot' });
  const asked = { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'robot' };
  expect(await may(asked)).toBe(true);
  expect(await may({ ...asked, node: 'two' })).toBe(false);
  expect(await may({ ...asked, name: 'default' })).toBe(false);
  expect(await review({ ...asked, verb: 'get', subresource: '' })).toEqual({
    allowed: false,
    reason: 'can only create tokens for individual service accounts',
  });
});

const LEASE = { group: GROUP.coordination, resource: 'leases', namespace: NAMESPACE.nodeLease };
const CSI_NODE = { group: GROUP.storage, resource: 'csinodes', namespace: '' };

test.each<readonly [Asked, string | true]>([
  [{ ...LEASE, verb: 'update', name: 'one' }, true],
  [{ ...LEASE, verb: 'create' }, true],
  [{ ...LEASE, verb: 'list' }, 'can only get, create, update, patch, or delete a node lease'],
  [
    { ...LEASE, verb: 'get', name: 'two' },
    'can only access node lease with the same name as the requesting node',
  ],
  [
    { ...LEASE, verb: 'get', name: 'one', namespace: 'default' },
    `can only access leases in the "${NAMESPACE.nodeLease}" system namespace`,
  ],
  [{ ...CSI_NODE, verb: 'patch', name: 'one' }, true],
  [
    { ...CSI_NODE, verb: 'patch', name: 'two' },
    'can only access CSINode with the same name as the requesting node',
  ],
  [{ resource: 'secrets', verb: 'list' }, 'No Object name found'],
  [{ resource: 'secrets', verb: 'list', namespace: '' }, 'can only read namespaced object of this type'],
  [{ resource: 'secrets', verb: 'update', name: 's' }, 'can only read resources of this type'],
  [
    { resource: 'persistentvolumes', verb: 'list', namespace: '' },
    'can only get individual resources of this type',
  ],
  [
    { resource: 'persistentvolumeclaims', verb: 'get', subresource: 'status', name: 'p' },
    'can only get/update/patch this type',
  ],
  [{ resource: 'nodes', verb: 'list', namespace: '' }, true],
  [{ resource: 'pods', subresource: 'status', verb: 'patch', name: 'p' }, true],
  [{ resource: 'namespaces', verb: 'delete', name: 'default' }, ''],
  [
    { node: '', resource: 'nodes', verb: 'list', namespace: '' },
    `unknown node for user "${NODE_USER.prefix}"`,
  ],
  [{ groups: [], resource: 'nodes', verb: 'list', namespace: '' }, ''],
])('%j is answered as in v1.21', async (asked, answer) => {
  const { allowed, reason = '' } = await review(asked);
  expect(answer === true ? allowed : [allowed, reason]).toEqual(answer === true ? true : [false, answer]);
});

test.each<readonly [gate: FieldGate, asked: Asked]>([
  ['GenericEphemeralVolume', { resource: 'persistentvolumeclaims', name: 'web-v' }],
  ['DynamicKubeletConfig', { resource: 'configmaps', name: 'agent' }],
  [
    'ExpandPersistentVolumes',
    { resource: 'persistentvolumeclaims', verb: 'patch', subresource: 'status', name: 'web-v' },
  ],
])('a node may not do what only %s gives it a reason for, once it is off', async (gate, asked) => {
  const backend = new FaultyMemoryBackend();
  const startWith = async (gates: readonly FieldGate[]): Promise<void> => {
    earlier.push(api);
    api = await startInProcessApi(backend, {
      authorizationModes: ['Node', 'RBAC'],
      kindSettings: { ...DEFAULT_KIND_SETTINGS, gates: new Set(gates) },
    });
  };
  await startWith(FIELD_GATES);
  const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await pod({ volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: { spec: claim } } }] });
  await create(`${CORE}/nodes`, {
    metadata: { name: 'one' },
    spec: { configSource: { configMap: { namespace: 'default', name: 'agent', kubeletConfigKey: 'k' } } },
  });
  expect(await may(asked)).toBe(true);
  await startWith(FIELD_GATES.filter((each) => each !== gate));
  expect(await may(asked)).toBe(false);
});

test('the rules of a node cannot be listed', async () => {
  const headers = { 'impersonate-user': `${NODE_USER.prefix}one`, 'impersonate-group': NODE_USER.group };
  const body = { spec: { namespace: 'default' } };
  await create(`/apis/${GROUP.rbac}/v1/clusterrolebindings`, {
    metadata: { name: 'reviewers' },
    roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'reviewer' },
    subjects: [{ kind: 'Group', apiGroup: GROUP.rbac, name: NODE_USER.group }],
  });
  await create(`/apis/${GROUP.rbac}/v1/clusterroles`, {
    metadata: { name: 'reviewer' },
    rules: [{ verbs: ['create'], apiGroups: [GROUP.authorization], resources: ['selfsubjectrulesreviews'] }],
  });
  const { json } = await api.call('POST', `${REVIEWS}/selfsubjectrulesreviews`, { body, headers });
  expect(json.status).toMatchObject({
    incomplete: true,
    evaluationError: 'node authorizer does not support user rule resolution',
  });
});

test('changes of what nodes need are timed by what they are, and those that change nothing are not', async () => {
  const counted = async (operation: string): Promise<number> => {
    const { text } = await api.call('GET', '/metrics');
    const name = `node_authorizer_graph_actions_duration_seconds_count{operation="${operation}"}`;
    return Number((text.split('\n').find((line) => line.startsWith(name)) ?? ' 0').split(' ').at(-1));
  };
  const secret = { resource: 'secrets', name: 's1' };
  const before = [await counted('AddPod'), await counted('DeletePod')];
  await pod({ containers: [container({ envFrom: [{ secretRef: { name: 's1' } }] })] });
  expect(await may(secret)).toBe(true);
  await api.call('PATCH', `${CORE}/namespaces/default/pods/web/status`, {
    body: { status: { message: 'well' } },
  });
  expect(await may(secret)).toBe(true);
  await api.call('DELETE', `${CORE}/namespaces/default/pods/web?gracePeriodSeconds=0`);
  await eventually('it is not allowed any more', async () => !(await may(secret)));
  const after = [await counted('AddPod'), await counted('DeletePod')];
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 1]);
});
