import { MEDIA_TYPE } from '../../../shared/names';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

const CMS = '/api/v1/namespaces/default/configmaps';
const OWNERS = [
  {
    manager: 'm',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2021-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:x': {} } },
  },
];

async function withApi(
  { backend = new FaultyMemoryBackend() },
  use: (api: InProcessApi) => Promise<void>,
): Promise<void> {
  const api = await startInProcessApi(backend, { serverSideApply: false });
  try {
    await use(api);
  } finally {
    await api.close();
  }
}

describe('with server-side apply switched off', () => {
  test('an applied configuration is an unsupported media type', async () => {
    await withApi({}, async (api) => {
      const headers = { 'content-type': 'application/apply-patch+yaml' };
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
      const { json } = await api.call('PATCH', `${CMS}/a?fieldManager=m`, { body, headers });
      expect(json).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
    });
  });

  test('no write tracks fields, and managedFields that a client sends are dropped', async () => {
    await withApi({}, async (api) => {
      const metadata = { name: 'a', managedFields: OWNERS };
      const created = await api.call('POST', CMS, { body: { metadata, data: { x: '1' } } });
      expect(created.code).toBe(201);
      const replaced = await api.call('PUT', `${CMS}/a`, { body: { metadata, data: { x: '2' } } });
      expect(replaced.json).toMatchObject({ data: { x: '2' } });
      const patched = await api.call('PATCH', `${CMS}/a`, { body: { metadata, data: { y: '1' } } });
      expect(patched.json).toMatchObject({ data: { x: '2', y: '1' } });
      for (const { json } of [created, replaced, patched]) {
        expect(json.metadata).not.toHaveProperty('managedFields');
      }
    });
  });

  test('existing managedFields stay until the next write, which removes them even if it changes nothing else', async () => {
    const backend = new FaultyMemoryBackend();
    const before = await startInProcessApi(backend, { serverSideApply: true });
    await before.call('POST', CMS, { body: { metadata: { name: 'a' }, data: { x: '1' } } });
    await withApi({ backend }, async (api) => {
      const read = await api.call('GET', `${CMS}/a`);
      expect(read.json.metadata.managedFields).toHaveLength(1);
      const written = await api.call('PATCH', `${CMS}/a`, { body: {} });
      expect(written.json.metadata).not.toHaveProperty('managedFields');
      expect(written.json.metadata.resourceVersion).not.toBe(read.json.metadata.resourceVersion);
      const again = await api.call('PATCH', `${CMS}/a`, { body: {} });
      expect(again.text).toBe(written.text);
    });
    await before.close();
  });

  test('a status write removes them as well', async () => {
    const backend = new FaultyMemoryBackend();
    const before = await startInProcessApi(backend, { serverSideApply: true });
    const namespace = { metadata: { name: 'n' } };
    await before.call('POST', '/api/v1/namespaces', { body: namespace });
    await withApi({ backend }, async (api) => {
      const body = { status: { conditions: [{ type: 'T', status: 'True' }] } };
      const { code, json } = await api.call('PATCH', '/api/v1/namespaces/n/status', { body });
      expect(code).toBe(200);
      expect(json.metadata).not.toHaveProperty('managedFields');
    });
    await before.close();
  });

  test('a deletion that has to wait removes them as well', async () => {
    const backend = new FaultyMemoryBackend();
    const before = await startInProcessApi(backend, { serverSideApply: true });
    const metadata = { name: 'a', finalizers: ['example.com/hold'] };
    await before.call('POST', CMS, { body: { metadata } });
    await withApi({ backend }, async (api) => {
      const { json } = await api.call('DELETE', `${CMS}/a`);
      expect(json.metadata).toHaveProperty('deletionTimestamp');
      expect(json.metadata).not.toHaveProperty('managedFields');
    });
    await before.close();
  });

  test('a scale cannot be applied, and no document lists apply', async () => {
    await withApi({}, async (api) => {
      const url = '/apis/apps/v1/namespaces/default/deployments/none/scale?fieldManager=m';
      const headers = { 'content-type': MEDIA_TYPE.applyPatch };
      expect((await api.call('PATCH', url, { body: {}, headers })).code).toBe(415);
      for (const path of ['/openapi/v2', '/openapi/v3/api/v1']) {
        const { text } = await api.call('GET', path);
        expect(text).toContain(MEDIA_TYPE.mergePatch);
        expect(text).not.toContain(MEDIA_TYPE.applyPatch);
      }
    });
  });
});
