import * as fc from 'fast-check';
import { messageType } from '../schema/types';
import { computeAppliedSet, ShapeError } from './applied';
import { ownsExactly } from './same-ownership';
import type { FieldSet } from './field-set';
import { equalSets } from './field-set';
import type { ObjectShape } from './shape';
import { DEDUCED_OBJECT, rootShape } from './shape';

const PODS = rootShape(messageType('core/v1.Pod'));

const name = fc.constantFrom('a', 'b', 'c');
const container = fc.record(
  {
    name,
    image: name,
    args: fc.array(name, { maxLength: 2 }),
    env: fc.array(fc.record({ name, value: name }, { requiredKeys: [] }), { maxLength: 3 }),
    ports: fc.array(
      fc.record(
        { containerPort: fc.constantFrom(80, 81), protocol: fc.constantFrom('TCP', 'UDP'), name },
        { requiredKeys: ['containerPort'] },
      ),
      { maxLength: 3 },
    ),
    resources: fc.record({ limits: fc.dictionary(name, name) }, { requiredKeys: [] }),
  },
  { requiredKeys: ['name'] },
);
const pod = fc.record(
  {
    metadata: fc.record(
      {
        name,
        labels: fc.dictionary(name, name),
        finalizers: fc.array(name, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
    spec: fc.record(
      {
        containers: fc.option(fc.array(container, { maxLength: 3 })),
        nodeSelector: fc.option(fc.dictionary(name, name)),
        securityContext: fc.constant({}),
        undeclared: name,
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const SLICES = rootShape(messageType('discovery/v1.EndpointSlice'));
const slice = fc.record(
  {
    addressType: name,
    endpoints: fc.array(
      fc.record(
        {
          addresses: fc.array(name, { maxLength: 2 }),
          conditions: fc.option(fc.record({ ready: fc.boolean(), undeclared: name }, { requiredKeys: [] })),
          nodeName: name,
          undeclared: fc.constant(1),
        },
        { requiredKeys: ['addresses'] },
      ),
      { maxLength: 2 },
    ),
    metadata: fc.record({ ownerReferences: fc.array(fc.record({ uid: name }), { maxLength: 2 }) }),
  },
  { requiredKeys: [] },
);

/** Returns the result of `appliedSet`; undefined where it refuses the configuration. */
function setOf(shape: ObjectShape, config: object): FieldSet | undefined {
  try {
    return computeAppliedSet(shape, config);
  } catch (error) {
    if (error instanceof ShapeError) return undefined;
    throw error;
  }
}

test.each([
  ['a kind with a schema', PODS, pod],
  ['a kind with units that have a schema', SLICES, slice],
  ['an object without one', DEDUCED_OBJECT, fc.object({ maxDepth: 3, maxKeys: 3, values: [name] })],
] as const)('it says of %s just what making the set and comparing says', (_what, shape, config) => {
  let same = 0;
  fc.assert(
    fc.property(config, config, fc.boolean(), (first, second, repeats) => {
      const set = setOf(shape, first);
      fc.pre(set !== undefined);
      const other = repeats ? structuredClone(first) : second;
      const own = setOf(shape, other);
      const expected = own !== undefined && equalSets(own, set ?? {});
      same += expected ? 1 : 0;
      expect(ownsExactly(shape, other, set ?? {})).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
  expect(same).toBeGreaterThan(100);
});

test('a list that repeats an item owns no set of any size', () => {
  const twice = (names: readonly string[]): object => ({
    spec: { containers: names.map((each) => ({ name: each })) },
  });
  const many = Array.from({ length: 40 }, (_, index) => `c${String(index)}`);
  expect(ownsExactly(PODS, twice(['a', 'a']), computeAppliedSet(PODS, twice(['a', 'b'])))).toBe(false);
  expect(ownsExactly(PODS, twice(many), computeAppliedSet(PODS, twice(many)))).toBe(true);
  expect(ownsExactly(PODS, twice([...many.slice(1), 'c1']), computeAppliedSet(PODS, twice(many)))).toBe(
    false,
  );
});
