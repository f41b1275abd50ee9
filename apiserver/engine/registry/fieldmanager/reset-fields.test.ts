import { GROUP } from '../../../../shared/names';
import { resourceOf } from '../../../../shared/api/resources';
import { messageType } from '../../../../shared/schema/types';
import { ManagedObject } from './testing/managed-object';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { minimalObject } from '../../../testing/minimal-objects';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

const FLOWS = `/apis/${GROUP.flowcontrol}/v1beta1/flowschemas`;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const PODS = '/api/v1/namespaces/default/pods';

function fieldsOf({ json }: Reply, manager: string): unknown {
  const entries: readonly { manager: string; fieldsV1: unknown }[] = json.metadata.managedFields ?? [];
  return entries.find((entry) => entry.manager === manager)?.fieldsV1;
}

const meta = { labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences: [] };
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = { selector: { matchLabels: { a: 'b' } }, template };
const flow = { matchingPrecedence: 9000, priorityLevelConfiguration: { name: 'catch-all' } };

test.each([
  ['a FlowSchema’s, no metadata', FLOWS, { spec: flow }, undefined],
  [
    'a Deployment’s, no labels',
    DEPLOYMENTS,
    { spec: deployment },
    { 'f:metadata': { 'f:annotations': { '.': {}, 'f:c': {} } } },
  ],
  [
    'a Pod’s, labels as well',
    PODS,
    { spec: template.spec },
    { 'f:metadata': { 'f:annotations': { '.': {}, 'f:c': {} }, 'f:labels': { '.': {}, 'f:a': {} } } },
  ],
])('a write to a status changes and owns: %s', async (_what, path, object, owned) => {
  const created = await api.call('POST', path, { body: { metadata: { name: 'o' }, ...object } });
  expect(created.code).toBe(201);
  const patched = await api.call('PATCH', `${path}/o/status?fieldManager=s`, { body: { metadata: meta } });
  expect([patched.code, fieldsOf(patched, 's')]).toEqual([200, owned]);
});

test('reset fields have no owner', () => {
  const request = messageType('certificates/v1.CertificateSigningRequest');
  const object = new ManagedObject(request, `${GROUP.certificates}/v1`, {
    hasStatus: true,
    resets: ['spec', 'status.certificate'],
  });
  object.apply('one', { metadata: { labels: { a: 'b' } }, spec: { usages: ['any'] }, status: {} });
  expect(object.owners).toEqual({ 'Apply one': { 'f:metadata': { 'f:labels': { 'f:a': {} } } } });
});

test('an apply of reset fields alone is no change', async () => {
  const path = `/apis/${GROUP.certificates}/v1/certificatesigningrequests`;
  const row = resourceOf({ group: GROUP.certificates, version: 'v1' }, 'certificatesigningrequests');
  const least = row && minimalObject(row, '');
  const created = await api.call('POST', path, { body: { ...least, metadata: { name: 'odd' } } });
  expect(created.code).toBe(201);
  const apply = async (status: object): Promise<Reply> =>
    api.call('PATCH', `${path}/odd/status?fieldManager=a&force=true`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: {
        apiVersion: `${GROUP.certificates}/v1`,
        kind: 'CertificateSigningRequest',
        metadata: { name: 'odd' },
        status,
      },
    });
  const version = created.json.metadata.resourceVersion;
  const odd = await apply({ conditions: [{ type: 'Other', status: 'perhaps' }] });
  expect([odd.code, odd.json.metadata.resourceVersion, odd.json.status]).toEqual([200, version, {}]);
  const more = await apply({ conditions: [{ type: 'Other', status: 'perhaps' }], certificate: 'YQ==' });
  expect(more.code).toBe(422);
});

describe('the types of reset fields in an apply', () => {
  const apply = async (path: string, body: object): Promise<Reply> =>
    api.call('PATCH', `${path}?fieldManager=types`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body,
    });
  const base = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'types' }, spec: deployment };
  const NODE = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'types' } };
  const heartbeat = (lastHeartbeatTime: unknown): object => ({
    conditions: [{ type: 'A', lastHeartbeatTime }],
  });

  test.each([
    [
      'a text for a number',
      { replicas: 'x' },
      /status\.replicas: expected numeric \(int or float\), got string/,
    ],
    [
      'a number for a text',
      { conditions: [{ type: 'A', status: 5 }] },
      /status: expected string, got number/,
    ],
    ['a number for a list', { conditions: 5 }, /status\.conditions: expected a list/],
  ])('%s in the status of a Deployment', async (_what, status, message) => {
    await apply(`${DEPLOYMENTS}/types`, base);
    const { code, json } = await apply(`${DEPLOYMENTS}/types`, { ...base, status });
    expect([code, json.message]).toEqual([400, expect.stringMatching(message)]);
  });

  test.each([
    ['an odd time', heartbeat('zz'), 200],
    ['an odd amount', { capacity: { cpu: 'zz' } }, 200],
    ['a list for a text', { phase: [] }, 400],
    ['a fraction', { daemonEndpoints: { kubeletEndpoint: { Port: 1.5 } } }, 200],
    ['a large number', { daemonEndpoints: { kubeletEndpoint: { Port: 2 ** 40 } } }, 200],
  ])('%s in the status of a Node', async (_what, status, code) => {
    await apply('/api/v1/nodes/types', NODE);
    expect((await apply('/api/v1/nodes/types', { ...NODE, status })).code).toBe(code);
  });

  test('the spec of a certificate request is type-checked, although it never changes', async () => {
    const path = `/apis/${GROUP.certificates}/v1/certificatesigningrequests`;
    const row = resourceOf({ group: GROUP.certificates, version: 'v1' }, 'certificatesigningrequests');
    const least: object = row === undefined ? {} : minimalObject(row, '');
    const request = { ...least, metadata: { name: 'types' }, spec: { usages: ['any'] } };
    await api.call('POST', path, { body: { ...least, metadata: { name: 'types' } } });
    const codeOf = async (spec: object): Promise<number> =>
      (await apply(`${path}/types`, { ...request, spec })).code;
    expect(await codeOf({ request: '!!!' })).toBe(200);
    expect(await codeOf({ request: 5 })).toBe(400);
    expect(await codeOf({ extra: { a: { items: ['x'] } } })).toBe(400);
  });
});
