import { GROUP } from '../../shared/names';
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
});
