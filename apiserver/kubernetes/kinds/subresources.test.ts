import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { testCertificate } from '../../../shared/certs/testing/test-certificates';
import { startInProcessApi } from '../../testing/in-process-api';

const PODS = '/api/v1/namespaces/default/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const REQUESTS = `/apis/${GROUP.certificates}/v1/certificatesigningrequests`;

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});

afterEach(async () => {
  await api.close();
});

const CONTAINERS = [{ name: 'c', image: 'i' }];

function deployment(): object {
  return {
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: {
        matchLabels: { app: 'web' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
      },
      template: { metadata: { labels: { app: 'web', tier: 'a' } }, spec: { containers: CONTAINERS } },
    },
  };
}

const RUNNING = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

async function pod(name: string, status: object = RUNNING): Promise<void> {
  const body = { metadata: { name, labels: { app: 'web' } }, spec: { containers: CONTAINERS } };
  expect((await api.call('POST', PODS, { body })).code).toBe(201);
  expect((await api.call('PATCH', `${PODS}/${name}/status`, { body: { status } })).code).toBe(200);
}

async function budget(name: string, status: object): Promise<void> {
  const body = { metadata: { name }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } } };
  expect((await api.call('POST', BUDGETS, { body })).code).toBe(201);
  const reply = await api.call('PATCH', `${BUDGETS}/${name}/status`, { body: { status } });
  expect(reply.code).toBe(200);
}

const ONE_TO_SPARE = {
  observedGeneration: 1,
  disruptionsAllowed: 1,
  currentHealthy: 2,
  desiredHealthy: 1,
  expectedPods: 2,
};

async function evict(name: string, more: object = {}): ReturnType<InProcessApi['call']> {
  return api.call('POST', `${PODS}/${name}/eviction`, { body: { metadata: { name }, ...more } });
}

describe('scale', () => {
  test('shows replicas and the selector as text, and nothing else of the object', async () => {
    await api.call('POST', DEPLOYMENTS, { body: deployment() });
    const { code, json } = await api.call('GET', `${DEPLOYMENTS}/web/scale`);
    expect(code).toBe(200);
    expect(json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 2 },
      status: { replicas: 0, selector: 'app=web,tier in (a,b)' },
    });
  });

  test('is shown in Protobuf too', async () => {
    await api.call('POST', DEPLOYMENTS, { body: deployment() });
    const headers = { accept: MEDIA_TYPE.protobuf };
    const { code, text } = await api.call('GET', `${DEPLOYMENTS}/web/scale`, { headers });
    expect(code).toBe(200);
    expect(text).toContain('autoscaling/v1');
  });

  test('changes the number of replicas alone, and the generation with it', async () => {
    const created = await api.call('POST', DEPLOYMENTS, { body: deployment() });
    const scaled = await api.call('PATCH', `${DEPLOYMENTS}/web/scale`, { body: { spec: { replicas: 5 } } });
    expect(scaled.json).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
    const { json } = await api.call('GET', `${DEPLOYMENTS}/web`);
    expect(json.spec).toEqual({ ...created.json.spec, replicas: 5 });
    expect(json.metadata.generation).toBe(2);
    expect(json.metadata.resourceVersion).toBe(scaled.json.metadata.resourceVersion);
  });

  test('a PUT honours resourceVersion and uid as preconditions', async () => {
    await api.call('POST', DEPLOYMENTS, { body: deployment() });
    const put = (metadata: object): ReturnType<InProcessApi['call']> =>
      api.call('PUT', `${DEPLOYMENTS}/web/scale`, {
        body: { metadata: { name: 'web', namespace: 'default', ...metadata }, spec: { replicas: 0 } },
      });
    expect((await put({ resourceVersion: '1' })).code).toBe(409);
    expect((await put({ uid: '00000000-0000-4000-8000-000000000000' })).code).toBe(409);
    expect((await put({})).json.spec).toEqual({});
  });

  test('a PUT has to say the namespace, before its version counts', async () => {
    await api.call('POST', DEPLOYMENTS, { body: deployment() });
    const { json } = await api.call('PUT', `${DEPLOYMENTS}/web/scale`, {
      body: { metadata: { name: 'web', resourceVersion: '1' }, spec: { replicas: -1 } },
    });
    expect(json.message).toBe(
      'Scale.autoscaling "web" is invalid: [metadata.namespace: Required value, spec.replicas: Invalid value: -1: must be greater than or equal to 0]',
    );
  });

  test.each(['application/json-patch+json', 'application/merge-patch+json'])(
    'a patch may not take the namespace away (%s)',
    async (type) => {
      await api.call('POST', DEPLOYMENTS, { body: deployment() });
      const { code, json } = await api.call('PATCH', `${DEPLOYMENTS}/web/scale`, {
        headers: { 'content-type': type },
        body: type.includes('merge')
          ? { metadata: { namespace: null } }
          : [{ op: 'remove', path: '/metadata/namespace' }],
      });
      expect([code, json.message]).toEqual([
        422,
        'Scale.autoscaling "web" is invalid: metadata.namespace: Required value',
      ]);
    },
  );

  test('a negative number is refused as the Scale that it is', async () => {
    await api.call('POST', DEPLOYMENTS, { body: deployment() });
    const { code, json } = await api.call('PATCH', `${DEPLOYMENTS}/web/scale`, {
      body: { spec: { replicas: -1 } },
    });
    expect(code).toBe(422);
    expect(json.details).toMatchObject({
      kind: 'Scale',
      group: 'autoscaling',
      causes: [{ field: 'spec.replicas' }],
    });
  });

  test('a replication controller shows its plain selector', async () => {
    const path = '/api/v1/namespaces/default/replicationcontrollers';
    const body = {
      metadata: { name: 'rc' },
      spec: {
        replicas: 1,
        selector: { b: '2', a: '1' },
        template: { metadata: { labels: { a: '1', b: '2' } }, spec: { containers: CONTAINERS } },
      },
    };
    await api.call('POST', path, { body });
    expect((await api.call('GET', `${path}/rc/scale`)).json.status.selector).toBe('a=1,b=2');
  });

  test.each([
    ['/apis/apps/v1/namespaces/default/deployments', 'deployments/scale.apps'],
    ['/apis/apps/v1/namespaces/default/statefulsets', 'statefulsets.apps'],
    ['/api/v1/namespaces/default/replicationcontrollers', 'replicationcontrollers/scale.autoscaling'],
  ])('that of what is not there, below %s, is not found as %s', async (path, named) => {
    const { code, json } = await api.call('GET', `${path}/none/scale`);
    expect([code, json.message]).toEqual([404, `${named} "none" not found`]);
  });

  test.each([
    ['/apis/apps/v1/namespaces/default/deployments', 404, 'deployments/scale.apps "a" not found'],
    ['/apis/apps/v1/namespaces/default/replicasets', 404, 'replicasets/scale.apps "a" not found'],
    [
      '/api/v1/namespaces/default/replicationcontrollers',
      404,
      'replicationcontrollers/scale.autoscaling "a" not found',
    ],
    ['/apis/apps/v1/namespaces/default/statefulsets', 400, 'invalid resource version: '],
  ])('of a broken version below %s is %d', async (path, expected, message) => {
    const { code, json } = await api.call('GET', `${path}/a/scale?resourceVersion=x`);
    expect(code).toBe(expected);
    expect(json.message).toContain(message);
  });

  test('a dry run scales nothing', async () => {
    await api.call('POST', DEPLOYMENTS, { body: deployment() });
    const dry = await api.call('PATCH', `${DEPLOYMENTS}/web/scale?dryRun=All`, {
      body: { spec: { replicas: 9 } },
    });
    expect(dry.json.spec.replicas).toBe(9);
    expect((await api.call('GET', `${DEPLOYMENTS}/web`)).json.spec.replicas).toBe(2);
  });
});

describe('binding', () => {
  const binding = (name: string, target: object = { kind: 'Node', name: 'n1' }): object => ({
    metadata: { name, annotations: { note: 'x' } },
    target,
  });

  test('puts the pod on the node with its annotations, and says that it is scheduled', async () => {
    await pod('a', { phase: 'Pending' });
    const { code, json } = await api.call('POST', `${PODS}/a/binding`, { body: binding('a') });
    expect([code, json.kind, json.status]).toEqual([201, 'Status', 'Success']);
    const bound = await api.call('GET', `${PODS}/a`);
    expect(bound.json.spec.nodeName).toBe('n1');
    expect(bound.json.metadata.annotations).toEqual({ note: 'x' });
    expect(bound.json.status.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
  });

  test('a pod is bound once, however many ask at the same time', async () => {
    await pod('a');
    const nodes = ['n1', 'n2', 'n3', 'n4'];
    const replies = await Promise.all(
      nodes.map((name) => api.call('POST', `${PODS}/a/binding`, { body: binding('a', { name }) })),
    );
    expect(replies.map(({ code }) => code).sort((a, b) => a - b)).toEqual([201, 409, 409, 409]);
    expect(replies.find(({ code }) => code === 409)?.json.details.kind).toBe('pods/binding');
  });

  test('a uid and a resourceVersion in the Binding are preconditions', async () => {
    await pod('a', { phase: 'Pending' });
    const { uid, resourceVersion } = (await api.call('GET', `${PODS}/a`)).json.metadata;
    const bind = async (fields: object): Promise<number> => {
      const body = { metadata: { name: 'a', ...fields }, target: { kind: 'Node', name: 'n1' } };
      return (await api.call('POST', `${PODS}/a/binding`, { body })).code;
    };
    expect([await bind({ uid: 'another' }), await bind({ resourceVersion: '1' })]).toEqual([409, 409]);
    expect(await bind({ uid, resourceVersion })).toBe(201);
    expect((await api.call('GET', `${PODS}/a`)).json.spec.nodeName).toBe('n1');
  });

  test('labels of the Binding do not become those of the pod, and a dry run binds nothing', async () => {
    await pod('a', { phase: 'Pending' });
    const body = { metadata: { name: 'a', labels: { mine: 'x' } }, target: { kind: 'Node', name: 'n1' } };
    expect((await api.call('POST', `${PODS}/a/binding?dryRun=All`, { body })).code).toBe(201);
    expect((await api.call('GET', `${PODS}/a`)).json.spec.nodeName).toBeUndefined();
    expect((await api.call('POST', `${PODS}/a/binding`, { body })).code).toBe(201);
    expect((await api.call('GET', `${PODS}/a`)).json.metadata.labels).not.toHaveProperty('mine');
  });

  test('bindings binds the pod that the Binding names', async () => {
    await pod('b');
    const { code } = await api.call('POST', '/api/v1/namespaces/default/bindings', { body: binding('b') });
    expect(code).toBe(201);
    expect((await api.call('GET', `${PODS}/b`)).json.spec.nodeName).toBe('n1');
  });

  test('a terminating pod, a missing one, another name and another kind of target are refused', async () => {
    await pod('a');
    await api.call('PATCH', `${PODS}/a`, { body: { metadata: { finalizers: ['x/y'] } } });
    await api.call('DELETE', `${PODS}/a`);
    expect((await api.call('POST', `${PODS}/a/binding`, { body: binding('a') })).json.message).toContain(
      'being deleted',
    );
    expect((await api.call('POST', `${PODS}/none/binding`, { body: binding('none') })).code).toBe(404);
    expect((await api.call('POST', `${PODS}/a/binding`, { body: binding('z') })).code).toBe(400);
    const wrong = await api.call('POST', `${PODS}/a/binding`, {
      body: binding('a', { kind: 'Pod', name: '' }),
    });
    expect(wrong.json.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      'target.kind',
      'target.name',
    ]);
  });
});

describe('eviction', () => {
  test('a pod that no budget covers is deleted', async () => {
    await pod('a');
    const { code, json } = await evict('a');
    expect([code, json.status]).toEqual([201, 'Success']);
    expect((await api.call('GET', `${PODS}/a`)).code).toBe(404);
  });

  test('spends a disruption of the budget and notes the pod in it', async () => {
    await pod('a');
    await pod('b');
    await budget('pdb', ONE_TO_SPARE);
    expect((await evict('a')).code).toBe(201);
    const { json } = await api.call('GET', `${BUDGETS}/pdb`);
    expect(json.status.disruptionsAllowed).toBe(0);
    expect(Object.keys(json.status.disruptedPods)).toEqual(['a']);
    expect(json.status.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'False' }]);
    const refused = await evict('b');
    expect(refused.code).toBe(429);
    expect(refused.json).toMatchObject({
      reason: 'TooManyRequests',
      details: {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: 'The disruption budget pdb needs 1 healthy pods and has 2 currently',
          },
        ],
      },
    });
    expect((await api.call('GET', `${PODS}/b`)).code).toBe(200);
  });

  test('is returned as PartialObjectMetadata to a client that accepts only metadata', async () => {
    await pod('a');
    const headers = { accept: `*/*;as=PartialObjectMetadata;v=v1;g=${GROUP.meta}` };
    const body = { metadata: { name: 'a' } };
    const reply = await api.call('POST', `${PODS}/a/eviction`, { body, headers });
    expect(reply.json).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
  });

  test('of two evictions at once that one disruption must serve, one is refused', async () => {
    await pod('a');
    await pod('b');
    await budget('pdb', ONE_TO_SPARE);
    const replies = await Promise.all([evict('a'), evict('b')]);
    expect(replies.map(({ code }) => code).sort((a, b) => a - b)).toEqual([201, 429]);
  });

  test('a budget that the controller has not seen yet asks to come again later', async () => {
    await pod('a');
    await budget('pdb', { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 });
    const { code, json } = await evict('a');
    expect([code, json.details.retryAfterSeconds]).toEqual([429, 10]);
  });

  test('an eviction of a pod with several budgets fails with 500', async () => {
    await pod('a');
    await budget('one', ONE_TO_SPARE);
    await budget('two', ONE_TO_SPARE);
    expect((await evict('a')).code).toBe(500);
    expect((await api.call('GET', `${PODS}/a`)).code).toBe(200);
  });

  test('a pod that does not run disrupts nothing', async () => {
    await pod('done', { phase: 'Succeeded' });
    await budget('pdb', { ...ONE_TO_SPARE, disruptionsAllowed: 0 });
    expect((await evict('done')).code).toBe(201);
  });

  test('a pod that is not ready costs nothing while enough others are', async () => {
    await pod('sick', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
    await budget('pdb', { ...ONE_TO_SPARE, disruptionsAllowed: 0 });
    expect((await evict('sick')).code).toBe(201);
  });

  test('a pod that does not run yet goes, whatever its budget, if it is still as the client saw it', async () => {
    await pod('late', { phase: 'Pending' });
    const { json } = await api.call('GET', `${PODS}/late`);
    await budget('pdb', { ...ONE_TO_SPARE, disruptionsAllowed: 0 });
    const stale = { preconditions: { resourceVersion: '1' } };
    expect((await evict('late', { deleteOptions: stale })).code).toBe(409);
    const exact = { preconditions: { uid: json.metadata.uid as string } };
    expect((await evict('late', { deleteOptions: exact })).code).toBe(201);
  });

  test('a pod that became ready while it was evicted as unready is not deleted', async () => {
    await pod('sick', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] });
    await budget('pdb', { ...ONE_TO_SPARE, disruptionsAllowed: 0 });
    const mark = api.backend.update.bind(api.backend);
    api.backend.update = async (...marking) => {
      api.backend.update = mark;
      const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
      await api.call('PATCH', `${PODS}/sick/status`, { body: ready });
      return mark(...marking);
    };
    const { code, json } = await evict('sick');
    expect([code, json.details.retryAfterSeconds]).toEqual([429, 10]);
    expect((await api.call('GET', `${PODS}/sick`)).code).toBe(200);
  });

  test('deleteOptions decide how the pod is deleted', async () => {
    await pod('a');
    await api.call('PATCH', `${PODS}/a`, { body: { metadata: { finalizers: ['example.com/x'] } } });
    expect((await evict('a', { deleteOptions: { propagationPolicy: 'Foreground' } })).code).toBe(201);
    const { json } = await api.call('GET', `${PODS}/a`);
    expect(json.metadata.finalizers).toContain('foregroundDeletion');
  });

  test.each([
    ['propagationPolicy', { propagationPolicy: 'Odd' }],
    ['propagationPolicy', { propagationPolicy: 'Orphan', orphanDependents: true }],
    ['dryRun', { dryRun: ['x'] }],
    ['dryRun', { dryRun: ['All', 'x'] }],
  ])('deleteOptions are refused for their %s (%j), and nothing is deleted', async (field, deleteOptions) => {
    await pod('a');
    const { json } = await evict('a', { deleteOptions });
    expect([json.code, json.details.kind, json.details.causes[0].field]).toEqual([
      422,
      'DeleteOptions',
      field,
    ]);
    expect((await api.call('GET', `${PODS}/a`)).json.metadata).not.toHaveProperty('deletionTimestamp');
  });

  test('the kind is that of policy/v1beta1 alone', async () => {
    await pod('a');
    expect((await evict('a', { apiVersion: 'policy/v1beta1', kind: 'Eviction' })).code).toBe(201);
    await pod('b');
    expect((await evict('b', { apiVersion: 'policy/v1', kind: 'Eviction' })).code).toBe(400);
  });

  test('a dry run neither deletes nor spends', async () => {
    await pod('a');
    await budget('pdb', ONE_TO_SPARE);
    expect((await evict('a', { deleteOptions: { dryRun: ['All'] } })).code).toBe(201);
    expect((await api.call('GET', `${PODS}/a`)).code).toBe(200);
    expect((await api.call('GET', `${BUDGETS}/pdb`)).json.status.disruptionsAllowed).toBe(1);
  });
});

describe('approval of certificate requests', () => {
  const REQUEST =
    '-----BEGIN CERTIFICATE REQUEST-----\n' +
    'MIHfMIGFAgEAMCMxETAPBgNVBAoMCGh5LWdyb3VwMQ4wDAYDVQQDDAVoeS1lYzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPNKpz6DvaS/NZg40tTjaGYeYf2MYkSMBOCylVaW9h+9OVDl6X0IY9ltwzUjMFfihd5Z1Q54MZ4Ld0X98JPAZdOgADAKBggqhkjOPQQDAgNJADBGAiEAhCzv+s0Heu3aameZBiNZlokWBPeSy5N51CdnYHJTK1sCIQD3xJimcboA6r62k9IpmZmbAHHEAEDrrPlIryOZgAoteQ==\n' +
    '-----END CERTIFICATE REQUEST-----\n';
  const request = {
    metadata: { name: 'r' },
    spec: {
      request: Buffer.from(REQUEST).toString('base64'),
      usages: ['client auth'],
      signerName: 'example.com/s',
      username: 'forged',
    },
  };
  const approved = { type: 'Approved', status: 'True', reason: 'ByHand', message: 'fine' };

  test('the requester of a new request is the authenticated user', async () => {
    const { json } = await api.call('POST', REQUESTS, { body: request });
    expect(json.spec).toMatchObject({ username: 'tester' });
  });

  test('takes conditions and sets their times, and changes nothing else', async () => {
    await api.call('POST', REQUESTS, { body: request });
    const body = {
      spec: { signerName: 'example.com/other' },
      status: { conditions: [approved], certificate: 'eA==' },
    };
    const { code, json } = await api.call('PATCH', `${REQUESTS}/r/approval`, { body });
    expect(code).toBe(200);
    expect(json.spec.signerName).toBe('example.com/s');
    expect(json.status.certificate).toBeUndefined();
    expect(json.status.conditions).toMatchObject([approved]);
    expect(Date.parse(json.status.conditions[0].lastTransitionTime)).not.toBeNaN();
    expect(Date.parse(json.status.conditions[0].lastUpdateTime)).not.toBeNaN();
  });

  test('the certificate has one block at least and a hundred at most, which are all read', async () => {
    await api.call('POST', REQUESTS, { body: request });
    const { pem } = testCertificate({ commonName: 'a' });
    const problemOf = async (text: string): Promise<unknown> => {
      const certificate = Buffer.from(text).toString('base64');
      const reply = await api.call('PATCH', `${REQUESTS}/r/status?dryRun=All`, {
        body: { status: { certificate } },
      });
      return reply.json.details?.causes[0].message;
    };
    expect(await problemOf(pem.repeat(100))).toBeUndefined();
    expect(await problemOf(pem.repeat(101))).toContain('must contain at most 100 PEM blocks');
    expect(await problemOf('x')).toContain('must contain at least one CERTIFICATE PEM block');
  });

  test('in v1beta1 a decision that comes through status leaves all conditions as they were', async () => {
    await api.call('POST', REQUESTS, { body: request });
    const other = { type: 'Other', status: 'True', message: 'kept' };
    await api.call('PATCH', `${REQUESTS}/r/status`, { body: { status: { conditions: [other] } } });
    const { code, json } = await api.call('PATCH', `${REQUESTS.replace('v1', 'v1beta1')}/r/status`, {
      body: { status: { conditions: [{ ...other, message: 'lost' }, approved] } },
    });
    expect([code, json.status.conditions]).toEqual([200, [expect.objectContaining(other)]]);
  });

  test('a decision can neither be taken back nor be added through status', async () => {
    await api.call('POST', REQUESTS, { body: request });
    const early = await api.call('PATCH', `${REQUESTS}/r/status`, {
      body: { status: { conditions: [approved] } },
    });
    expect(early.json.details.causes[0]).toMatchObject({
      reason: 'FieldValueForbidden',
      field: 'status.conditions',
    });
    await api.call('PATCH', `${REQUESTS}/r/approval`, { body: { status: { conditions: [approved] } } });
    const undone = await api.call('PATCH', `${REQUESTS}/r/approval`, {
      body: { status: { conditions: null } },
    });
    expect(undone.code).toBe(422);
    const both = await api.call('PATCH', `${REQUESTS}/r/approval`, {
      body: { status: { conditions: [approved, { ...approved, type: 'Denied' }] } },
    });
    expect(both.code).toBe(422);
    const unsure = await api.call('PATCH', `${REQUESTS.replace('/v1/', '/v1beta1/')}/r/approval`, {
      body: { status: { conditions: [{ ...approved, status: 'False' }] } },
    });
    expect(unsure.json.details.causes[0]).toMatchObject({
      reason: 'FieldValueNotSupported',
      field: 'status.conditions[0].status',
    });
    const lost = await api.call('PATCH', `${REQUESTS}/r/status`, { body: { status: { conditions: null } } });
    expect(lost.json.details.causes).toMatchObject([
      { reason: 'FieldValueForbidden', field: 'status.conditions' },
    ]);
    const changed = await api.call('PATCH', `${REQUESTS}/r/status`, {
      body: { status: { conditions: [{ ...approved, reason: 'Other' }] } },
    });
    expect(changed.json.status.conditions).toMatchObject([approved]);
  });
});

test.each([
  ['eviction', {}],
  ['binding', { target: { kind: 'Node', name: 'n1' } }],
])('%s refuses a body that names another namespace than the path', async (subresource, more) => {
  await pod('a');
  const send = async (namespace: string): Promise<number> => {
    const body = { metadata: { name: 'a', namespace }, ...more };
    return (await api.call('POST', `${PODS}/a/${subresource}`, { body })).code;
  };
  expect([await send('other'), await send('default')]).toEqual([400, 201]);
});
