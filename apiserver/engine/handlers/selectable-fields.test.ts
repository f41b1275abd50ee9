import { GROUP } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const NS = 'namespaces/default';
const CORE_EVENTS = `/api/v1/${NS}/events`;
const NEW_EVENTS = `/apis/${GROUP.events}/v1/${NS}/events`;
const containers = [{ name: 'c', image: 'i:1' }];

let api: InProcessApi;

beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => {
  await api.close();
});

async function create(url: string, body: object, status?: object): Promise<void> {
  const { code, json } = await api.call('POST', url, { body });
  expect(code).toBe(201);
  if (status === undefined) return;
  const reply = await api.call('PATCH', `${url}/${json.metadata.name as string}/status`, {
    body: { status },
  });
  expect(reply.code).toBe(200);
}

/** The names that a field selector selects, or the code of its refusal. */
async function selected(url: string, selector: string): Promise<readonly string[] | number> {
  const { code, json } = await api.call('GET', `${url}?fieldSelector=${encodeURIComponent(selector)}`);
  if (code !== 200) return code;
  return json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

describe('pods', () => {
  const url = `/api/v1/${NS}/pods`;
  beforeAll(async () => {
    const spec = {
      containers,
      nodeName: 'n1',
      serviceAccountName: 'sa',
      schedulerName: 's',
      restartPolicy: 'Never',
    };
    const status = { phase: 'Running', podIPs: [{ ip: '192.0.2.1' }], nominatedNodeName: 'n2' };
    await create(url, { metadata: { name: 'a' }, spec }, status);
    await create(url, { metadata: { name: 'b' }, spec: { containers } });
  });

  test.each([
    'spec.nodeName=n1',
    'spec.host=n1',
    'spec.restartPolicy=Never',
    'spec.schedulerName=s',
    'spec.serviceAccountName=sa',
    'status.phase=Running',
    'status.podIP=192.0.2.1',
    'status.nominatedNodeName=n2',
    'spec.nodeName!=,metadata.namespace=default',
  ])('are selected by %s', async (selector) => {
    expect(await selected(url, selector)).toEqual(['a']);
  });

  test('can be selected by podIPs, which are always empty', async () => {
    expect(await selected(url, 'status.podIPs=192.0.2.1')).toEqual([]);
    expect(await selected(url, 'spec.hostNetwork=true')).toBe(400);
  });
});

describe('events', () => {
  beforeAll(async () => {
    const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
    await create(CORE_EVENTS, {
      metadata: { name: 'old' },
      involvedObject,
      source: { component: 'scheduler' },
      reason: 'R',
    });
    await create(NEW_EVENTS, {
      metadata: { name: 'new' },
      regarding: involvedObject,
      reason: 'R',
      action: 'A',
      type: 'Normal',
      eventTime: '2021-01-02T03:04:05.000001Z',
      reportingController: 'example.com/c',
      reportingInstance: 'i',
    });
  });

  test.each([
    [CORE_EVENTS, 'source=scheduler', ['old']],
    [CORE_EVENTS, 'source=example.com/c', ['new']],
    [CORE_EVENTS, 'reportingComponent=example.com/c', ['new']],
    [CORE_EVENTS, 'involvedObject.kind=Pod,reason=R', ['new', 'old']],
    [CORE_EVENTS, 'regarding.kind=Pod', 400],
    [NEW_EVENTS, 'regarding.kind=Pod,type=Normal', ['new']],
    [NEW_EVENTS, 'reportingController=example.com/c', ['new']],
    [NEW_EVENTS, 'source=scheduler', 400],
    [NEW_EVENTS, 'involvedObject.kind=Pod', 400],
    [NEW_EVENTS, 'reportingComponent=example.com/c', 400],
  ])('%s?fieldSelector=%s', async (url, selector, expected) => {
    expect(await selected(url, selector)).toEqual(expected);
  });
});

test('a Job is selected by the number of succeeded pods', async () => {
  const url = `/apis/batch/v1/${NS}/jobs`;
  const body = {
    metadata: { name: 'j' },
    spec: { template: { spec: { containers, restartPolicy: 'Never' } } },
  };
  await create(url, body, { succeeded: 2 });
  await create(url, { ...body, metadata: { name: 'k' } });
  expect(await selected(url, 'status.successful=2')).toEqual(['j']);
  expect(await selected(url, 'status.successful=0')).toEqual(['k']);
  expect(await selected(url, 'status.succeeded=2')).toBe(400);
});

test.each([
  ['/api/v1/nodes', { metadata: { name: 'n' }, spec: { unschedulable: true } }, 'spec.unschedulable=true'],
  ['/api/v1/namespaces', { metadata: { name: 'n' } }, 'status.phase=Active,metadata.name=n'],
  [`/api/v1/${NS}/secrets`, { metadata: { name: 'n' }, type: 'example.com/t' }, 'type=example.com/t'],
])('%s are selected by a field of their own', async (url, body, selector) => {
  await create(url, body);
  expect(await selected(url, selector)).toEqual(['n']);
});

test('a ReplicationController is selected by its number of pods, a ReplicaSet is not', async () => {
  expect(await selected(`/api/v1/${NS}/replicationcontrollers`, 'status.replicas=0')).toEqual([]);
  expect(await selected(`/apis/apps/v1/${NS}/replicasets`, 'status.replicas=0')).toBe(400);
});

test.each([
  ['/api/v1/nodes', 400],
  ['/api/v1/namespaces', 400],
  ['/api/v1/persistentvolumes', []],
])('a namespace selector for cluster-scoped %s', async (url, expected) => {
  expect(await selected(url, 'metadata.namespace=x')).toEqual(expected);
});

test.each([
  [`/apis/batch/v1/${NS}/jobs`, 'field label "x" not supported for Job'],
  [`/apis/batch/v1beta1/${NS}/cronjobs`, 'field label "x" not supported for "CronJob"'],
  [
    `/apis/batch/v1/${NS}/cronjobs`,
    '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [`/api/v1/${NS}/pods`, 'field label not supported: x'],
])('an unknown field of %s is refused: %s', async (url, message) => {
  const { code, json } = await api.call('GET', `${url}?fieldSelector=x%3D1`);
  expect([code, json.message]).toEqual([400, message]);
});
