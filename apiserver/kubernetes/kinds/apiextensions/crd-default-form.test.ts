import type {
  CustomResourceDefinition,
  JSONSchemaProps,
} from '../../../../shared/api/types/apiextensions-v1';
import { withDefaultsInForm } from './crd-default-form';

const RESOURCE = { type: 'object', 'x-kubernetes-embedded-resource': true } as const;
const pod = (metadata: unknown): object => ({ apiVersion: 'v1', kind: 'Pod', metadata });

function definition(...schemas: readonly JSONSchemaProps[]): CustomResourceDefinition {
  const versions = schemas.map((openAPIV3Schema, index) => ({
    name: `v${String(index + 1)}`,
    served: true,
    storage: index === 0,
    schema: { openAPIV3Schema },
  }));
  return {
    metadata: { name: 'aas.example.com' },
    spec: { group: 'example.com', names: { plural: 'aas', kind: 'Aa' }, scope: 'Cluster', versions },
  };
}

const field = (a: JSONSchemaProps): JSONSchemaProps => ({ type: 'object', properties: { a } });

test.each<[string, JSONSchemaProps, JSONSchemaProps]>([
  [
    'a time that is none goes',
    field({ ...RESOURCE, default: pod({ name: 'a', creationTimestamp: null }) }),
    field({ ...RESOURCE, default: pod({ name: 'a' }) }),
  ],
  [
    'unknown fields go',
    field({ ...RESOURCE, default: pod({ odd: 1, labels: { a: 'b' } }) }),
    field({ ...RESOURCE, default: pod({ labels: { a: 'b' } }) }),
  ],
  ['null is empty', field({ ...RESOURCE, default: pod(null) }), field({ ...RESOURCE, default: pod({}) })],
  [
    'resources inside of a default are looked at',
    field({ ...field(RESOURCE), default: { a: pod({ odd: 1 }) } }),
    field({ ...field(RESOURCE), default: { a: pod({}) } }),
  ],
  [
    'so are those in a list, and the defaults of its items',
    field({
      type: 'array',
      items: { ...RESOURCE, default: pod({ odd: 1 }) },
      default: [pod({ odd: 1 })],
    }),
    field({ type: 'array', items: { ...RESOURCE, default: pod({}) }, default: [pod({})] }),
  ],
])('defaults with embedded resources are brought into form: %s', (_, given, expected) => {
  expect(withDefaultsInForm(definition(given, field({ type: 'string' })))).toEqual(
    definition(expected, field({ type: 'string' })),
  );
});

test.each<[string, JSONSchemaProps]>([
  ['what is in form', field({ ...RESOURCE, default: pod({ name: 'a' }) })],
  ['what cannot be brought into form', field({ ...RESOURCE, default: pod({ name: 5 }) })],
  [
    'a default in the metadata of a resource',
    field({ ...RESOURCE, properties: { metadata: { default: { odd: 1 } } } }),
  ],
  ['a definition without resources', field({ type: 'object', default: pod({ odd: 1 }) })],
  ['one without defaults', field(RESOURCE)],
])('%s is left alone', (_, schema) => {
  const object = definition(schema);
  expect(withDefaultsInForm(object)).toBe(object);
});
