import { setMaxListeners } from 'node:events';
import { FINALIZER, SERVICE_ACCOUNT_MOUNT_PATH } from '../../../shared/names';
import {
  DEFINITIONS_PATH,
  define,
  definitionBody,
  untilGone,
} from '../../testing/custom-resources/definitions';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const SPACE = '/api/v1/namespaces/default';
const PODS = `${SPACE}/pods`;
const podOf = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
});

let api: InProcessApi;
beforeEach(async () => {
  setMaxListeners(0);
  api = await startInProcessApi(undefined, { admission: { disable: [] } });
  await api.call('POST', `${SPACE}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
});
afterEach(async () => api.close());

test('a pod passes all matching plugins, and their additions belong to no field manager', async () => {
  const { code, json } = await api.call('POST', PODS, { body: podOf('p') });
  expect(code).toBe(201);
  expect(json.spec).toMatchObject({
    serviceAccountName: 'default',
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    tolerations: [{ tolerationSeconds: 300 }, { tolerationSeconds: 300 }],
    containers: [{ volumeMounts: [{ mountPath: SERVICE_ACCOUNT_MOUNT_PATH }] }],
  });
  const owned = Object.keys(json.metadata.managedFields[0].fieldsV1['f:spec']);
  expect(owned).toContain('f:containers');
  expect(owned).not.toContain('f:tolerations');
  expect(owned).not.toContain('f:serviceAccountName');
});

test('an update that leaves the object alone changes nothing', async () => {
  const created = (await api.call('POST', PODS, { body: podOf('p') })).json;
  const { code, json } = await api.call('PATCH', `${PODS}/p`, { body: { metadata: { labels: { a: 'b' } } } });
  expect(code).toBe(200);
  expect(json.spec).toEqual(created.spec);
});

test('a dry run is admitted like any other request and leaves nothing behind', async () => {
  const dry = await api.call('POST', `${PODS}?dryRun=All`, { body: podOf('p') });
  expect(dry.json.spec.serviceAccountName).toBe('default');
  expect((await api.call('GET', `${PODS}/p`)).code).toBe(404);
  const refused = await api.call('POST', `${PODS}?dryRun=All`, {
    body: podOf('p', { priorityClassName: 'none' }),
  });
  expect(refused).toMatchObject({
    code: 403,
    json: { message: 'pods "p" is forbidden: no PriorityClass with name none was found' },
  });
});

test('an object with generateName is refused under its prefix', async () => {
  const body = {
    ...podOf(''),
    metadata: { generateName: 'web-' },
    spec: { ...podOf('').spec, serviceAccountName: 'none' },
  };
  const { json } = await api.call('POST', PODS, { body });
  expect(json).toMatchObject({ code: 403, details: { name: 'web-', kind: 'pods' } });
});

test('a deleted claim stays until its protection finalizer is removed', async () => {
  const claims = `${SPACE}/persistentvolumeclaims`;
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
  await api.call('POST', claims, { body: { metadata: { name: 'c' }, spec } });
  const { json } = await api.call('DELETE', `${claims}/c`);
  expect(json.metadata).toMatchObject({ finalizers: [FINALIZER.claimProtection] });
  expect(json.metadata.deletionTimestamp).toBeDefined();
  await api.call('PATCH', `${claims}/c`, { body: { metadata: { finalizers: null } } });
  expect((await api.call('GET', `${claims}/c`)).code).toBe(404);
});

test('limits apply to the next pod', async () => {
  const limits = [{ type: 'Container', default: { cpu: '100m' }, max: { cpu: '200m' } }];
  await api.call('POST', `${SPACE}/limitranges`, { body: { metadata: { name: 'l' }, spec: { limits } } });
  const within = await api.call('POST', PODS, { body: podOf('p') });
  expect(within.json.spec.containers[0].resources).toEqual({
    limits: { cpu: '100m' },
    requests: { cpu: '100m' },
  });
  const containers = [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }];
  const beyond = await api.call('POST', PODS, { body: podOf('q', { containers }) });
  expect(beyond).toMatchObject({
    code: 403,
    json: { message: expect.stringContaining('but limit is 1') as string },
  });
});

test('the metrics name each plugin with its duration', async () => {
  await api.call('POST', PODS, { body: podOf('p', { priorityClassName: 'none' }) });
  const { text } = await api.call('GET', '/metrics');
  const labels = 'type="admit",operation="CREATE",rejected="true"';
  expect(text).toContain(`apiserver_admission_step_admission_duration_seconds_count{${labels}} 1`);
  expect(text).toContain(
    `apiserver_admission_controller_admission_duration_seconds_count{name="Priority",${labels}} 1`,
  );
  expect(text).toMatch(/apiserver_admission_step_admission_duration_seconds_bucket\{[^}]*le="0\.025"\}/);
});

test('with NamespaceAutoProvision the first object creates its namespace', async () => {
  const provisioning = await startInProcessApi(undefined, {
    admission: { enable: ['NamespaceAutoProvision'] },
  });
  const path = '/api/v1/namespaces/fresh/configmaps';
  expect(
    (await provisioning.call('POST', `${path}?dryRun=All`, { body: { metadata: { name: 'a' } } })).code,
  ).toBe(404);
  expect((await provisioning.call('POST', path, { body: { metadata: { name: 'a' } } })).code).toBe(201);
  expect((await provisioning.call('GET', '/api/v1/namespaces/fresh')).json.status.phase).toBe('Active');
  await provisioning.close();
});

test('a custom resource that becomes namespaced needs existing namespaces', async () => {
  const body = { apiVersion: 'example.com/v1', kind: 'Gizmo', metadata: { name: 'g' } };
  await define(api, definitionBody({ scope: 'Cluster' }));
  expect((await api.call('POST', '/apis/example.com/v1/gizmos', { body })).code).toBe(201);
  await api.call('DELETE', `${DEFINITIONS_PATH}/gizmos.example.com`);
  await untilGone(api, 'gizmos.example.com');
  await define(api, definitionBody({ scope: 'Namespaced' }));
  const { json } = await api.call('POST', '/apis/example.com/v1/namespaces/none/gizmos', { body });
  expect(json).toMatchObject({ code: 404, message: 'namespaces "none" not found' });
});
