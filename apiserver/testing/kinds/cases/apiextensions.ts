import { ANNOTATION, GROUP, PROTECTED_GROUP_SUFFIXES } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

const version = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
};

const withVersion = (change: object): object => ({ spec: { versions: [{ ...version, ...change }] } });

const withField = (field: object): object =>
  withVersion({ schema: { openAPIV3Schema: { type: 'object', properties: { a: field } } } });

const ROOT = 'spec.validation.openAPIV3Schema';

const FIELD = `${ROOT}.properties[a]`;

const protectedGroup = `x${PROTECTED_GROUP_SUFFIXES[0] ?? ''}`;

export const apiextensionsCases: readonly KindCases[] = [
  {
    kind: 'CustomResourceDefinition',
    url: `/apis/${GROUP.apiextensions}/v1/customresourcedefinitions`,
    good: {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [version],
      },
    },
    bad: [
      ['another name', { metadata: { name: 'gadgets.example.com' } }, ['Invalid metadata.name']],
      ['no scope', { spec: { scope: null } }, ['Required spec.scope']],
      ['an unknown scope', { spec: { scope: 'Odd' } }, ['NotSupported spec.scope']],
      [
        'a short name in capitals',
        { spec: { names: { shortNames: ['W'] } } },
        ['Invalid spec.names.shortNames[0]'],
      ],
      [
        'one name for one and many',
        { spec: { names: { listKind: 'Widget' } } },
        ['Invalid spec.names.listKind'],
      ],
      ['no version', { spec: { versions: [] } }, ['Invalid spec.versions', 'Invalid status.storedVersions']],
      [
        'no stored version',
        withVersion({ storage: false }),
        ['Invalid spec.versions', 'Invalid status.storedVersions'],
      ],
      ['no schema', withVersion({ schema: undefined }), ['Required spec.versions[0].schema.openAPIV3Schema']],
      ['unknown fields', { spec: { preserveUnknownFields: true } }, ['Invalid spec.preserveUnknownFields']],
      [
        'a warning without cause',
        withVersion({ deprecationWarning: 'x' }),
        ['Invalid spec.versions[0].deprecationWarning'],
      ],
      ['a field without type', withField({}), [`Required ${FIELD}.type`]],
      ['an unknown type', withField({ type: 'odd' }), [`NotSupported ${FIELD}.type`]],
      ['a list of anything', withField({ type: 'array' }), [`Required ${FIELD}.items`]],
      ['a reference', withField({ $ref: '#/x' }), [`Forbidden ${FIELD}.$ref`]],
      ['a bad pattern', withField({ type: 'string', pattern: '[' }), [`Invalid ${FIELD}.pattern`]],
      ['a default of another type', withField({ type: 'string', default: 5 }), [`Invalid ${FIELD}.default`]],
      [
        'a default out of range',
        withField({ type: 'integer', minimum: 5, default: 1 }),
        [`Invalid ${FIELD}.default`],
      ],
      [
        'structure in a choice',
        withField({ type: 'string', anyOf: [{ type: 'string' }] }),
        [`Forbidden ${FIELD}.anyOf[0].type`],
      ],
      [
        'a keyed list without keys',
        withField({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
        [`Required ${FIELD}.x-kubernetes-list-map-keys`],
      ],
      [
        'a column of nothing',
        withVersion({ additionalPrinterColumns: [{ name: 'a', type: 'odd', jsonPath: 'x' }] }),
        [
          'Invalid spec.additionalPrinterColumns[0].JSONPath',
          'Invalid spec.additionalPrinterColumns[0].type',
        ],
      ],
      [
        'a scale without paths',
        withVersion({ subresources: { scale: { specReplicasPath: '.status.x', statusReplicasPath: '' } } }),
        [
          'Invalid spec.subresources.scale.specReplicasPath',
          'Required spec.subresources.scale.statusReplicasPath',
        ],
      ],
      ['a conversion of no strategy', { spec: { conversion: {} } }, ['Required spec.conversion.strategy']],
      [
        'an unknown conversion',
        { spec: { conversion: { strategy: 'Odd' } } },
        ['NotSupported spec.conversion.strategy'],
      ],
      [
        'a conversion without a webhook',
        { spec: { conversion: { strategy: 'Webhook' } } },
        ['Required spec.conversion.conversionReviewVersions', 'Required spec.conversion.webhookClientConfig'],
      ],
      [
        'a group of the project without approval',
        { metadata: { name: `widgets.${protectedGroup}` }, spec: { group: protectedGroup } },
        [`Required metadata.annotations[${ANNOTATION.apiApproved}]`],
      ],
    ],
  },
];
