import { GROUP } from '../../shared/names';
import type { InProcessApi } from './in-process-api';
import { startInProcessApi } from './in-process-api';

/** Where v1.21 differs from its documentation, this server behaves as v1.21. */

const SPACES = '/api/v1/namespaces';
const TABLE = `application/json;as=Table;v=v1;g=${GROUP.meta}`;

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

async function createSpace(name: string): Promise<void> {
  expect((await api.call('POST', SPACES, { body: { metadata: { name } } })).code).toBe(201);
}

test.each([
  ['', 200],
  ['?propagationPolicy=Background', 200],
  ['?orphanDependents=false', 202],
])('DELETE of a namespace%s answers with the namespace, and %d', async (query, expected) => {
  await createSpace('x');
  const { code, json } = await api.call('DELETE', `${SPACES}/x${query}`);
  expect([code, json.kind, json.status.phase]).toEqual([expected, 'Namespace', 'Terminating']);
});

test('a condition of a namespace does not need a status', async () => {
  await createSpace('x');
  const status = { phase: 'Active', conditions: [{ type: 'Odd' }] };
  const { code, json } = await api.call('PUT', `${SPACES}/x/status`, {
    body: { metadata: { name: 'x' }, status },
  });
  expect([code, json.status.conditions[0].type]).toEqual([200, 'Odd']);
});

test('a create can return a table', async () => {
  const body = { metadata: { name: 'm' } };
  const { code, json } = await api.call('POST', `${SPACES}/default/configmaps`, {
    body,
    headers: { accept: TABLE },
  });
  expect([code, json.kind, json.rows.length]).toEqual([201, 'Table', 1]);
});

test('an event of the newer group has reportingController without the deprecated source', async () => {
  const event = {
    metadata: { name: 'e' },
    eventTime: '2021-01-02T03:04:05.000006Z',
    reportingInstance: 'i',
    action: 'a',
    reason: 'r',
    type: 'Normal',
    regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
  };
  const url = `/apis/${GROUP.events}/v1/namespaces/default/events`;
  const refused = await api.call('POST', url, { body: { ...event, reportingComponent: 'example.com/c' } });
  expect([refused.code, refused.json.details.causes[0].field]).toEqual([422, 'reportingController']);
  const made = await api.call('POST', url, { body: { ...event, reportingController: 'example.com/c' } });
  expect(made.code).toBe(201);
});

test('managedFields in the older form are dropped', async () => {
  const managedFields = [
    {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'v1',
      fields: { 'f:data': {} },
      time: '2021-01-02T03:04:05Z',
    },
  ];
  const body = { metadata: { name: 'm', managedFields }, data: { a: 'b' } };
  const { code, json } = await api.call('POST', `${SPACES}/default/configmaps`, { body });
  expect(code).toBe(201);
  expect(JSON.stringify(json.metadata.managedFields)).not.toContain('"fields":');
});
