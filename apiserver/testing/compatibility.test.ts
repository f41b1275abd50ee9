import { readFileSync } from 'node:fs';
import path from 'node:path';
import { GROUP } from '../../shared/names';
import type { ReadonlyJson } from '../../shared/object/json';
import { patience } from '../../shared/testing/eventually';
import { define, definitionBody, DEFINITIONS_PATH, gizmo, GIZMOS_PATH } from './custom-resources/definitions';
import type { InProcessApi, Reply } from './in-process-api';
import { startInProcessApi } from './in-process-api';

/**
 * Every row of the first table of `apiserver/docs/compatibility.md` has a probe here, which passes as long as the listed difference from
 * kube-apiserver v1.21.1 exists. A probe that fails means: remove the row, or repair a regression.
 */

const PAGE = path.join(__dirname, '../docs/compatibility.md');
const CORE = '/api/v1';
const DEFAULT = `${CORE}/namespaces/default`;
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };
const MERGE = { 'content-type': 'application/merge-patch+json' };
const TEMPLATE = {
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'example.com/i:1' }] },
};

let api: InProcessApi;

beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

const PROBES: Readonly<Record<string, () => Promise<void>>> = {
  'create-with-resource-version': async () => {
    const body = { metadata: { name: 'm', resourceVersion: '1' } };
    expect((await api.call('POST', `${DEFAULT}/configmaps`, { body })).code).toBe(400);
  },
  'create-wipes-system-metadata': async () => {
    const body = { metadata: { name: 'm', deletionTimestamp: '2020-01-01T00:00:00Z' }, data: { a: 'b' } };
    const { json } = await api.call('POST', `${DEFAULT}/configmaps`, { body });
    expect(JSON.stringify(json.metadata.managedFields)).not.toContain('f:deletionTimestamp');
  },
  'operation-identity': async () => {
    const body = { metadata: { name: 'p', namespace: 'other' }, target: { name: 'n' } };
    expect((await api.call('POST', `${DEFAULT}/pods/p/binding`, { body })).code).toBe(400);
  },
  'dry-run-without-version': async () => {
    const body = { metadata: { name: 'm' } };
    const { code, json } = await api.call('POST', `${DEFAULT}/configmaps?dryRun=All`, { body });
    expect([code, 'resourceVersion' in json.metadata]).toEqual([201, false]);
  },
  'field-validation': async () => {
    const body = { metadata: { name: 'm' }, dta: { a: 'b' } };
    const strict = await api.call('POST', `${DEFAULT}/configmaps?fieldValidation=Strict`, { body });
    expect(strict.code).toBe(400);
    expect(strict.json.message).toContain('unknown field "dta"');
    expect((await api.call('POST', `${DEFAULT}/configmaps`, { body })).code).toBe(201);
  },
  'put-service': async () => {
    const put = async (port: number, meta: object = {}): Promise<Reply> =>
      api.call('PUT', `${DEFAULT}/services/s`, {
        body: { metadata: { name: 's', ...meta }, spec: { type: 'NodePort', ports: [{ port }] } },
      });
    const made = await put(80);
    const replaced = await put(81);
    expect([made.code, replaced.code, (await put(82, { uid: 'other' })).code]).toEqual([201, 200, 409]);
    const { clusterIP, clusterIPs, ports } = made.json.spec;
    expect(clusterIP).toMatch(/^10\./);
    expect(replaced.json.spec).toMatchObject({
      clusterIP,
      clusterIPs,
      ports: [{ port: 81, nodePort: ports[0].nodePort }],
    });
  },
  'service-keeps-family-policy': async () => {
    const body = {
      metadata: { name: 'f' },
      spec: { ipFamilyPolicy: 'PreferDualStack', ports: [{ port: 80 }] },
    };
    await api.call('POST', `${DEFAULT}/services`, { body });
    const { json } = await api.call('PATCH', `${DEFAULT}/services/f`, {
      body: { spec: { ipFamilyPolicy: null } },
    });
    expect(json.spec.ipFamilyPolicy).toBe('PreferDualStack');
  },
  'path-not-utf8': async () => {
    expect((await api.call('GET', `${DEFAULT}/configmaps/%ff`)).code).toBe(400);
  },
  'create-in-empty-namespace': async () => {
    const body = { metadata: { name: 'm' } };
    const made = await api.call('POST', `${CORE}/namespaces//configmaps`, { body });
    const deleted = await api.call('DELETE', `${CORE}/namespaces//configmaps`);
    expect([made.code >= 400, deleted.code >= 400]).toEqual([true, true]);
  },
  'logs-path': async () => {
    expect((await api.call('GET', '/logs')).code).toBe(404);
  },
  'debug-flags-path': async () => {
    expect((await api.call('PUT', '/debug/flags/v')).code).toBe(404);
  },
  'yaml-documents': async () => {
    const text = 'metadata: {name: a}\n---\nmetadata: {name: b}\n';
    const headers = { 'content-type': 'application/yaml' };
    expect((await api.call('POST', `${DEFAULT}/configmaps`, { text, headers })).code).toBe(400);
  },
  'openapi-default-type': async () => {
    const { code, headers } = await api.call('GET', '/openapi/v2');
    expect([code, headers['Content-Type']]).toEqual([200, 'application/json']);
  },
  'strategic-missing-merge-key': async () => {
    const body = { metadata: { name: 'p' }, spec: TEMPLATE.spec };
    await api.call('POST', `${DEFAULT}/pods`, { body });
    const { code } = await api.call('PATCH', `${DEFAULT}/pods/p`, {
      body: { spec: { containers: [{ image: 'example.com/i:2' }] } },
      headers: STRATEGIC,
    });
    expect(code).toBe(422);
  },
  'strategic-delete-in-absent-list': async () => {
    const made = await api.call('POST', `${DEFAULT}/pods`, {
      body: { metadata: { name: 'p' }, spec: TEMPLATE.spec },
    });
    const body = { metadata: { ownerReferences: [{ uid: 'u', $patch: 'delete' }] } };
    const { code, json } = await api.call('PATCH', `${DEFAULT}/pods/p`, { body, headers: STRATEGIC });
    expect([code, json.metadata.resourceVersion]).toEqual([200, made.json.metadata.resourceVersion]);
  },
  'strategic-null-in-absent-map': async () => {
    const body = { metadata: { name: 's' }, stringData: { a: '1', b: '2' } };
    const { json: made } = await api.call('POST', `${DEFAULT}/secrets`, { body });
    const patch = { stringData: { b: null }, metadata: { labels: { $patch: 'replace', l: 'x' } } };
    const { json } = await api.call('PATCH', `${DEFAULT}/secrets/s`, { body: patch, headers: STRATEGIC });
    expect([json.data, json.metadata.labels]).toEqual([made.data, undefined]);
  },
  'subresource-owners': async () => {
    const tracking = await startInProcessApi(undefined, { subresourceOwners: true });
    const url = '/apis/apps/v1/namespaces/default/deployments';
    const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } } } };
    const template = { ...spec.template, spec: { containers: TEMPLATE.spec.containers } };
    await tracking.call('POST', url, { body: { metadata: { name: 'd' }, spec: { ...spec, template } } });
    await tracking.call('PATCH', `${url}/d/scale?fieldManager=m`, { body: { spec: { replicas: 2 } } });
    const { json } = await tracking.call('GET', `${url}/d`);
    await tracking.close();
    expect(json.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'm', subresource: 'scale' }),
    );
  },
  'apply-that-changes-nothing': async () => {
    const config = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm', creationTimestamp: null } };
    const apply = async (): Promise<string> =>
      (await api.call('PATCH', `${DEFAULT}/configmaps/m?fieldManager=a`, { body: config, headers: APPLY }))
        .text;
    const first = await apply();
    const later = Date.now() + 5_000;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => later);
    const again = await apply().finally(() => {
      clock.mockRestore();
    });
    expect(again).toBe(first);
  },
  'empty-list-sent-again': async () => {
    const url = `/apis/${GROUP.networking}/v1/namespaces/default/networkpolicies`;
    const body = {
      metadata: { name: 'p' },
      spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [] },
    };
    const { json: made } = await api.call('POST', url, { body });
    expect((await api.call('PUT', `${url}/p`, { body })).json.metadata).toEqual(made.metadata);
  },
  'list-items-of-one-key': async () => {
    const env = [{ name: 'A' }, { name: 'A', value: 'x' }];
    const spec = { ...TEMPLATE.spec, containers: [{ name: 'c', image: 'i', env }] };
    await api.call('POST', `${DEFAULT}/pods`, { body: { metadata: { name: 'p' }, spec } });
    const config = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', labels: { a: 'b' } } };
    const { code, json } = await api.call('PATCH', `${DEFAULT}/pods/p?fieldManager=a`, {
      body: config,
      headers: APPLY,
    });
    expect([code, json.metadata.managedFields.length]).toEqual([200, 2]);
  },
  'custom-status-other-kind': async () => {
    const subresources = { status: {} };
    await define(api, definitionBody({ versions: [{ name: 'v1', subresources }] }));
    await api.call('POST', GIZMOS_PATH, { body: gizmo('g') });
    const body = { kind: 'Other', status: { a: 1 } };
    expect((await api.call('PATCH', `${GIZMOS_PATH}/g/status`, { body, headers: MERGE })).code).toBe(422);
  },
  'job-labels-on-create': async () => {
    const jobs = `/apis/${GROUP.batch}/v1/namespaces/default/jobs`;
    await api.call('POST', jobs, { body: { metadata: { name: 'j' }, spec: { template: TEMPLATE } } });
    expect(await storedText('batch/jobs/default/j')).toContain('job-name');
  },
  'volume-phase-on-create': async () => {
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/v' } };
    await api.call('POST', `${CORE}/persistentvolumes`, { body: { metadata: { name: 'v' }, spec } });
    expect(await storedText('core/persistentvolumes/v')).toContain('Pending');
  },
  'enum-null': async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', nullable: true, enum: ['x', null] } },
    };
    const { code, json } = await createDefinition(schema);
    const kept = json.spec.versions[0].schema.openAPIV3Schema.properties.a.enum;
    expect([code, kept]).toEqual([201, ['x', null]]);
  },
  'number-formats': async () => {
    const properties = {
      float: { type: 'number', format: 'float' },
      int32: { type: 'integer', format: 'int32' },
      name: { type: 'string', format: 'k8s-short-name' },
    };
    expect(await refusedValues(properties, { float: 3.5e38, int32: 2 ** 31, name: 'A' })).toBe(3);
  },
  'decimal-numbers': async () => {
    const properties = {
      bound: { type: 'number', minimum: 0.5 },
      multiple: { type: 'number', multipleOf: 0.1 },
      whole: { type: 'integer' },
    };
    expect(await refusedValues(properties, { bound: 0, multiple: 1e9 + 0.05, whole: 1.0000000001 })).toBe(3);
  },
  'grace-beyond-number': async () => {
    await api.call('POST', `${DEFAULT}/pods`, {
      body: { metadata: { name: 'p' }, spec: { ...TEMPLATE.spec, nodeName: 'n' } },
    });
    const text = '{"gracePeriodSeconds":9223372036854775807}';
    const headers = { 'content-type': 'application/json' };
    const { json } = await api.call('DELETE', `${DEFAULT}/pods/p`, { text, headers });
    expect(json.metadata?.deletionGracePeriodSeconds).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
  },
  'repeated-keys': async () => {
    const text = '{"metadata":{"name":"m"},"data":{"a":"1"},"data":{"b":"2"}}';
    const headers = { 'content-type': 'application/json' };
    const { json } = await api.call('POST', `${DEFAULT}/configmaps`, { text, headers });
    expect(json.data).toEqual({ b: '2' });
  },
  'micro-time-digits': async () => {
    const leases = `/apis/${GROUP.coordination}/v1/namespaces/default/leases`;
    const spec = { acquireTime: '2026-11-28T05:06:07.123Z', renewTime: '2026-11-28T05:06:07Z' };
    const { json } = await api.call('POST', leases, { body: { metadata: { name: 'l' }, spec } });
    expect(json.spec).toMatchObject({
      acquireTime: '2026-11-28T05:06:07.123000Z',
      renewTime: '2026-11-28T05:06:07.000000Z',
    });
    const text = 'spec: {renewTime: 2026-11-28T05:06:07.123456789Z}';
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const config = `apiVersion: ${GROUP.coordination}/v1\nkind: Lease\n${text}`;
    const applied = await api.call('PATCH', `${leases}/l?fieldManager=m&force=1`, { text: config, headers });
    expect(applied.json.spec.renewTime).toBe('2026-11-28T05:06:07.123456Z');
  },
};

async function createDefinition(schema: ReadonlyJson): ReturnType<InProcessApi['call']> {
  return api.call('POST', DEFINITIONS_PATH, { body: definitionBody({ versions: [{ name: 'v1', schema }] }) });
}

/** Returns how many values of a custom object are refused. */
async function refusedValues(properties: ReadonlyJson, values: object): Promise<number> {
  await define(api, definitionBody({ versions: [{ name: 'v1', schema: { type: 'object', properties } }] }));
  const { json } = await api.call('POST', GIZMOS_PATH, { body: gizmo('g', values) });
  return json.details.causes.length as number;
}

async function storedText(key: string): Promise<string> {
  const { record } = await api.backend.get(`/registry/${key}`, patience());
  return record === undefined ? '' : Buffer.from(record.value).toString();
}

test('every row of the compatibility page has a probe, and every probe a row', () => {
  const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| `([a-z0-9-]+)` /gmu)].map(([, row = '']) => row);
  expect([...rows].sort()).toEqual(Object.keys(PROBES).sort());
});

test.each(Object.entries(PROBES))('the listed difference %s still exists', async (_row, probe) => {
  await expect(probe()).resolves.toBeUndefined();
});
