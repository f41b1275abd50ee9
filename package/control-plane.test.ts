import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { issueCertificate, makeCa } from '../shared/certs/certificate';
import { eventually } from '../shared/testing/eventually';
import { startControlPlane } from './control-plane';
import { PlaneClock } from './plane-clock';
import type { Access, ControlPlane, ControlPlaneSnapshot } from './types';

/* eslint-disable typescript/no-explicit-any -- the objects of tests are read as JSON */

const DEFINITION = {
  apiVersion: 'apiextensions.orch/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

let cluster: ControlPlane;
let beginning: ControlPlaneSnapshot;

beforeAll(async () => {
  cluster = await startControlPlane({ crds: [DEFINITION] });
  beginning = cluster.snapshot();
});

beforeEach(async () => {
  cluster.faults.clear();
  await cluster.restore(beginning);
});

afterAll(async () => {
  await cluster.stop();
});

async function send(
  access: Access,
  method: string,
  path: string,
  body?: object,
  type = 'application/json',
): Promise<{ code: number; json: any }> {
  const response = await access.fetch(path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': type } }),
  });
  return { code: response.status, json: await response.json() };
}

/** Waits until the path is answered with the code. */
async function expectAnswer(access: Access, path: string, code: number): Promise<void> {
  const reached = async (): Promise<boolean> => (await send(access, 'GET', path)).code === code;
  await eventually(`${path} is answered with ${String(code)}`, reached);
}

const configMap = (name: string, extra: object = {}): object => ({ metadata: { name, ...extra }, data: {} });
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** Reads the events of a watch until it ends; rejects when it is cut. */
async function* eventsOf(access: Access, path: string): AsyncGenerator<any> {
  const response = await access.fetch(path);
  let rest = '';
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + Buffer.from(piece).toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}

test('requests run through authentication, authorization, validation and the store', async () => {
  expect((await send(cluster, 'POST', CONFIG_MAPS, configMap('a'))).code).toBe(201);
  expect((await send(cluster, 'POST', CONFIG_MAPS, configMap('A!'))).code).toBe(422);
  const jane = cluster.as('jane', ['devs']);
  expect((await send(jane, 'GET', CONFIG_MAPS)).json.message).toContain('User "jane" cannot list');
  const grant = {
    metadata: { name: 'devs' },
    roleRef: { apiGroup: 'rbac.authorization.orch', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.orch', name: 'devs' }],
  };
  await send(cluster, 'POST', '/apis/rbac.authorization.orch/v1/clusterrolebindings', grant);
  await expectAnswer(jane, CONFIG_MAPS, 200);
  expect((await jane.fetch(CONFIG_MAPS, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
});

test('custom resources are served as soon as the start resolves', async () => {
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 1 } };
  await cluster.apply(widget);
  const { json } = await send(cluster, 'GET', '/apis/example.com/v1/namespaces/default/widgets/w');
  expect(json.spec).toEqual({ size: 1 });
});

test('the controllers collect garbage and finish the deletion of namespaces', async () => {
  await send(cluster, 'POST', '/api/v1/namespaces', { metadata: { name: 'gone' } });
  await send(cluster, 'POST', '/api/v1/namespaces/gone/configmaps', configMap('content'));
  await send(cluster, 'DELETE', '/api/v1/namespaces/gone');
  await expectAnswer(cluster, '/api/v1/namespaces/gone', 404);
  const { json: owner } = await send(cluster, 'POST', CONFIG_MAPS, configMap('owner'));
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }];
  await send(cluster, 'POST', CONFIG_MAPS, configMap('owned', { ownerReferences }));
  await send(cluster, 'DELETE', `${CONFIG_MAPS}/owner`);
  await expectAnswer(cluster, `${CONFIG_MAPS}/owned`, 404);
});

test('a webhook of the test process is called', async () => {
  const ca = makeCa({ commonName: 'webhooks', validDays: 1 });
  const { certificatePem: cert, privateKeyPem: key } = issueCertificate(ca, {
    commonName: 'webhook',
    hosts: ['127.0.0.1'],
    usages: ['server'],
    validDays: 1,
  });
  const server = createServer({ cert, key }, (request, response) => {
    void readJson(request).then((review: any) => {
      const status = { message: 'not today' };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ ...review, response: { uid: review.request.uid, allowed: false, status } }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const caBundle = Buffer.from(ca.certificatePem).toString('base64');
  await cluster.apply({
    apiVersion: 'admissionregistration.orch/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'refusal' },
    webhooks: [
      {
        name: 'refusal.example.com',
        clientConfig: { url: `https://127.0.0.1:${String(port)}/`, caBundle },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  const { code, json: refusal } = await send(cluster, 'POST', CONFIG_MAPS, configMap('refused'));
  expect([code, refusal.message]).toEqual([400, expect.stringContaining('not today')]);
  server.close();
  server.closeAllConnections();
});

test('a restored state has the old objects and no lower resourceVersion, and ends open watches with 410', async () => {
  await send(cluster, 'POST', CONFIG_MAPS, configMap('kept'));
  const before = cluster.snapshot();
  const { json: kept } = await send(cluster, 'GET', `${CONFIG_MAPS}/kept`);
  const { json: changed } = await send(cluster, 'PUT', `${CONFIG_MAPS}/kept`, { ...kept, data: { a: 'b' } });
  await send(cluster, 'POST', CONFIG_MAPS, configMap('new'));
  const events = eventsOf(
    cluster,
    `${CONFIG_MAPS}?watch=true&resourceVersion=${changed.metadata.resourceVersion}`,
  );
  expect((await events.next()).value.object.metadata.name).toBe('new');
  await cluster.restore(before);
  const rest: any[] = [];
  for await (const event of events) rest.push(event);
  expect(rest.at(-1).object.code).toBe(410);
  const { json: restored } = await send(cluster, 'GET', `${CONFIG_MAPS}/kept`);
  expect(restored.data).toBeUndefined();
  expect(Number(restored.metadata.resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion));
  expect((await send(cluster, 'GET', `${CONFIG_MAPS}/new`)).code).toBe(404);
});

test('a clone continues from the current state, and neither sees the other', async () => {
  await send(cluster, 'POST', CONFIG_MAPS, configMap('both'));
  const clone = await cluster.clone();
  try {
    await send(clone, 'POST', CONFIG_MAPS, configMap('clone'));
    expect((await send(clone, 'GET', `${CONFIG_MAPS}/both`)).code).toBe(200);
    expect((await send(cluster, 'GET', `${CONFIG_MAPS}/clone`)).code).toBe(404);
    expect((await send(clone, 'GET', '/apis/example.com/v1/widgets')).code).toBe(200);
  } finally {
    await clone.stop();
  }
});

test('advancing the clock lets events and tokens expire', async () => {
  const involvedObject = { kind: 'ConfigMap', namespace: 'default', name: 'x' };
  await send(cluster, 'POST', '/api/v1/namespaces/default/events', {
    metadata: { name: 'e' },
    involvedObject,
  });
  const account = '/api/v1/namespaces/default/serviceaccounts/default/token';
  const request = { spec: { expirationSeconds: 3600 } };
  const { json } = await send(cluster, 'POST', account, request);
  const { token } = json.status;
  const ask = async (): Promise<number> =>
    (await cluster.fetch('/api', { headers: { authorization: `Bearer ${token}` } })).status;
  expect(await ask()).not.toBe(401);
  await cluster.clock.advance('59m');
  expect((await send(cluster, 'GET', '/api/v1/namespaces/default/events/e')).code).toBe(200);
  expect(await ask()).not.toBe(401);
  await cluster.clock.advance('2m');
  await expectAnswer(cluster, '/api/v1/namespaces/default/events/e', 404);
  expect(await ask()).toBe(401);
});

test('advancing the clock runs what controllers do at a time, in order', async () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
  };
  await send(cluster, 'POST', '/apis/batch/v1/namespaces/default/cronjobs', {
    metadata: { name: 'hourly' },
    spec: { schedule: '0 * * * *', concurrencyPolicy: 'Allow', jobTemplate: { spec: { template } } },
  });
  const names = async (): Promise<string[]> =>
    (await send(cluster, 'GET', jobs)).json.items.map((job: any) => job.metadata.name).sort();
  await eventually('the controller knows the schedule', async () => {
    await cluster.clock.advance('1h');
    return (await names()).length > 0;
  });
  const before = (await names()).length;
  await cluster.clock.advance('3h');
  const minutes = (await names()).map((name) => Number(name.slice(name.lastIndexOf('-') + 1)));
  expect(minutes).toHaveLength(before + 3);
  const steps = minutes.slice(-3).map((minute, at, all) => minute - (all[at - 1] ?? minute - 60));
  expect(steps).toEqual([60, 60, 60]);
});

test('advancing the clock does not wait for work that a stopped controller has left', async () => {
  const clock = new PlaneClock();
  const stop = new AbortController();
  const queue = clock.observeWork(stop.signal);
  queue.added('waiting');
  stop.abort();
  queue.added('later');
  const fired: string[] = [];
  clock.after(1_000, () => fired.push('timer'));
  let turns = 0;
  const count = (): void => {
    turns += 1;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  await clock.advance(2_000);
  clearImmediate(turn);
  clock.close();
  expect(fired).toEqual(['timer']);
  // Work that is under way is waited for through all turns of a second.
  expect(turns).toBeLessThan(50);
});

test('faults refuse, cut and expire, and end when they are cleared', async () => {
  cluster.faults.conflict('configmaps', 1);
  await send(cluster, 'POST', CONFIG_MAPS, configMap('f'));
  const patch = async (): Promise<number> =>
    (await send(cluster, 'PATCH', `${CONFIG_MAPS}/f`, { data: { a: 'b' } }, 'application/merge-patch+json'))
      .code;
  expect([await patch(), await patch()]).toEqual([409, 200]);
  cluster.faults.fail(503, { resource: 'configmaps', verb: 'list', times: 1 });
  expect((await send(cluster, 'GET', CONFIG_MAPS)).code).toBe(503);
  const { json: list } = await send(cluster, 'GET', CONFIG_MAPS);
  cluster.faults.cutWatches({ after: 1 });
  const cut = eventsOf(cluster, `${CONFIG_MAPS}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
  await send(cluster, 'POST', CONFIG_MAPS, configMap('one'));
  await send(cluster, 'POST', CONFIG_MAPS, configMap('two'));
  expect((await cut.next()).value.object.metadata.name).toBe('one');
  await expect(cut.next()).rejects.toThrow('cuts the watch');
  cluster.faults.clear();
  const path = `${CONFIG_MAPS}?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
  const [ours, others] = [eventsOf(cluster, path), eventsOf(cluster.as('kate', ['system:masters']), path)];
  const namesOf = async (events: AsyncGenerator<any>): Promise<readonly string[]> => [
    (await events.next()).value.object.metadata.name,
    (await events.next()).value.object.metadata.name,
  ];
  expect([await namesOf(ours), await namesOf(others)]).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
  cluster.faults.cutWatches({ user: 'kate' });
  await expect(others.next()).rejects.toThrow('cuts the watch');
  cluster.faults.clear();
  cluster.faults.cutWatches({ user: 'kate', times: 1 });
  const [third, fourth] = [0, 1].map(() => eventsOf(cluster.as('kate', ['system:masters']), path));
  await expect(third!.next()).rejects.toThrow('cuts the watch');
  expect((await fourth!.next()).value.object.metadata.name).toBe('one');
  await fourth!.return(undefined);
  await send(cluster, 'POST', CONFIG_MAPS, configMap('three'));
  expect((await ours.next()).value.object.metadata.name).toBe('three');
  await ours.return(undefined);
  cluster.faults.clear();
  cluster.faults.expire('configmaps');
  const late = eventsOf(
    cluster,
    `${CONFIG_MAPS}?watch=true&resourceVersion=${list.metadata.resourceVersion}`,
  );
  expect((await late.next()).value.object.code).toBe(410);
});

test('replicas serve one state, and the others continue when one stops', async () => {
  const ha = await startControlPlane({ replicas: 3, listen: false });
  try {
    const [first, second, third] = ha.replicas;
    await send(first as Access, 'POST', CONFIG_MAPS, configMap('shared'));
    expect((await send(third as Access, 'GET', `${CONFIG_MAPS}/shared`)).code).toBe(200);
    await first?.stop();
    expect((await send(ha, 'PUT', `${CONFIG_MAPS}/shared`, configMap('shared'))).code).toBe(200);
    expect((await send(second as Access, 'DELETE', '/api/v1/namespaces/orch-public')).code).toBe(403);
    expect(() => ha.kubeconfig).toThrow('listen: false');
  } finally {
    await ha.stop();
  }
});

test('with stand-in nodes the pods of a Deployment and a StatefulSet become ready', async () => {
  const nodes = await startControlPlane({ nodes: 2, listen: false });
  const apps = '/apis/apps/v1/namespaces/default';
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template, serviceName: 'web' };
  try {
    for (const kind of ['deployments', 'statefulsets'])
      expect((await send(nodes, 'POST', `${apps}/${kind}`, { metadata: { name: 'web' }, spec })).code).toBe(
        201,
      );
    await eventually('all pods are ready', async () => {
      const found = ['deployments', 'statefulsets'].map(async (kind) =>
        send(nodes, 'GET', `${apps}/${kind}/web`),
      );
      return (await Promise.all(found)).every(({ json }) => json.status?.readyReplicas === 2);
    });
  } finally {
    await nodes.stop();
  }
});

test('without controllers nothing is collected, and pods need no service account', async () => {
  const bare = await startControlPlane({ controllers: false, listen: false });
  try {
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    expect((await send(bare, 'POST', '/api/v1/namespaces/default/pods', pod)).code).toBe(201);
  } finally {
    await bare.stop();
  }
  await expect(bare.fetch('/api')).rejects.toThrow('stopped');
});

test('objects are imported only where a flag says so, and by members of system:masters whatever the authorizers allow', async () => {
  const path = '/debug/import';
  const line = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    ...configMap('kept', { namespace: 'default', uid: 'u' }),
  };
  expect((await send(cluster, 'POST', path, line)).code).toBe(404);
  const flags = { 'enable-object-import': true, 'authorization-mode': 'AlwaysAllow' };
  const importing = await startControlPlane({ controllers: false, listen: false, flags });
  try {
    const jane = await send(importing.as('jane', ['devs']), 'POST', path, line);
    expect([jane.code, jane.json.message]).toEqual([403, expect.stringContaining('system:masters')]);
    expect((await send(importing, 'POST', path, line)).json).toEqual({ stored: 1, refused: [] });
    expect((await send(importing, 'GET', `${CONFIG_MAPS}/kept`)).json.metadata.uid).toBe('u');
    const wrong = { ...line, metadata: { name: '../a', namespace: 'default', uid: 'v' } };
    const { refused } = (await send(importing, 'POST', path, wrong)).json;
    expect(refused).toMatchObject([{ line: 0, kind: 'invalid' }]);
    expect((await send(importing, 'POST', path, { metadata: 1 })).json.refused).toHaveLength(1);
  } finally {
    await importing.stop();
  }
});

test('wrong options are refused with every reason', async () => {
  await expect(startControlPlane({ flags: { 'no-such-flag': 1 } })).rejects.toThrow('no-such-flag');
  await expect(startControlPlane({ dialect: 'kubernetes' })).rejects.toThrow('has the dialect orch');
  await expect(startControlPlane({ apiLevel: '1.99' })).rejects.toThrow('1.99 is not served');
  await expect(startControlPlane({ controllers: ['no-such'] })).rejects.toThrow('no-such');
  await expect(startControlPlane({ replicas: 0 })).rejects.toThrow('at least 1');
});
