import { NEWEST_LEVEL } from '../../testing/kinds/newest-level';
import type { JsonSchema, SchemaForm } from './definitions';
import { definitionOf, OPENAPI_3, SWAGGER } from './definitions';
import { QUERY } from './parameters';

/** Returns the schema of a field. */
function fieldOf(message: string, field: string, form: SchemaForm): JsonSchema | undefined {
  const { properties } = definitionOf(message, form, []) as {
    readonly properties: Readonly<Record<string, JsonSchema>>;
  };
  return properties[field];
}

const V3 = { ...OPENAPI_3, enums: true };

test.each<[string, string, object]>([
  ['core/v1.Container', 'name', { default: '' }],
  ['core/v1.ContainerPort', 'containerPort', { default: 0 }],
  ['core/v1.ContainerPort', 'protocol', { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }],
  ['core/v1.Container', 'resources', { default: {} }],
  [
    'core/v1.PersistentVolumeSpec',
    'accessModes',
    {
      items: { type: 'string', enum: ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'] },
    },
  ],
])(
  `at ${NEWEST_LEVEL}, %s.%s is %j in v3, and has neither default nor enum in v2`,
  (message, field, expected) => {
    expect(fieldOf(message, field, V3)).toMatchObject(expected);
    const plain = JSON.stringify(fieldOf(message, field, SWAGGER));
    expect(plain).not.toMatch(/"default":|"enum":/);
  },
);

test.each([
  ['core/v1.Container', 'image'],
  ['core/v1.Container', 'securityContext'],
  ['core/v1.Container', 'command'],
  ['meta/v1.ObjectMeta', 'creationTimestamp'],
])('%s.%s may be absent, and has no default', (message, field) => {
  expect(fieldOf(message, field, V3)).not.toHaveProperty('default');
});

test('unions name the fields of their version', () => {
  expect(definitionOf('flowcontrol/v1.PriorityLevelConfigurationSpec', V3, [])).toMatchObject({
    'x-kubernetes-unions': [
      { discriminator: 'type', 'fields-to-discriminateBy': { exempt: 'Exempt', limited: 'Limited' } },
    ],
  });
  expect(definitionOf('core/v1.AppArmorProfile', V3, [])).toHaveProperty('x-kubernetes-unions');
});

test('without the gate there are no enums', () => {
  expect(fieldOf('core/v1.ContainerPort', 'protocol', OPENAPI_3)).not.toHaveProperty('enum');
});

test('lists and watches have the query parameters of the level', () => {
  expect(QUERY.list.map(({ name }) => name)).toContain('sendInitialEvents');
});
