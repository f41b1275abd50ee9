import { GROUP, MEDIA_TYPE } from '../../shared/names';
import { RESOURCES } from '../../shared/api/resources';
import { minimalObject } from '../testing/minimal-objects';
import type { InProcessApi } from '../testing/in-process-api';
import { startInProcessApi } from '../testing/in-process-api';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

/** The fields of metadata that an update of an object is refused for. */
async function refusedFields(
  { group, resource }: { readonly group: string; readonly resource: string },
  metadata: Readonly<Record<string, unknown>>,
  subresource = '',
): Promise<readonly string[]> {
  const row = RESOURCES.find((each) => each.group === group && each.resource === resource);
  if (row === undefined) throw new Error(`no ${resource}`);
  const root = group === '' ? `/api/${row.version}` : `/apis/${group}/${row.version}`;
  const url = `${root}${row.namespaced ? '/namespaces/default' : ''}/${resource}`;
  const name = 'updated';
  const object = minimalObject(row, 'default');
  const { json } = await api.call('POST', url, { body: { ...object, metadata: { name } } });
  const body = { ...json, metadata: { ...json.metadata, ...metadata } };
  const reply = await api.call('PUT', `${url}/${name}${subresource}?dryRun=All`, { body });
  await api.call('DELETE', `${url}/${name}`);
  const causes = (reply.json.details?.causes ?? []) as readonly { readonly field: string }[];
  return causes.map(({ field }) => field);
}

describe('an update of an object', () => {
  test.each([
    [GROUP.core, 'configmaps', '', true],
    [GROUP.core, 'pods', '', true],
    [GROUP.core, 'resourcequotas', '', false],
    [GROUP.coordination, 'leases', '', false],
    [GROUP.apps, 'deployments', '/status', false],
  ])('%s %s%s: asks what its name was made from: %s', async (group, resource, subresource, asks) => {
    const fields = await refusedFields({ group, resource }, { generateName: 'Always' }, subresource);
    expect(fields).toEqual(asks ? ['metadata.generateName'] : []);
  });

  test.each([
    [GROUP.core, 'configmaps', '', true],
    [GROUP.coordination, 'leases', '', false],
    [GROUP.batch, 'cronjobs', '/status', false],
    [GROUP.batch, 'jobs', '/status', true],
  ])('%s %s%s: asks for the domains of finalizers: %s', async (group, resource, subresource, asks) => {
    const fields = await refusedFields({ group, resource }, { finalizers: ['none'] }, subresource);
    expect(fields).toEqual(asks ? ['metadata.finalizers[0]'] : []);
  });
});

test('what owns an Event by way of its other group is forgotten with the next write', async () => {
  const name = 'owned';
  const core = `/api/v1/namespaces/default/events`;
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'p' };
  await api.call('POST', core, { body: { metadata: { name }, involvedObject } });
  const url = `/apis/${GROUP.events}/v1beta1/namespaces/default/events/${name}`;
  const { json } = await api.call('PATCH', url, { body: { reason: 'Because' } });
  const owners = json.metadata.managedFields as readonly { readonly apiVersion: string }[];
  expect(owners.map(({ apiVersion }) => apiVersion)).toEqual([`${GROUP.events}/v1beta1`]);
  // Also by a write that changes nothing else.
  const again = await api.call('PATCH', `${core}/${name}`, { body: {} });
  expect(again.json.metadata.managedFields).toBeUndefined();
});

describe('what is not there', () => {
  const services = '/api/v1/namespaces/default/services';
  const service = { kind: 'Service', apiVersion: 'v1', metadata: { name: 's' } };
  const applied = { headers: { 'content-type': MEDIA_TYPE.applyPatch } };

  test('is a Service that its status can create, if it is a good one', async () => {
    const url = `${services}/s/status?fieldManager=a`;
    const bad = await api.call('PATCH', url, { ...applied, body: { ...service, status: {} } });
    expect([bad.code, bad.json.details.causes[0].field]).toEqual([422, 'spec.ports']);
    const body = { ...service, spec: { ports: [{ port: 80 }] } };
    expect((await api.call('PUT', `${services}/s/status?dryRun=All`, { body })).code).toBe(201);
    expect((await api.call('PATCH', `${services}/s/status`, { body: {} })).code).toBe(404);
  });

  test('is no Service for a PUT, whatever that says of its uid', async () => {
    const body = { ...service, metadata: { name: 's', uid: 'u' }, spec: { ports: [{ port: 80 }] } };
    expect((await api.call('PUT', `${services}/s`, { body })).code).toBe(404);
  });

  test('is refused with a version that is none, where an update would create it', async () => {
    const url = '/api/v1/namespaces/default/endpoints/e';
    const body = { kind: 'Endpoints', apiVersion: 'v1', metadata: { name: 'e', resourceVersion: 'x' } };
    expect((await api.call('PUT', url, { body })).code).toBe(400);
    expect((await api.call('PATCH', `${url}?fieldManager=a`, { ...applied, body })).code).toBe(400);
  });

  test('is not what an apply means by a uid, whatever name that says', async () => {
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'other', uid: 'u' } };
    const url = '/api/v1/namespaces/default/configmaps/c?fieldManager=a';
    expect((await api.call('PATCH', url, { ...applied, body })).code).toBe(409);
  });
});
