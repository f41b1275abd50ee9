import { GROUP } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const OLD = `/apis/${GROUP.apiextensions}/v1beta1/customresourcedefinitions`;

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

export const apiextensionsV1beta1Cases: readonly KindCases[] = [
  {
    kind: 'CustomResourceDefinition of apiextensions/v1beta1',
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
  },
];
