import { GROUP } from '../../../../shared/names';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

const OLD = `/apis/${GROUP.apiextensions}/v1beta1/customresourcedefinitions`;

const NEW = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

const schema = { openAPIV3Schema: { type: 'object' } };

const status = { status: {} };

const column = { name: 'A', type: 'string', JSONPath: '.a' };

const v1 = { name: 'v1', served: true, storage: true };

const v2 = { name: 'v2', served: true, storage: false };

const good = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'things', kind: 'Thing' },
    versions: [v1, v2],
    validation: schema,
    preserveUnknownFields: false,
  },
};

const client = { service: { namespace: 'n', name: 's' } };

test('a default in a v1beta1 schema is refused because defaults need v1', async () => {
  const api = await startInProcessApi();
  const properties = { a: { type: 'string', default: 'x' } };
  const validation = { openAPIV3Schema: { type: 'object', properties } };
  const { json } = await api.call('POST', OLD, { body: { ...good, spec: { ...good.spec, validation } } });
  expect(json.details.causes[0].message).toBe(
    `Forbidden: must not be set (cannot set default values in ${GROUP.apiextensions}/v1beta1 CRDs, must use ${GROUP.apiextensions}/v1)`,
  );
  await api.close();
});

describe('a definition that was made in v1beta1', () => {
  let api: InProcessApi;
  beforeEach(async () => {
    api = await startInProcessApi(undefined, { definitionsLive: false });
  });
  afterEach(async () => {
    await api.close();
  });

  test('says in every version of v1 what it said for all, and for all again when it is read back', async () => {
    const body = {
      ...good,
      spec: { ...good.spec, subresources: status, additionalPrinterColumns: [column] },
    };
    const created = await api.call('POST', OLD, { body });
    expect(created.code).toBe(201);
    const { json } = await api.call('GET', `${NEW}/things.example.com`);
    const { JSONPath: jsonPath, ...named } = column;
    const parts = { schema, subresources: status, additionalPrinterColumns: [{ ...named, jsonPath }] };
    expect(json.spec.versions).toEqual([
      { ...v1, ...parts },
      { ...v2, ...parts },
    ]);
    const back = await api.call('GET', `${OLD}/things.example.com`);
    expect(back.json).toEqual(created.json);
    expect(back.json.spec).toMatchObject({
      version: 'v1',
      scope: 'Namespaced',
      validation: schema,
      subresources: status,
      additionalPrinterColumns: [column],
    });
  });

  test('has its webhook asked in v1beta1 unless it says otherwise', async () => {
    const conversion = { strategy: 'Webhook', webhookClientConfig: client };
    const body = { ...good, spec: { ...good.spec, conversion } };
    const created = await api.call('POST', OLD, { body });
    expect(created.json.spec.conversion.conversionReviewVersions).toEqual(['v1beta1']);
    const { json } = await api.call('GET', `${NEW}/things.example.com`);
    expect(json.spec.conversion.webhook).toMatchObject({
      clientConfig: { service: { ...client.service, port: 443 } },
      conversionReviewVersions: ['v1beta1'],
    });
  });

  test('may be changed through v1 although a new one could not be like it', async () => {
    const body = { ...good, spec: { ...good.spec, preserveUnknownFields: true, validation: null } };
    expect((await api.call('POST', OLD, { body })).code).toBe(201);
    const change = { metadata: { labels: { a: 'b' } } };
    const patched = await api.call('PATCH', `${NEW}/things.example.com`, { body: change });
    expect(patched.code).toBe(200);
  });
});
