import { compileSchema } from './structural-schema';

const text = { type: 'string', description: 'some words' };

test('all keywords are compiled', () => {
  const schema = compileSchema({
    type: 'object',
    nullable: true,
    properties: {
      list: {
        type: 'array',
        items: { type: 'object' },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
      },
      atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', default: { a: 1 } },
      port: { 'x-kubernetes-int-or-string': true },
      any: { 'x-kubernetes-preserve-unknown-fields': true },
      resource: { type: 'object', 'x-kubernetes-embedded-resource': true },
    },
  });
  expect(schema).toMatchObject({ type: 'object', isNullable: true, defaulted: ['atomic'] });
  expect(schema.properties.get('list')).toMatchObject({
    listType: 'map',
    listMapKeys: ['a', 'b'],
    items: { type: 'object' },
  });
  expect(schema.properties.get('atomic')).toMatchObject({ mapType: 'atomic', default: { a: 1 } });
  expect(schema.properties.get('port')).toMatchObject({ type: '', isIntOrString: true });
  expect(schema.properties.get('any')?.preservesUnknown).toBe(true);
  expect(schema.properties.get('resource')?.isEmbedded).toBe(true);
});

test('equal subtrees are one node regardless of descriptions', () => {
  const part = (description: string): object => ({
    type: 'object',
    description,
    properties: { a: text, b: text },
  });
  const { properties } = compileSchema({
    type: 'object',
    properties: { one: part('1'), two: part('2'), three: { type: 'object', properties: { a: text } } },
  });
  const [one, two, three] = [...properties.values()];
  expect(one).toBe(two);
  expect(one).not.toBe(three);
  expect(one?.properties.get('a')).toBe(three?.properties.get('a'));
});

test('subtrees that differ in any keyword are distinct', () => {
  const variants: object[] = [
    { type: 'string' },
    { type: 'string', nullable: true },
    { type: 'string', default: 'a' },
    { type: 'string', minLength: 1 },
    { type: 'string', pattern: 'a' },
    { type: 'string', format: 'date' },
    { type: 'string', enum: ['a'] },
    { type: 'string', not: { enum: ['a'] } },
    { type: 'string', anyOf: [{ enum: ['a'] }] },
    { type: 'string', allOf: [{ enum: ['a'] }] },
    { type: 'integer' },
    { type: 'integer', minimum: 1 },
    { type: 'integer', minimum: 1, exclusiveMinimum: true },
    { type: 'object' },
    { type: 'object', additionalProperties: true },
    { type: 'object', additionalProperties: false },
    { type: 'object', additionalProperties: { type: 'string' } },
    { type: 'object', properties: { a: { type: 'string' } } },
    { type: 'object', properties: { b: { type: 'string' } } },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    { type: 'object', 'x-kubernetes-map-type': 'atomic' },
    { type: 'array', items: { type: 'string' } },
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  ];
  const named = Object.fromEntries(variants.map((each, index) => [`f${String(index)}`, each]));
  const { properties } = compileSchema({ type: 'object', properties: named });
  expect(new Set(properties.values()).size).toBe(variants.length);
});

test('the compiled schema shares nothing with its source', () => {
  const source = {
    type: 'object',
    properties: { a: { type: 'array', items: {}, default: [1], enum: [[1]] } },
  };
  const schema = compileSchema(source);
  source.properties.a.default.push(2);
  source.properties.a.enum.push([3]);
  expect(schema.properties.get('a')).toMatchObject({ default: [1], choices: [[1]] });
});

test.each([undefined, null, 'x', [], 5, { properties: 'x', items: [], enum: {}, required: 5 }])(
  '%j compiles to an empty schema',
  (json) => {
    expect(compileSchema(json)).toMatchObject({ type: '', items: undefined, choices: undefined });
  },
);
