import type { Shape } from '../fieldset/shape';
import { getObjectShape } from './object-shape';
import { compileSchema } from './structural-schema';
import type { ReadonlyJson } from '../object/json';

const KEEP = { 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: ReadonlyJson, more: ReadonlyJson = {}): ReadonlyJson => ({
  type: 'object',
  properties,
  ...more,
});
const text = { type: 'string' };

/** Returns the shape of the field `f` of a resource. */
function shapeOf(f: ReadonlyJson, root: ReadonlyJson = {}): Shape | undefined {
  return getObjectShape(compileSchema(object({ f }, root))).fields.get('f');
}

/** Formats a shape: `{a: leaf, ...: deduced}`. */
function brief(shape: Shape | undefined): string {
  if (shape?.kind === 'keyed') {
    const keys = shape.keys.map((key) => `${key.name}=${JSON.stringify(key.default)}`);
    return `[${keys.join(' ')}] of ${brief(shape.element)}`;
  }
  if (shape?.kind !== 'object') return shape?.kind ?? 'nothing';
  const fields = [...shape.fields].map(([name, each]) => `${name}: ${brief(each)}`);
  return `{${[...fields, ...(shape.others === undefined ? [] : [`...: ${brief(shape.others)}`])].join(', ')}}`;
}

test.each<[string, ReadonlyJson, string]>([
  ['a scalar is a unit', text, 'leaf'],
  [
    'fields of an object are owned by themselves',
    object({ a: text, b: object({ c: text }) }),
    '{a: leaf, b: {c: leaf}}',
  ],
  ['an atomic object is a unit', object({ a: text }, { 'x-kubernetes-map-type': 'atomic' }), 'leaf'],
  ['keys of a map are owned by themselves', { type: 'object', additionalProperties: text }, '{...: leaf}'],
  [
    'an atomic map is a unit',
    { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    'leaf',
  ],
  [
    'values of a map have their own shape',
    { type: 'object', additionalProperties: object({ a: text }) },
    '{...: {a: leaf}}',
  ],
  ['a list is a unit', { type: 'array', items: object({ a: text }) }, 'leaf'],
  ['an atomic list is a unit', { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' }, 'leaf'],
  [
    'items of a set are owned by themselves',
    { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    'set',
  ],
  [
    'items of a keyed list have sorted keys with defaults',
    {
      type: 'array',
      items: object({ b: { ...text, default: 'x' }, a: text }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['b', 'a'],
    },
    '[a=undefined b="x"] of {b: leaf, a: leaf}',
  ],
  ['an integer or a text is a unit', { 'x-kubernetes-int-or-string': true }, 'leaf'],
  ['an object that keeps unknown fields has others', object({ a: text }, KEEP), '{a: leaf, ...: deduced}'],
  [
    'inside it what has no type is deduced',
    object({ a: KEEP, b: { type: 'object' } }, KEEP),
    '{a: deduced, b: {...: deduced}, ...: deduced}',
  ],
  ['an untyped value is atomic in other places', KEEP, 'leaf'],
  ['an object of anything is owned by key', { type: 'object' }, '{...: leaf}'],
])('%s', (_, schema, expected) => {
  expect(brief(shapeOf(schema))).toBe(expected);
});

test.each<[string, ReadonlyJson, string, string]>([
  ['items of a list', { type: 'array', items: object({ a: text }) }, 'items', '{a: leaf}'],
  ['fields of an object', object({ a: text }, { 'x-kubernetes-map-type': 'atomic' }), 'value', '{a: leaf}'],
  [
    'values of a map',
    { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    'value',
    '{...: leaf}',
  ],
])('%s of an atomic value still have shapes', (_, schema, of, expected) => {
  const shape = shapeOf(schema);
  const inside = shape?.kind === 'leaf' ? shape.inside : undefined;
  expect([inside?.of, brief(inside?.shape)]).toEqual([of, expected]);
});

test('metadata of an embedded resource has the shape of metadata', () => {
  const shape = shapeOf({ type: 'object', 'x-kubernetes-embedded-resource': true, ...KEEP });
  expect(shape).toMatchObject({ kind: 'object', others: { kind: 'deduced' } });
  const metadata = shape?.kind === 'object' ? shape.fields.get('metadata') : undefined;
  expect(brief(metadata?.kind === 'object' ? metadata.fields.get('labels') : undefined)).toBe('{...: leaf}');
});

test('fields set by the server have no owner, and the schema cannot change that', () => {
  const shape = getObjectShape(
    compileSchema(object({ metadata: object({ name: text }), kind: text, spec: object({}) })),
  );
  expect(shape.fields.get('kind')).toEqual({ kind: 'ignored' });
  const metadata = shape.fields.get('metadata');
  expect(metadata).toMatchObject({ isKept: true });
  expect(metadata?.kind === 'object' ? metadata.fields.get('uid') : undefined).toEqual({ kind: 'ignored' });
  expect(shape.others).toBeUndefined();
});

test('unknown fields are deduced where the definition preserves them', () => {
  const shape = getObjectShape(compileSchema(object({ a: text }), { preserveUnknownFields: true }));
  expect(shape.others).toEqual({ kind: 'deduced' });
});

test('the same holds for metadata of embedded resources, which is closed otherwise', () => {
  const inner = { type: 'object', 'x-kubernetes-embedded-resource': true, ...KEEP };
  const othersOf = (preserveUnknownFields: boolean): unknown => {
    const a = getObjectShape(compileSchema(object({ a: inner }), { preserveUnknownFields })).fields.get('a');
    const metadata = a?.kind === 'object' ? a.fields.get('metadata') : undefined;
    return metadata?.kind === 'object' ? metadata.others : 'no metadata';
  };
  expect([othersOf(true), othersOf(false)]).toEqual([{ kind: 'deduced' }, undefined]);
});

test('a schema has one shape', () => {
  const schema = compileSchema(object({ a: text }));
  expect(getObjectShape(schema)).toBe(getObjectShape(schema));
});
