import type { RequestOptions } from './support/client';
import { configMap } from './support/objects';
import { suiteLocalServer } from './support/suite';

const COLLECTION = '/api/v1/namespaces/default/configmaps';
const BODY_BYTES_MAX = 3 * 1024 * 1024;

interface Expected {
  readonly code: number;
  readonly reason: string;
  /** The text that the message must contain. */
  readonly message?: RegExp;
  readonly details?: object;
}

const uidOfNobody = '00000000-0000-4000-8000-000000000000';

const ROWS: readonly (readonly [string, RequestOptions, Expected])[] = [
  [
    'malformed JSON',
    { method: 'POST', path: COLLECTION, body: '{"kind": "ConfigMap", ' },
    { code: 400, reason: 'BadRequest' },
  ],
  [
    'a body that is no object',
    { method: 'POST', path: COLLECTION, body: '[]' },
    { code: 400, reason: 'BadRequest' },
  ],
  [
    'a kind that is not the path’s',
    {
      method: 'POST',
      path: COLLECTION,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other' } },
    },
    { code: 400, reason: 'BadRequest', message: /Secret/u },
  ],
  [
    'an apiVersion that is not the path’s',
    {
      method: 'POST',
      path: COLLECTION,
      body: { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'other' } },
    },
    { code: 400, reason: 'BadRequest', message: /v2/u },
  ],
  [
    'a namespace that differs from the URL',
    {
      method: 'POST',
      path: COLLECTION,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other', namespace: 'elsewhere' } },
    },
    { code: 400, reason: 'BadRequest', message: /namespace/u },
  ],
  [
    'a name that differs from the URL',
    { method: 'PUT', path: `${COLLECTION}/present`, body: configMap('other') },
    { code: 400, reason: 'BadRequest', message: /other.*present/u },
  ],
  [
    'an unknown resource',
    { method: 'POST', path: '/api/v1/namespaces/default/widgets', body: {} },
    { code: 404, reason: 'NotFound', message: /could not find the requested resource/u },
  ],
  [
    'an unknown resource of a group',
    { path: '/apis/apps/v1/namespaces/default/widgets' },
    { code: 404, reason: 'NotFound', message: /could not find the requested resource/u },
  ],
  [
    'an object that is not there',
    { method: 'DELETE', path: `${COLLECTION}/absent` },
    {
      code: 404,
      reason: 'NotFound',
      message: /^configmaps "absent" not found$/u,
      details: { name: 'absent', kind: 'configmaps' },
    },
  ],
  [
    'the wrong method on an object',
    { method: 'POST', path: `${COLLECTION}/present`, body: configMap('present') },
    { code: 405, reason: 'MethodNotAllowed' },
  ],
  [
    'the wrong method on a collection',
    { method: 'PUT', path: COLLECTION, body: configMap('present') },
    { code: 405, reason: 'MethodNotAllowed' },
  ],
  [
    'a body one byte over the limit',
    { method: 'POST', path: COLLECTION, body: paddedConfigMap(BODY_BYTES_MAX + 1) },
    { code: 413, reason: 'RequestEntityTooLarge' },
  ],
  [
    'a patch of an unknown media type',
    { method: 'PATCH', path: `${COLLECTION}/present`, body: '{}', headers: { 'content-type': 'text/plain' } },
    { code: 415, reason: 'UnsupportedMediaType' },
  ],
  [
    'a stale resourceVersion',
    {
      method: 'PUT',
      path: `${COLLECTION}/present`,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'present', resourceVersion: '1' } },
    },
    { code: 409, reason: 'Conflict', details: { name: 'present', kind: 'configmaps' } },
  ],
  [
    'the create of an existing name',
    { method: 'POST', path: COLLECTION, body: configMap('present') },
    {
      code: 409,
      reason: 'AlreadyExists',
      message: /^configmaps "present" already exists$/u,
      details: { name: 'present', kind: 'configmaps' },
    },
  ],
  [
    'a delete with a wrong uid',
    { method: 'DELETE', path: `${COLLECTION}/present`, body: { preconditions: { uid: uidOfNobody } } },
    { code: 409, reason: 'Conflict', message: new RegExp(uidOfNobody, 'u') },
  ],
];

describe('bad input', () => {
  const local = suiteLocalServer('kubernetes');

  beforeAll(async () => {
    const present = await local.replica.client.create(COLLECTION, configMap('present', { kept: 'yes' }));
    expect(present.status).toBe(201);
  });

  /** The body of the collection; it contains the object that must not change. */
  async function state(): Promise<string> {
    const text = JSON.stringify((await local.replica.client.get(COLLECTION)).body.items);
    expect(text).toContain('"kept":"yes"');
    return text;
  }

  test.each(ROWS)(
    '%s returns a Status with the reason and changes nothing',
    async (_title, request, expected) => {
      const before = await state();
      const answer = await local.replica.client.request(request);
      expect(answer.body).toMatchObject({
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        code: expected.code,
        reason: expected.reason,
        ...(expected.details === undefined ? {} : { details: expected.details }),
      });
      expect(answer.status).toBe(expected.code);
      expect(answer.headers['content-type']).toMatch(/^application\/json/u);
      expect(answer.body.message).toMatch(expected.message ?? /./u);
      expect(await state()).toBe(before);
    },
  );

  test('invalid names, labels and annotations are reported together, each with its field', async () => {
    const before = await state();
    const answer = await local.replica.client.create(COLLECTION, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'Not_A_Name',
        labels: { 'bad key!': 'ok', fine: 'not a value!' },
        annotations: { 'also bad!': '' },
      },
    });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      kind: 'Status',
      reason: 'Invalid',
      code: 422,
      details: { name: 'Not_A_Name', kind: 'ConfigMap' },
    });
    const fields = answer.body.details?.causes?.map((cause) => cause.field);
    expect(fields?.filter((field) => field === 'metadata.labels')).toHaveLength(2);
    expect(fields).toEqual(expect.arrayContaining(['metadata.name', 'metadata.annotations']));
    expect(await state()).toBe(before);
  });

  test('a body of exactly the limit is accepted', async () => {
    // The body is over the limit of its kind, which the server can find only after reading it.
    const answer = await local.replica.client.create(COLLECTION, paddedConfigMap(BODY_BYTES_MAX));
    expect(answer.body).toMatchObject({ code: 422, reason: 'Invalid', details: { name: 'padded' } });
  });

  test('the server still responds after all invalid requests', async () => {
    expect((await local.replica.client.get('/readyz')).status).toBe(200);
  });
});

/** Builds JSON of exactly `bytes` bytes. */
function paddedConfigMap(bytes: number): string {
  const empty = JSON.stringify(configMap('padded', { text: '' }));
  return JSON.stringify(configMap('padded', { text: 'x'.repeat(bytes - empty.length) }));
}
