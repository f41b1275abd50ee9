import * as fc from 'fast-check';
import { withDefaults } from './defaults';
import { getObjectShape } from './object-shape';
import { prune } from './prune';
import { compileSchema } from './structural-schema';
import { validateListTypes } from './list-types';
import { coerceEmbedded, validateEmbedded } from './embedded';
import { validateValues } from './validate-values';
import type { JsonObject } from '../object/clone';

/** Properties of all schemas and objects, checked on random ones with few names. */

const name = fc.constantFrom('a', 'b', 'c', 'kind', 'metadata', '__proto__');
const scalar = fc.oneof(
  fc.constantFrom('', 'a', 'b', '2020-01-01', '1h', '😀'),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0.5, 1e300, 2n ** 60n),
  fc.boolean(),
  fc.constant(null),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}));
const object = fc.dictionary(name, value, { maxKeys: 5 });

/** Keywords for which dropping a field never makes a valid object invalid. */
const mild = fc.record(
  {
    nullable: fc.boolean(),
    minLength: fc.integer({ min: 0, max: 2 }),
    pattern: fc.constantFrom('^a', '^[ab]*$', '(a|b)+'),
    format: fc.constantFrom('date', 'duration', 'int32'),
    minimum: fc.integer({ min: -2, max: 2 }),
    multipleOf: fc.constantFrom(2, 0.5),
    maxItems: fc.integer({ min: 0, max: 3 }),
    maxProperties: fc.integer({ min: 0, max: 3 }),
    'x-kubernetes-preserve-unknown-fields': fc.constant(true),
    'x-kubernetes-embedded-resource': fc.constant(true),
    'x-kubernetes-list-type': fc.constantFrom('set', 'map', 'atomic'),
    'x-kubernetes-map-type': fc.constantFrom('atomic', 'granular'),
  },
  { requiredKeys: [] },
);

function schemas(extra: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc
        .tuple(fc.constantFrom('string', 'integer', 'number', 'boolean'), mild, extra)
        .map(([type, ...more]) => Object.assign({ type }, ...more) as JsonObject),
      fc
        .tuple(fc.dictionary(name, tie('schema'), { maxKeys: 4 }), mild, extra)
        .map(([properties, ...more]) => Object.assign({ type: 'object', properties }, ...more) as JsonObject),
      fc
        .tuple(fc.oneof(tie('schema'), fc.constant(true)), mild, extra)
        .map(
          ([additionalProperties, ...more]) =>
            Object.assign({ type: 'object', additionalProperties }, ...more) as JsonObject,
        ),
      fc
        .tuple(tie('schema'), mild, extra)
        .map(
          ([items, ...more]) =>
            Object.assign(
              { type: 'array', items, 'x-kubernetes-list-map-keys': ['a'] },
              ...more,
            ) as JsonObject,
        ),
    ),
  }));
  return fc
    .tuple(fc.dictionary(name, schema, { maxKeys: 5 }), extra)
    .map(([properties, more]) => ({ type: 'object', ...more, properties }));
}

const mildSchema = schemas(fc.constant({}));
const anySchema = schemas(
  fc.record(
    {
      default: value,
      enum: fc.array(value, { maxLength: 2 }),
      required: fc.array(name, { maxLength: 2 }),
      minProperties: fc.integer({ min: 0, max: 2 }),
      anyOf: fc.array(fc.record({ minimum: fc.integer({ min: 0, max: 2 }), required: fc.array(name) }), {
        maxLength: 2,
      }),
      oneOf: fc.array(fc.record({ maximum: fc.integer({ min: 0, max: 2 }) }), { maxLength: 2 }),
      allOf: fc.array(fc.record({ pattern: fc.constant('a') }), { maxLength: 2 }),
      not: fc.record({ enum: fc.array(value, { maxLength: 2 }) }),
    },
    { requiredKeys: [] },
  ),
);

const RUNS = { numRuns: 300 };

/** Copies the input, so that a mutation shows. */
function check(
  schema: fc.Arbitrary<JsonObject>,
  law: (schema: ReturnType<typeof compileSchema>, given: JsonObject) => void,
): void {
  fc.assert(
    fc.property(schema, object, (source, given) => {
      const before = structuredClone(given);
      law(compileSchema(source), given);
      expect(given).toEqual(before);
    }),
    RUNS,
  );
}

test('pruning is idempotent', () => {
  check(anySchema, (schema, given) => {
    const once = prune(schema, given);
    expect(prune(schema, once.object)).toEqual({ object: once.object, pruned: [] });
    expect(prune(schema, once.object).object).toBe(once.object);
    expect(once.object === given).toBe(once.pruned.length === 0);
  });
});

test('defaulting is idempotent', () => {
  check(anySchema, (schema, given) => {
    const once = withDefaults(schema, given);
    expect(withDefaults(schema, once)).toEqual(once);
  });
});

test('pruning keeps a valid object valid', () => {
  let good = 0;
  check(mildSchema, (schema, given) => {
    if (validateValues(schema, given).length > 0) return;
    good += 1;
    expect(validateValues(schema, prune(schema, given).object)).toEqual([]);
  });
  expect(good).toBeGreaterThan(50);
});

test('coercion is idempotent and yields the right types', () => {
  check(anySchema, (schema, given) => {
    const once = coerceEmbedded(schema, given, { drop: true });
    expect(once.errors).toEqual([]);
    expect(coerceEmbedded(schema, once.object, { drop: true }).object).toEqual(once.object);
    const strict = coerceEmbedded(schema, given, { drop: false });
    expect(strict.errors.length).toBeLessThanOrEqual(1);
  });
});

test('every error has a field and a message', () => {
  check(anySchema, (schema, given) => {
    const errors = [
      ...validateValues(schema, given),
      ...validateEmbedded(schema, given),
      ...validateListTypes(schema, given),
    ];
    expect(errors.filter(({ field, message }) => field === '' || message === '')).toEqual([]);
  });
});

test('every schema has a shape with all its fields', () => {
  check(anySchema, (schema) => {
    const { fields } = getObjectShape(schema);
    expect([...schema.properties.keys()].every((each) => fields.has(each))).toBe(true);
  });
});
