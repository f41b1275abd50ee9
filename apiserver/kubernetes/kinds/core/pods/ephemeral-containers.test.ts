import { MEDIA_TYPE } from '../../../../../shared/names';
import type { InProcessApi } from '../../../../testing/in-process-api';
import { startInProcessApi } from '../../../../testing/in-process-api';
import { causesOf } from '../../../../testing/kinds/refusals';

const PODS = '/api/v1/namespaces/default/pods';
const URL = `${PODS}/p/ephemeralcontainers`;
const STRATEGIC = { 'content-type': MEDIA_TYPE.strategicMergePatch };
const POD = {
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i:1' }], initContainers: [{ name: 'first', image: 'i:1' }] },
};
const DEBUGGER = { name: 'debugger', image: 'busybox:1', command: ['sh'], stdin: true, tty: true };

let api: InProcessApi;

async function start(ephemeralContainers: boolean): Promise<void> {
  const kindSettings = { allowPrivileged: false, ephemeralContainers };
  api = await startInProcessApi(undefined, { kindSettings });
}

afterEach(async () => {
  await api.close();
});

async function list(...containers: readonly object[]): Promise<object> {
  const { json } = await api.call('GET', URL);
  return { ...json, ephemeralContainers: containers };
}

describe('with the feature on', () => {
  beforeEach(async () => {
    await start(true);
    expect((await api.call('POST', PODS, { body: POD })).code).toBe(201);
  });

  test('a pod begins with an empty list, in a kind of its own', async () => {
    const { json } = await api.call('GET', URL);
    expect(json).toMatchObject({
      kind: 'EphemeralContainers',
      apiVersion: 'v1',
      metadata: { name: 'p', namespace: 'default' },
      ephemeralContainers: null,
    });
    expect(json.metadata.managedFields).toBeUndefined();
  });

  test('discovery tells of it', async () => {
    const { json } = await api.call('GET', '/api/v1');
    expect(json.resources).toContainEqual({
      name: 'pods/ephemeralcontainers',
      singularName: '',
      namespaced: true,
      kind: 'EphemeralContainers',
      verbs: ['get', 'patch', 'update'],
    });
  });

  test('containers are added by an update and by a strategic merge patch, and get their defaults', async () => {
    const added = await api.call('PUT', URL, { body: await list(DEBUGGER) });
    expect(added.code).toBe(200);
    expect(added.json.ephemeralContainers).toMatchObject([{ ...DEBUGGER, imagePullPolicy: 'IfNotPresent' }]);
    const body = { ephemeralContainers: [{ name: 'second', image: 'i:1', targetContainerName: 'c' }] };
    const patched = await api.call('PATCH', URL, { body, headers: STRATEGIC });
    expect(patched.code).toBe(200);
    const pod = await api.call('GET', `${PODS}/p`);
    expect(pod.json.spec.ephemeralContainers.map(({ name }: { name: string }) => name).toSorted()).toEqual([
      'debugger',
      'second',
    ]);
  });

  test('the owners of fields in the pod stay as they are', async () => {
    const before = await api.call('GET', `${PODS}/p`);
    await api.call('PUT', URL, { body: await list(DEBUGGER) });
    const after = await api.call('GET', `${PODS}/p`);
    expect(after.json.metadata.managedFields).toEqual(before.json.metadata.managedFields);
  });

  test.each([
    ['removed', [], ['Forbidden spec.ephemeralContainers']],
    ['changed', [{ ...DEBUGGER, image: 'other:1' }], ['Forbidden spec.ephemeralContainers']],
  ])('one that is there cannot be %s', async (_what, containers, causes) => {
    await api.call('PUT', URL, { body: await list(DEBUGGER) });
    expect(causesOf(await api.call('PUT', URL, { body: await list(...containers) }))).toEqual(causes);
  });

  test('a change of an existing ephemeral container is reported', async () => {
    await api.call('PUT', URL, { body: await list(DEBUGGER) });
    const { json } = await api.call('PUT', URL, {
      body: await list({ ...DEBUGGER, name: 'new' }, { ...DEBUGGER, image: 'other:1', workingDir: '/w' }),
    });
    expect(json.details.causes[0].message)
      .toBe(`Forbidden: existing ephemeral containers "debugger" may not be changed
spec.ephemeralContainers[1].image: "${DEBUGGER.image}" -> "other:1"
spec.ephemeralContainers[1].workingDir: absent -> "/w"
`);
  });

  const at = 'spec.ephemeralContainers[0]';
  test.each([
    ['no name', { ...DEBUGGER, name: '' }, [`Required ${at}`]],
    ['the name of another container', { ...DEBUGGER, name: 'first' }, [`Duplicate ${at}.name`]],
    [
      'a target that is not there',
      { ...DEBUGGER, targetContainerName: 'no' },
      [`NotFound ${at}.targetContainerName`],
    ],
    ['no image', { name: 'e' }, [`Required ${at}.image`]],
    ['ports', { ...DEBUGGER, ports: [{ containerPort: 1 }] }, [`Forbidden ${at}.ports`]],
    [
      'resources and a probe',
      {
        ...DEBUGGER,
        resources: { limits: { cpu: '1' } },
        livenessProbe: { tcpSocket: { port: 1 } },
      },
      [`Forbidden ${at}.livenessProbe`, `Forbidden ${at}.resources`],
    ],
    [
      'a mount of no volume',
      { ...DEBUGGER, volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      [`NotFound ${at}.volumeMounts[0].name`],
    ],
    [
      'privileges that the operator does not allow',
      { ...DEBUGGER, securityContext: { privileged: true } },
      [`Forbidden ${at}.securityContext.privileged`],
    ],
  ])('a container with %s is refused', async (_what, container, causes) => {
    expect(causesOf(await api.call('PUT', URL, { body: await list(container) }))).toEqual(causes);
  });

  test('a pod cannot be created with some, nor get them through an update of the pod', async () => {
    const spec = { ...POD.spec, ephemeralContainers: [DEBUGGER] };
    const created = await api.call('POST', PODS, { body: { metadata: { name: 'q' }, spec } });
    expect(causesOf(created)).toEqual(['Forbidden spec.ephemeralContainers']);
    const patched = await api.call('PATCH', `${PODS}/p`, {
      body: { spec: { ephemeralContainers: [DEBUGGER] } },
    });
    expect(causesOf(patched)).toEqual(['Forbidden spec']);
  });

  test('a pod that is not there is not found', async () => {
    const { code, json } = await api.call('GET', `${PODS}/none/ephemeralcontainers`);
    expect([code, json.details]).toEqual([404, { name: 'none', kind: 'pods' }]);
  });

  test('a stale version and a uid of another pod are conflicts', async () => {
    const stale = await list(DEBUGGER);
    await api.call('PATCH', `${PODS}/p`, { body: { metadata: { labels: { a: 'b' } } } });
    expect((await api.call('PUT', URL, { body: stale })).code).toBe(409);
    const other = { metadata: { name: 'p', uid: 'x' }, ephemeralContainers: [DEBUGGER] };
    expect((await api.call('PUT', URL, { body: other })).code).toBe(409);
  });
});

describe('with the feature off', () => {
  beforeEach(async () => {
    await start(false);
  });

  test('there is no such subresource, and the field of a pod is dropped', async () => {
    const spec = { ...POD.spec, ephemeralContainers: [DEBUGGER] };
    const created = await api.call('POST', PODS, { body: { ...POD, spec } });
    expect(created.code).toBe(201);
    expect(created.json.spec).not.toHaveProperty('ephemeralContainers');
    const body = { spec: { ephemeralContainers: [DEBUGGER] } };
    const patched = await api.call('PATCH', `${PODS}/p`, { body });
    expect(patched.code).toBe(200);
    expect(patched.json.spec).not.toHaveProperty('ephemeralContainers');
    expect((await api.call('GET', URL)).code).toBe(404);
    const { json } = await api.call('GET', '/api/v1');
    expect(json.resources.map(({ name }: { name: string }) => name)).not.toContain(
      'pods/ephemeralcontainers',
    );
  });
});

const CONTAINERS = [{ name: 'c', image: 'i' }];
const LABELS = { app: 'x' };
const template = (restartPolicy: string): object => ({
  metadata: { labels: LABELS },
  spec: { restartPolicy, containers: CONTAINERS, ephemeralContainers: [DEBUGGER] },
});
const JOB = { template: template('Never') };
const REPLICATED = { selector: { matchLabels: LABELS }, template: template('Always') };

describe.each([
  ['core/podtemplates', '/api/v1', { template: template('Always') }],
  ['core/replicationcontrollers', '/api/v1', { spec: { selector: LABELS, template: template('Always') } }],
  ['apps/replicasets', '/apis/apps/v1', { spec: REPLICATED }],
  ['apps/deployments', '/apis/apps/v1', { spec: REPLICATED }],
  ['apps/daemonsets', '/apis/apps/v1', { spec: REPLICATED }],
  ['batch/jobs', '/apis/batch/v1', { spec: JOB }],
  ['batch/cronjobs', '/apis/batch/v1', { spec: { schedule: '@daily', jobTemplate: { spec: JOB } } }],
])('in templates of %s they', (resource, prefix, object) => {
  const url = `${prefix}/namespaces/default/${resource.split('/')[1] ?? ''}`;
  const body = { metadata: { name: 'x' }, ...object };

  test('are dropped with the feature off', async () => {
    await start(false);
    const { code, text } = await api.call('POST', url, { body });
    expect(code).toBe(201);
    // As upstream, managedFields record the requested field anyway.
    expect(text.replace(/"managedFields":\[.*?\}\],/, '')).not.toContain('"ephemeralContainers"');
    expect((await api.call('PATCH', `${url}/x`, { body: object })).code).toBe(200);
  });

  test('are refused with the feature on', async () => {
    await start(true);
    const { json } = await api.call('POST', url, { body });
    expect(json.details.causes[0]).toMatchObject({
      reason: 'FieldValueForbidden',
      field: expect.stringMatching(/template\.spec\.ephemeralContainers$/) as string,
    });
  });
});
