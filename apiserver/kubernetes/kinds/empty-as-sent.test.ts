import { GROUP } from '../../../shared/names';
import { causesOf } from '../../testing/kinds/refusals';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi();
});
afterAll(async () => api.close());

/** The object, made and then replaced by itself with this change. */
async function replaced(url: string, object: object, change: object): Promise<Reply> {
  const name = 'again';
  await api.call('POST', url, { body: { metadata: { name }, ...object } });
  const { json } = await api.call('GET', `${url}/${name}`);
  const reply = await api.call('PUT', `${url}/${name}`, { body: { ...json, ...change } });
  await api.call('DELETE', `${url}/${name}`);
  return reply;
}

const POLICIES = `/apis/${GROUP.networking}/v1/namespaces/default/networkpolicies`;
const policy = { podSelector: {}, policyTypes: ['Ingress'] };

test.each([
  ['nothing', {}],
  ['null for a list', { ingress: null }],
  ['a list that a default takes the place of', { policyTypes: [] }],
  ['an empty list', { ingress: [] }],
  ['an empty map within', { podSelector: { matchLabels: {} } }],
])('%s in a NetworkPolicy is no change', async (_what, change) => {
  const { code, json } = await replaced(POLICIES, { spec: policy }, { spec: { ...policy, ...change } });
  expect([code, json.metadata.generation, json.spec]).toEqual([200, 1, policy]);
});

test('parameters of a StorageClass do not change from none to an empty map', async () => {
  const url = `/apis/${GROUP.storage}/v1/storageclasses`;
  const object = { provisioner: 'example.com/p' };
  expect((await replaced(url, object, {})).code).toBe(200);
  expect(causesOf(await replaced(url, object, { parameters: {} }))).toEqual(['Forbidden parameters']);
});

test.each(['configmaps', 'secrets'])('nor do the data of %s that are immutable', async (resource) => {
  const url = `/api/v1/namespaces/default/${resource}`;
  expect((await replaced(url, { immutable: true }, {})).code).toBe(200);
  expect(causesOf(await replaced(url, { immutable: true }, { data: {} }))).toEqual(['Forbidden data']);
  expect((await replaced(url, {}, { data: {} })).code).toBe(200);
});

test('a refusal shows an empty list or map as it was sent', async () => {
  const capacities = `/apis/${GROUP.storage}/v1beta1/namespaces/default/csistoragecapacities`;
  const capacity = { storageClassName: 'c', nodeTopology: { matchLabels: { a: 'b' } } };
  const topology = await replaced(capacities, capacity, { nodeTopology: { matchLabels: {} } });
  expect(topology.json.message).toContain(
    'v1.LabelSelector{MatchLabels:map[string]string{}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}',
  );
  const drivers = [{ name: 'a.example.com', nodeID: 'n', topologyKeys: ['k'] }];
  const change = { spec: { drivers: [{ ...drivers[0], topologyKeys: [] }] } };
  const driver = await replaced(`/apis/${GROUP.storage}/v1/csinodes`, { spec: { drivers } }, change);
  expect(driver.json.message).toContain('TopologyKeys:[]string{}, Allocatable');
  const volume = { metadata: { name: 'none' }, spec: { capacity: {}, hostPath: { path: '/a' } } };
  const empty = await api.call('POST', '/api/v1/persistentvolumes', { body: volume });
  expect(empty.json.message).toContain('Unsupported value: core.ResourceList{}: supported values');
  const bare = { ...volume, spec: { hostPath: { path: '/a' } } };
  const absent = await api.call('POST', '/api/v1/persistentvolumes', { body: bare });
  expect(absent.json.message).toContain('Unsupported value: core.ResourceList(nil): supported values');
  const ingresses = `/apis/${GROUP.networking}/v1/namespaces/default/ingresses`;
  const body = { metadata: { name: 'none' }, spec: { rules: [] } };
  const { json } = await api.call('POST', ingresses, { body });
  expect(json.message).toContain('Invalid value: []networking.IngressRule{}: either');
});

describe('a refusal shows empty selectors and labels as they were sent', () => {
  const APPS = '/apis/apps/v1/namespaces/default';
  const container = { name: 'c', image: 'i' };
  const template = (labels: object) => ({ metadata: { labels }, spec: { containers: [container] } });
  const SELECTOR =
    'v1.LabelSelector{MatchLabels:map[string]string{}, MatchExpressions:[]v1.LabelSelectorRequirement{}}';
  const selector = { matchLabels: {}, matchExpressions: [] };
  const full = { matchLabels: { a: 'b' } };

  test.each(['deployments', 'replicasets', 'daemonsets', 'statefulsets'])('of %s', async (resource) => {
    const create = async (spec: object): Promise<string> => {
      const body = { metadata: { name: 'refused' }, spec: { serviceName: 's', ...spec } };
      return (await api.call('POST', `${APPS}/${resource}`, { body })).json.message as string;
    };
    expect(await create({ selector, template: template({}) })).toContain(
      `spec.selector: Invalid value: ${SELECTOR}: empty selector is invalid for`,
    );
    expect(await create({ selector: full, template: template({}) })).toContain(
      'spec.template.metadata.labels: Invalid value: map[string]string{}: `selector` does not match',
    );
    expect(await create({ selector: full, template: { spec: { containers: [container] } } })).toContain(
      'spec.template.metadata.labels: Invalid value: map[string]string(nil): `selector` does not match',
    );
  });

  test.each([
    [`${APPS}/deployments`, {}],
    [`/apis/batch/v1/namespaces/default/jobs`, { manualSelector: true }],
  ])('of changes at %s', async (url, own) => {
    const pods = { ...template({ a: 'b' }) };
    const spec = { ...own, selector: full, template: { ...pods, spec: { ...pods.spec, ...ending(url) } } };
    const { json } = await replaced(url, { spec }, { spec: { ...spec, selector } });
    expect(json.message).toContain(`spec.selector: Invalid value: ${SELECTOR}: field is immutable`);
  });

  const ending = (url: string): object => (url.endsWith('/jobs') ? { restartPolicy: 'Never' } : {});

  test('of CronJobs', async () => {
    const jobTemplate = { spec: { selector, template: template({}) } };
    const body = { metadata: { name: 'refused' }, spec: { schedule: '@daily', jobTemplate } };
    const { json } = await api.call('POST', `/apis/batch/v1/namespaces/default/cronjobs`, { body });
    expect(json.message).toContain(
      `spec.jobTemplate.spec.selector: Invalid value: ${SELECTOR}: \`selector\` will be`,
    );
  });
});
