import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { GIZMOS_PATH, define, definitionBody, gizmo } from '../../testing/custom-resources/definitions';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

/** What is expected here was seen of kube-apiserver 1.21.1 with `--feature-gates=RemoveSelfLink=false`. */

const CMS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const TABLE = { accept: `application/json;as=Table;g=${GROUP.meta};v=v1` };
const PARTIAL = { accept: `application/json;as=PartialObjectMetadata;g=${GROUP.meta};v=v1` };
const PARTIAL_LIST = { accept: `application/json;as=PartialObjectMetadataList;g=${GROUP.meta};v=v1` };
const SCALE = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

let api: InProcessApi;

afterEach(async () => {
  await api.close();
});

describe('with links', () => {
  beforeEach(async () => {
    api = await startInProcessApi(undefined, { features: { selfLinks: true } });
  });

  const get = async (url: string, headers = {}) => (await api.call('GET', url, { headers })).json;
  const createMap = async (name: string) => api.call('POST', CMS, { body: { metadata: { name } } });

  test('an object has the link of the request path, whatever was sent', async () => {
    const made = await api.call('POST', CMS, { body: { metadata: { name: 'a', selfLink: '/mine' } } });
    expect([made.code, made.json.metadata.selfLink]).toEqual([201, `${CMS}/a`]);
    expect((await get(`${CMS}/a`)).metadata.selfLink).toBe(`${CMS}/a`);
    const body = { metadata: { name: 'a', selfLink: '/mine', labels: { own: 'yes' } } };
    for (const query of ['', '?dryRun=All']) {
      const put = await api.call('PUT', `${CMS}/a${query}`, { body });
      expect([put.code, put.json.metadata.selfLink]).toEqual([200, `${CMS}/a`]);
      expect(put.text.match(/selfLink/g)).toHaveLength(1);
    }
    const patched = await api.call('PATCH', `${CMS}/a`, { body: { data: { k: 'v' } } });
    expect(patched.json.metadata.selfLink).toBe(`${CMS}/a`);
    expect((await api.call('DELETE', `${CMS}/a`)).text).not.toContain('selfLink');
  });

  test('the name of a cluster-scoped object is query-escaped', async () => {
    const roles = `/apis/${GROUP.rbac}/v1/clusterroles`;
    const made = await api.call('POST', roles, { body: { metadata: { name: 'system:a (b)' } } });
    expect(made.json.metadata.selfLink).toBe(`${roles}/system%3Aa+%28b%29`);
    const own = `/apis/${GROUP.rbac}/v1/namespaces/default/roles`;
    const role = await api.call('POST', own, { body: { metadata: { name: 'system:a (b)' } } });
    expect(role.json.metadata.selfLink).toBe(`${own}/system:a%20%28b%29`);
    const namespace = await get('/api/v1/namespaces/default');
    expect(namespace.metadata.selfLink).toBe('/api/v1/namespaces/default');
  });

  test('a list has the link of the request path, and its items their own', async () => {
    await createMap('a');
    const { metadata, items } = await get('/api/v1/configmaps?limit=500');
    expect(metadata.selfLink).toBe('/api/v1/configmaps');
    expect(items[0].metadata.selfLink).toBe(`${CMS}/a`);
    const deleted = await api.call('DELETE', CMS);
    expect(deleted.json.metadata.selfLink).toBe(CMS);
    expect(deleted.json.items[0].metadata.selfLink).toBe(`${CMS}/a`);
    expect((await get(CMS)).metadata.selfLink).toBe(CMS);
  });

  test('another version of an object has a link of that version', async () => {
    const link = (version: string): string =>
      `/apis/policy/${version}/namespaces/default/poddisruptionbudgets`;
    await api.call('POST', link('v1'), { body: { metadata: { name: 'b' }, spec: { maxUnavailable: 1 } } });
    for (const version of ['v1', 'v1beta1', 'v1']) {
      expect((await get(`${link(version)}/b`)).metadata.selfLink).toBe(`${link(version)}/b`);
      expect((await get(link(version))).items[0].metadata.selfLink).toBe(`${link(version)}/b`);
    }
  });

  test('the link of a subresource or a view includes the subresource', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template };
    await api.call('POST', DEPLOYMENTS, { body: { metadata: { name: 'd' }, spec } });
    for (const subresource of ['scale', 'status']) {
      const path = `${DEPLOYMENTS}/d/${subresource}`;
      expect((await get(path)).metadata.selfLink).toBe(path);
      expect((await api.call('PATCH', path, { body: {} })).json.metadata.selfLink).toBe(path);
    }
    expect((await get(`${DEPLOYMENTS}/d`)).metadata.selfLink).toBe(`${DEPLOYMENTS}/d`);
  });

  test('metadata alone, tables and YAML have them too', async () => {
    await createMap('a');
    expect((await get(`${CMS}/a`, PARTIAL)).metadata.selfLink).toBe(`${CMS}/a`);
    const list = await get('/api/v1/configmaps', PARTIAL_LIST);
    expect([list.metadata.selfLink, list.items[0].metadata.selfLink]).toEqual([
      '/api/v1/configmaps',
      `${CMS}/a`,
    ]);
    for (const [path, own] of [
      [`${CMS}/a`, `${CMS}/a`],
      ['/api/v1/configmaps', '/api/v1/configmaps'],
    ] as const) {
      const table = await get(path, TABLE);
      expect([table.metadata.selfLink, table.rows[0].object.metadata.selfLink]).toEqual([own, `${CMS}/a`]);
    }
    const yaml = await api.call('GET', `${CMS}/a`, { headers: { accept: MEDIA_TYPE.yaml } });
    expect(yaml.text).toContain(`selfLink: ${CMS}/a\n`);
  });

  test('Protobuf has them as well', async () => {
    await createMap('a');
    const { text } = await api.call('GET', `${CMS}/a`, { headers: { accept: MEDIA_TYPE.protobuf } });
    expect(text).toContain(`${CMS}/a`);
    const list = await api.call('GET', '/api/v1/configmaps', { headers: { accept: MEDIA_TYPE.protobuf } });
    expect(list.text).toContain('/api/v1/configmaps');
    expect(list.text).toContain(`${CMS}/a`);
  });

  test('events of a watch show objects with their links', async () => {
    await createMap('a');
    const stop = new AbortController();
    for await (const { object } of api.watch(`/api/v1/watch/configmaps`, stop.signal)) {
      expect(object).toMatchObject({ metadata: { selfLink: `${CMS}/a` } });
      break;
    }
    stop.abort();
  });

  test('a token request has the link of its path', async () => {
    const account = '/api/v1/namespaces/default/serviceaccounts';
    await api.call('POST', account, { body: { metadata: { name: 'robot' } } });
    const token = await api.call('POST', `${account}/robot/token`, { body: { spec: { audiences: ['a'] } } });
    expect([token.code, token.json.metadata.selfLink]).toEqual([201, `${account}/robot/token`]);
    const review = { spec: { resourceAttributes: { verb: 'get' } } };
    const asked = await api.call('POST', `/apis/${GROUP.authorization}/v1/selfsubjectaccessreviews`, {
      body: review,
    });
    expect([asked.code, 'selfLink' in asked.json.metadata]).toEqual([201, false]);
  });

  test('custom resources have them as others do', async () => {
    await define(
      api,
      definitionBody({
        versions: [
          { name: 'v1', storage: true, subresources: { status: {}, scale: SCALE } },
          { name: 'v2', storage: false },
        ],
      }),
    );
    const made = await api.call('POST', GIZMOS_PATH, { body: gizmo('g', { spec: { replicas: 1 } }) });
    expect(made.json.metadata.selfLink).toBe(`${GIZMOS_PATH}/g`);
    for (const path of [`${GIZMOS_PATH}/g/scale`, `${GIZMOS_PATH}/g/status`, GIZMOS_PATH]) {
      expect((await get(path)).metadata.selfLink).toBe(path);
    }
    const other = GIZMOS_PATH.replace('v1', 'v2');
    expect((await get(`${other}/g`)).metadata.selfLink).toBe(`${other}/g`);
  });

  test('links are not stored', async () => {
    await createMap('a');
    await get(`${CMS}/a`);
    const page = await api.backend.list('/', {}, new AbortController().signal);
    expect(page.records.some(({ value }) => value.toString('latin1').includes('selfLink'))).toBe(false);
  });
});

test('by default there are no links', async () => {
  api = await startInProcessApi();
  await api.call('POST', CMS, { body: { metadata: { name: 'a', selfLink: '/mine' } } });
  for (const url of [CMS, `${CMS}/a`, '/api/v1/namespaces']) {
    expect((await api.call('GET', url)).text).not.toContain('selfLink');
  }
});
