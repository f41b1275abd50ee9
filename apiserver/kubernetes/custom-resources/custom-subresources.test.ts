import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import {
  define,
  definitionBody,
  GIZMOS_PATH as PATH,
  gizmo,
} from '../../testing/custom-resources/definitions';

let api: InProcessApi;
beforeEach(async () => {
  api = await startInProcessApi();
});
afterEach(async () => {
  await api.close();
});

const SCALE = {
  specReplicasPath: '.spec.count',
  statusReplicasPath: '.status.count',
  labelSelectorPath: '.status.select',
};
const STATUS_SCHEMA = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    status: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { seen: { type: 'integer' } },
    },
  },
};

const create = async (rest: object): Promise<Reply> => api.call('POST', PATH, { body: gizmo('a', rest) });
const patch = async (place: string, body: object): Promise<Reply> =>
  api.call('PATCH', `${PATH}/a${place}`, { body });

describe('the status', () => {
  test('without the subresource is an ordinary field that increments the generation', async () => {
    await define(api, definitionBody());
    expect((await create({ status: { x: 1 } })).json.status).toEqual({ x: 1 });
    const changed = await patch('', { status: { x: 2 } });
    expect([changed.json.status, changed.json.metadata.generation]).toEqual([{ x: 2 }, 2]);
    const labelled = await patch('', { metadata: { labels: { l: '1' } } });
    expect(labelled.json.metadata.generation).toBe(2);
  });

  test('with the subresource changes only through it, and the subresource changes nothing else', async () => {
    await define(
      api,
      definitionBody({ versions: [{ name: 'v1', schema: STATUS_SCHEMA, subresources: { status: {} } }] }),
    );
    expect((await create({ spec: 1, status: { seen: 1 } })).json.status).toBeUndefined();
    expect((await patch('', { status: { seen: 1 } })).json.status).toBeUndefined();
    const body = { metadata: { labels: { l: '1' }, finalizers: ['f'] }, spec: 2, status: { seen: 1 } };
    const { json } = await patch('/status', body);
    expect([json.status, json.spec, json.metadata.generation]).toEqual([{ seen: 1 }, 1, 1]);
    expect([json.metadata.labels, json.metadata.finalizers]).toEqual([undefined, undefined]);
    expect((await patch('', { spec: 2 })).json).toMatchObject({
      status: { seen: 1 },
      metadata: { generation: 2 },
    });
    const owners = json.metadata.managedFields.map(({ fieldsV1 }: { fieldsV1: object }) =>
      Object.keys(fieldsV1),
    );
    // As in v1.21, the writer also owns metadata that the write could not change.
    expect(owners).toContainEqual(['f:metadata', 'f:spec', 'f:status']);
    expect((await api.call('GET', `${PATH}/a/status`)).json.status).toEqual({ seen: 1 });
  });

  test('keeps its field owner in one version until a write in another version sets it', async () => {
    const part = { schema: STATUS_SCHEMA, subresources: { status: {} } };
    await define(
      api,
      definitionBody({
        versions: [
          { name: 'v1', ...part },
          { name: 'v2', ...part },
        ],
      }),
    );
    await create({ spec: 1 });
    const written = await patch('/status', { status: { seen: 1 } });
    const other = `${PATH.replace('v1', 'v2')}/a`;
    const labelled = await api.call('PATCH', other, {
      body: { metadata: { labels: { l: '1' } }, status: { seen: 1 } },
    });
    const named = await api.call('PATCH', other, { body: { status: { seen: 2 } } });
    const ownsSeen = ({ json }: Reply): boolean => JSON.stringify(json.metadata).includes('f:seen');
    expect([written, labelled, named].map(ownsSeen)).toEqual([true, true, false]);
    expect(named.json.status).toEqual({ seen: 1 });
  });

  test('is validated with the whole object, by the schema of the requested version', async () => {
    const schema = { ...STATUS_SCHEMA, required: ['spec'] };
    const lax = [
      { name: 'v1', schema: STATUS_SCHEMA, subresources: { status: {} } },
      { name: 'v2', storage: false, schema, subresources: { status: {} } },
    ];
    await define(api, definitionBody({ versions: lax }));
    await create({});
    const path = `${PATH.replace('v1', 'v2')}/a/status`;
    const fieldsRefused = async (seen: unknown): Promise<readonly string[]> => {
      const { json } = await api.call('PATCH', path, { body: { status: { seen } } });
      return json.details.causes.map(({ field }: { readonly field: string }) => field).toSorted();
    };
    // The object lacks a field that this version requires.
    expect(await fieldsRefused(3)).toEqual(['spec']);
    expect(await fieldsRefused('x')).toEqual(['spec', 'status.seen']);
  });

  test('is read through a path with further segments', async () => {
    await define(
      api,
      definitionBody({ versions: [{ name: 'v1', schema: STATUS_SCHEMA, subresources: { status: {} } }] }),
    );
    await create({});
    const { code, json } = await api.call('GET', `${PATH}/a/status/more`);
    expect([code, json.metadata.name]).toEqual([200, 'a']);
  });
});

describe('the scale', () => {
  const scaled = async (rest: object): Promise<void> => {
    await define(
      api,
      definitionBody({ versions: [{ name: 'v1', subresources: { status: {}, scale: SCALE } }] }),
    );
    await create(rest);
  };

  test('shows the values at the paths of the definition', async () => {
    await scaled({ spec: { count: 2 } });
    await patch('/status', { status: { count: 1, select: 'a=b' } });
    expect((await api.call('GET', `${PATH}/a/scale`)).json).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: 'default' },
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'a=b' },
    });
  });

  test('updates the replicas as a change of the object, by the validation of the object', async () => {
    await scaled({ spec: { count: 2, other: 1 } });
    const body = {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: 'default' },
      spec: { replicas: 5 },
    };
    expect((await api.call('PUT', `${PATH}/a/scale`, { body })).json.spec).toEqual({ replicas: 5 });
    const { json } = await api.call('GET', `${PATH}/a`);
    expect([json.spec, json.metadata.generation]).toEqual([{ count: 5, other: 1 }, 2]);
    const refused = await patch('/scale', { spec: { replicas: -1 } });
    expect([refused.code, refused.json.details.kind, refused.json.details.causes]).toEqual([
      422,
      'Gizmo',
      [
        {
          reason: 'FieldValueInvalid',
          field: '.spec.count',
          message: 'Invalid value: -1: should be a non-negative integer',
        },
      ],
    ]);
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    const merged = await api.call('PATCH', `${PATH}/a/scale`, { body: { spec: { replicas: 4 } }, headers });
    expect(merged.code).toBe(415);
    const mute = { ...headers, accept: 'text/html' };
    expect((await api.call('PATCH', `${PATH}/a/scale`, { body: {}, headers: mute })).code).toBe(415);
    const metadata = { name: 'a', resourceVersion: '1' };
    expect((await api.call('PUT', `${PATH}/a/scale`, { body: { ...body, metadata } })).code).toBe(409);
  });

  test('of an object without replicas cannot be read, but a patch can set the replicas', async () => {
    await scaled({});
    const { code, json } = await api.call('GET', `${PATH}/a/scale`);
    expect([code, json.message]).toEqual([
      500,
      'Internal error occurred: the spec replicas field ".spec.count" does not exist',
    ]);
    const silent = await patch('/scale', { metadata: { labels: { a: 'b' } } });
    expect([silent.code, silent.json.message]).toEqual([
      400,
      'the spec replicas field ".spec.count" cannot be empty',
    ]);
    expect((await patch('/scale', { spec: { replicas: 3 } })).json.spec).toEqual({ replicas: 3 });
    expect((await api.call('GET', `${PATH}/b/scale`)).json.message).toBe('gizmos.example.com "b" not found');
  });

  test('checks the uid on replace, and ignores it on patch', async () => {
    await scaled({ spec: { count: 1 } });
    const metadata = { name: 'a', namespace: 'default', uid: 'other' };
    const replaced = await api.call('PUT', `${PATH}/a/scale`, { body: { metadata, spec: { replicas: 2 } } });
    expect([replaced.code, replaced.json.message]).toEqual([
      409,
      expect.stringContaining('UID in precondition: other'),
    ]);
    const patched = await patch('/scale', { metadata: { uid: 'other' }, spec: { replicas: 3 } });
    expect([patched.code, patched.json.spec]).toEqual([200, { replicas: 3 }]);
  });

  test('accepts a patch without apiVersion, and rejects another kind', async () => {
    await scaled({ spec: { count: 1 } });
    expect((await patch('/scale', { apiVersion: null, spec: { replicas: 2 } })).json.spec).toEqual({
      replicas: 2,
    });
    const words = async (body: object): Promise<unknown> =>
      (await patch('/scale', body)).json.details.causes[0].message;
    expect(await words({ kind: 'Other' })).toContain(
      'no kind "Other" is registered for version "autoscaling/v1" in scheme "k8s.io/client-go/scale/util.go:146"',
    );
    expect(await words({ apiVersion: 'extensions/v1beta1' })).toContain(
      'converting (v1beta1.Scale) to (v1.Scale): unknown conversion',
    );
  });

  test('is patched without strategic merge markers', async () => {
    await scaled({ spec: { count: 1 } });
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    expect((await api.call('PATCH', `${PATH}/a/scale`, { headers, body: {} })).code).toBe(415);
  });

  test('cannot create an object beyond the nesting limit', async () => {
    const specReplicasPath = `.spec${'.a'.repeat(50_000)}`;
    const subresources = { scale: { ...SCALE, specReplicasPath } };
    await define(api, definitionBody({ versions: [{ name: 'v1', subresources }] }));
    await create({});
    const { code, json } = await patch('/scale', { spec: { replicas: 3 } });
    expect([code, json.message]).toEqual([400, 'the spec replicas field lies deeper than objects may nest']);
  });

  test('requires that replicas are valid', async () => {
    await scaled({ spec: { count: 1 } });
    const problems = async (spec: object): Promise<unknown> =>
      (await patch('', { spec })).json.details.causes[0].message;
    expect(await problems({ count: 'x' })).toBe(
      'Invalid value: 0: .spec.count accessor error: x is of the type string, expected int64',
    );
    const flat = await patch('', { spec: 'x' });
    expect(flat.json.details.causes[0].message).toBe(
      'Invalid value: 0: .spec.count accessor error: x is of the type string, expected map[string]interface{}',
    );
    expect(await problems({ count: 2 ** 31 })).toContain('should be less than or equal to 2147483647');
    const { json } = await api.call('PATCH', `${PATH}/a`, {
      headers: { 'content-type': 'application/merge-patch+json' },
      text: '{"spec":{"count":9007199254740993}}',
    });
    expect(json.details.causes[0].message).toContain('Invalid value: 9007199254740993: ');
    const status = await patch('/status', { status: { select: 5 } });
    expect([status.code, status.json.details.causes[0].field]).toEqual([422, '.status.select']);
  });

  test('treats a null spec, and null replicas, as absent', async () => {
    await scaled({ spec: { count: 1 } });
    const codeOf = async (spec: unknown): Promise<number> => {
      const body = { ...gizmo('null'), spec };
      return (await api.call('POST', `${PATH}?dryRun=All`, { body })).code;
    };
    expect([await codeOf(null), await codeOf({ count: null })]).toEqual([201, 422]);
  });
});

test('an update of a custom resource does not validate generateName', async () => {
  await define(api, definitionBody({}));
  await create({});
  const metadata = { generateName: 'Not_A_Name' };
  const { code } = await api.call('PATCH', `${PATH}/a`, { body: { metadata } });
  expect(code).toBe(200);
  expect((await api.call('POST', PATH, { body: { ...gizmo('b'), metadata } })).code).toBe(422);
});
