import { SECRET_TYPE } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';

/** Messages that clients show or match on. Validation causes are in testing/refusals.json. */

const HERE = 'namespaces/default';

let api: InProcessApi;
beforeAll(async () => {
  api = await startInProcessApi(undefined, { definitionsLive: false });
});
afterAll(async () => {
  await api.close();
});

/** The code and message of a refused create. */
async function createAndGetMessage(url: string, object: object): Promise<string> {
  const { code, json } = await api.call('POST', url, { body: { ...object, metadata: { name: 'x' } } });
  return `${String(code)} ${String(json.message ?? '')}`;
}

test.each([
  [
    'v1',
    'Nope',
    'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    'apps/v1',
    'ConfigMap',
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "apps/v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    'v1',
    'Secret',
    'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
  ],
  [
    'a/b/c',
    'ConfigMap',
    'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
  ],
])(
  'a create of a ConfigMap with apiVersion %s and kind %s fails with the reason',
  async (apiVersion, kind, message) => {
    const url = `/api/v1/${HERE}/configmaps`;
    expect(await createAndGetMessage(url, { apiVersion, kind })).toBe(`400 ${message}`);
  },
);

test.each([
  ['v1', 'Status', 'converting (v1.Status) to (core.ConfigMap): unknown conversion'],
  ['apps/v9', 'APIGroup', 'converting (v1.APIGroup) to (core.ConfigMap): unknown conversion'],
  ['batch/v1beta1', 'DeleteOptions', 'converting (v1.DeleteOptions) to (core.ConfigMap): unknown conversion'],
  ['v1', 'List', 'converting (v1.List) to (core.ConfigMap): unknown conversion'],
  [
    'apps/v1',
    'List',
    'no kind "List" is registered for version "apps/v1" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
  [
    'apps/v9',
    'ListOptions',
    'no kind "ListOptions" is registered for version "apps/v9" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
  ],
])(
  'the registered type %s %s without a resource is not converted to a ConfigMap',
  async (apiVersion, kind, why) => {
    const message = await createAndGetMessage(`/api/v1/${HERE}/configmaps`, { apiVersion, kind });
    expect(message).toContain(`cannot be handled as a ConfigMap: ${why}`);
  },
);

test('a wrong kind in an eviction names policy.Eviction', async () => {
  const other = { apiVersion: 'v1', kind: 'Pod' };
  expect(await createAndGetMessage(`/api/v1/${HERE}/pods/p/eviction`, other)).toBe(
    '400 Pod in version "v1" cannot be handled as a Eviction: converting (v1.Pod) to (policy.Eviction): unknown conversion',
  );
});

test('a failed uid precondition of a deletion names both uids', async () => {
  const place = `/api/v1/${HERE}/configmaps`;
  const metadata = { name: 'kept' };
  await api.call('POST', place, { body: { metadata } });
  await api.call('POST', '/api/v1/namespaces', { body: { metadata } });
  const uid = { preconditions: { uid: 'other' } };
  const getMessage = async (url: string): Promise<unknown> =>
    (await api.call('DELETE', url, { body: uid })).json.message;
  expect(await getMessage(`${place}/kept`)).toMatch(
    /^Operation cannot be fulfilled on ConfigMap "kept": the UID in the precondition \(other\) does not match the UID in record \(.+\)\. The object might have been deleted and then recreated$/,
  );
  expect(await getMessage('/api/v1/namespaces/kept')).toMatch(
    /^Operation cannot be fulfilled on namespaces "kept": Precondition failed: UID in precondition: other, UID in object meta: .+$/,
  );
});

test('an update with another uid fails with the storage error of v1.21', async () => {
  const place = `/api/v1/${HERE}/endpoints`;
  const name = 'known';
  await api.call('POST', place, { body: { metadata: { name } } });
  const body = { metadata: { name, uid: 'other' } };
  const getMessage = async (query: string): Promise<unknown> =>
    (await api.call('PUT', `${place}/${name}${query}`, { body })).json.message;
  const end =
    'services\\/endpoints\\/[a-z-]+\\/known, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: [0-9a-f-]{36}$';
  const begin =
    '^Operation cannot be fulfilled on endpoints "known": StorageError: invalid object, Code: 4, Key:';
  expect(await getMessage('')).toMatch(new RegExp(`${begin} \\/[^ ]+\\/${end}`));
  expect(await getMessage('?dryRun=All')).toMatch(new RegExp(`${begin} \\/${end}`));
});

describe('patches of the wrong form', () => {
  const url = `/api/v1/${HERE}/configmaps/patched`;
  const getMessage = async (type: string, body: unknown): Promise<unknown> =>
    (await api.call('PATCH', url, { body, headers: { 'content-type': `application/${type}-patch+json` } }))
      .json.message;
  beforeAll(async () => {
    await api.call('POST', `/api/v1/${HERE}/configmaps`, { body: { metadata: { name: 'patched' } } });
  });

  test.each([
    ['json', {}, 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['json', [5], 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
    [
      'json',
      [{ op: 'remove', path: '/data/x' }],
      'the server rejected our request due to an error in our request',
    ],
    ['strategic-merge', [], 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [
      'merge',
      [null],
      ' "" is invalid: patch: Invalid value: "[null]": couldn\'t get version/kind; json parse error: json: cannot unmarshal array into value of type TypeMeta',
    ],
  ])('a %s patch %j is refused with the message of v1.21', async (type, body, message) => {
    expect(await getMessage(type, body)).toBe(message);
  });

  test('the refusal of a wrong type names the field', async () => {
    expect(await getMessage('merge', { metadata: 5 })).toBe(
      ' "" is invalid: patch: Invalid value: "{\\"metadata\\":5}": cannot unmarshal number 5 into field metadata of type object',
    );
    expect(await getMessage('json', [{ op: 'replace', path: '/metadata/labels', value: 'x' }])).toMatch(
      /: cannot unmarshal string into field metadata.labels of type map$/,
    );
  });
});

test('the refusal of a Secret with invalid JSON does not show its content', async () => {
  const data = { '.dockerconfigjson': Buffer.from('{"auths": "hidden"').toString('base64') };
  const url = `/api/v1/${HERE}/secrets`;
  const message = await createAndGetMessage(url, { type: SECRET_TYPE.dockerConfigJson, data });
  expect(message).toMatch(/^422 .*data\[\.dockerconfigjson\]: Invalid value: "<secret contents redacted>"/);
  expect(message).not.toContain('hidden');
});

describe('an update with invalid metadata', () => {
  const wrong = {
    metadata: { labels: { '-': '' }, generateName: 'Bad_', finalizers: ['nodomain'], uid: 'other' },
  };

  test.each([
    ['configmaps', {}, ['finalizers[0]', 'generateName', 'labels', 'uid']],
    ['limitranges', { spec: { limits: [] } }, ['finalizers[0]', 'generateName', 'labels', 'uid']],
    ['resourcequotas', { spec: {} }, ['finalizers[0]', 'labels', 'uid']],
  ])('lists each field of %s once', async (resource, content, fields) => {
    const place = `/api/v1/${HERE}/${resource}`;
    await api.call('POST', place, { body: { metadata: { name: 'again' }, ...content } });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { json } = await api.call('PATCH', `${place}/again`, { body: wrong, headers });
    const { causes } = json.details as { causes: { field: string }[] };
    expect(causes.map(({ field }) => field.replace('metadata.', '')).sort()).toEqual(fields);
  });
});
