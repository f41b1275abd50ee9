import { GROUP } from '../../../../shared/names';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';
import { testKind } from '../testing/kind-table';

const OLD = `/apis/${GROUP.apiextensions}/v1beta1/customresourcedefinitions`;
const NEW = `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`;

const schema = { openAPIV3Schema: { type: 'object' } };
const other = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' } } } };
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
const spec = (change: object): object => ({ spec: change });
const client = { service: { namespace: 'n', name: 's' } };

test('that defaults need v1 is told', async () => {
  const api = await startInProcessApi();
  const properties = { a: { type: 'string', default: 'x' } };
  const validation = { openAPIV3Schema: { type: 'object', properties } };
  const { json } = await api.call('POST', OLD, { body: { ...good, spec: { ...good.spec, validation } } });
  expect(json.details.causes[0].message).toBe(
    `Forbidden: must not be set (cannot set default values in ${GROUP.apiextensions}/v1beta1 CRDs, must use ${GROUP.apiextensions}/v1)`,
  );
  await api.close();
});

testKind('CustomResourceDefinition of apiextensions/v1beta1', {
  url: OLD,
  good,
  bad: [
    ['a first version of two names', spec({ version: 'v3' }), ['Invalid spec.version']],
    [
      'schemas in two places',
      spec({ versions: [{ ...v1, schema: other }, v2] }),
      ['Forbidden spec.validation'],
    ],
    [
      'one schema said for each version',
      spec({ validation: null, versions: [v1, v2].map((each) => ({ ...each, schema })) }),
      ['Invalid spec.versions'],
    ],
    [
      'a bad schema in its only version',
      spec({ validation: null, versions: [{ ...v1, schema: { openAPIV3Schema: { type: 'no' } } }] }),
      ['Invalid spec.versions', 'Invalid spec.versions[0].schema.openAPIV3Schema.type'],
    ],
    [
      'subresources in two places',
      spec({ subresources: status, versions: [{ ...v1, subresources: { status: {}, scale: null } }, v2] }),
      ['Forbidden spec.subresources'],
    ],
    [
      'bad parts of a spec and of a version',
      spec({
        version: 'odd one',
        validation: { openAPIV3Schema: { type: 'no' } },
        additionalPrinterColumns: [{ ...column, type: 'odd' }],
        versions: [
          { ...v1, name: 'v 1', schema: other, additionalPrinterColumns: [{ ...column, JSONPath: 'odd' }] },
          v2,
        ],
      }),
      [
        'Invalid spec.versions[0].name',
        'Invalid spec.versions[0].additionalPrinterColumns[0].JSONPath',
        'Forbidden spec.validation',
        'Forbidden spec.additionalPrinterColumns',
        'Invalid spec.version',
        'Invalid spec.validation.openAPIV3Schema.type',
        'Invalid spec.additionalPrinterColumns[0].type',
      ],
    ],
    [
      'a version whose schema is not structural, and has to be, beside one of the spec',
      spec({
        preserveUnknownFields: true,
        versions: [
          {
            ...v1,
            schema: {
              openAPIV3Schema: { type: 'object', properties: { a: { 'x-kubernetes-list-type': 'set' } } },
            },
          },
          v2,
        ],
      }),
      ['Forbidden spec.validation', 'Required spec.versions[0].schema.openAPIV3Schema.properties[a].type'],
    ],
    [
      'subresources said for each version',
      spec({ versions: [v1, v2].map((each) => ({ ...each, subresources: status })) }),
      ['Invalid spec.versions'],
    ],
    [
      'columns in two places',
      spec({
        additionalPrinterColumns: [column],
        versions: [{ ...v1, additionalPrinterColumns: [column] }, v2],
      }),
      ['Forbidden spec.additionalPrinterColumns'],
    ],
    [
      'columns said for each version',
      spec({ versions: [v1, v2].map((each) => ({ ...each, additionalPrinterColumns: [column] })) }),
      ['Invalid spec.versions'],
    ],
    [
      'a default, which came with v1',
      spec({
        validation: {
          openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
        },
      }),
      ['Forbidden spec.validation.openAPIV3Schema.properties[a].default'],
    ],
    [
      'pruning of a served version without a schema',
      spec({ validation: null, versions: [v1, { ...v2, served: false }] }),
      ['Required spec.versions[0].schema.openAPIV3Schema'],
    ],
    [
      'a webhook between versions that keep what they do not know',
      spec({
        preserveUnknownFields: true,
        conversion: { strategy: 'Webhook', webhookClientConfig: client },
      }),
      ['Invalid spec.conversion.strategy'],
    ],
    [
      'a webhook that is asked in no version of ours',
      spec({
        conversion: {
          strategy: 'Webhook',
          webhookClientConfig: client,
          conversionReviewVersions: ['v9'],
        },
      }),
      ['Invalid spec.conversion.conversionReviewVersions'],
    ],
    [
      'an extension in a schema that is not structural',
      spec({
        preserveUnknownFields: true,
        validation: {
          openAPIV3Schema: { type: null, properties: { a: { 'x-kubernetes-int-or-string': true } } },
        },
      }),
      ['Required spec.validation.openAPIV3Schema.type'],
    ],
  ],
  goodChanges: [
    [
      'a schema without types',
      spec({ preserveUnknownFields: true, validation: { openAPIV3Schema: { type: null } } }),
    ],
    [
      'an unknown type',
      spec({ preserveUnknownFields: true, validation: { openAPIV3Schema: { type: 'odd' } } }),
    ],
    ['no schema', spec({ preserveUnknownFields: true, validation: null })],
  ],
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
