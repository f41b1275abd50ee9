import * as fc from 'fast-check';
import { LabelDemands } from './label-demands';
import type { LabelOperator } from './label-requirement';
import { matchesRequirement, labelRequirement } from './label-requirement';
import { parseLabelSelector, matchesLabels } from './labels';

const KEYS = ['a', 'b', 'c', 'toString', 'constructor'] as const;
const VALUES = ['', '0', '3', '7', 'x', '2'] as const;

const key = fc.constantFrom(...KEYS);
const requirement = fc.oneof(
  fc
    .tuple(key, fc.constantFrom<LabelOperator>('=', '==', '!='), fc.constantFrom(...VALUES))
    .map(([name, operator, value]) => labelRequirement(name, operator, [value])),
  fc
    .tuple(
      key,
      fc.constantFrom<LabelOperator>('in', 'notin'),
      fc.uniqueArray(fc.constantFrom(...VALUES), { minLength: 1 }),
    )
    .map(([name, operator, values]) => labelRequirement(name, operator, values)),
  fc
    .tuple(key, fc.constantFrom<LabelOperator>('exists', '!'))
    .map(([name, operator]) => labelRequirement(name, operator, [])),
  fc
    .tuple(key, fc.constantFrom<LabelOperator>('gt', 'lt'), fc.nat({ max: 8 }))
    .map(([name, operator, bound]) => labelRequirement(name, operator, [String(bound)])),
);
const labels = fc.dictionary(key, fc.constantFrom(...VALUES), { noNullPrototype: true });

test('grouped requirements match the same objects as single ones', () => {
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 6 }), labels, (requirements, object) => {
      const holds = requirements.every((each) =>
        matchesRequirement(each, Object.hasOwn(object, each.key) ? object[each.key] : undefined),
      );
      expect(new LabelDemands(requirements).matches(object)).toBe(holds);
    }),
    { numRuns: 2_000 },
  );
});

test('an object without labels matches a selector that requires none', () => {
  expect(new LabelDemands([labelRequirement('a', '!', [])]).matches(undefined)).toBe(true);
  expect(new LabelDemands([labelRequirement('a', 'exists', [])]).matches(undefined)).toBe(false);
});

test('a selector of thousands of requirements is grouped once', () => {
  const asked = jest.spyOn(Set.prototype, 'has');
  const names = Array.from({ length: 5_000 }, (_, index) => `!n${String(index)},l!=v${String(index)}`);
  const selector = parseLabelSelector(names.join(','));
  matchesLabels(selector, {});
  asked.mockClear();
  for (let objects = 0; objects < 100; objects += 1) {
    expect(matchesLabels(selector, { l: 'w', m: 'v' })).toBe(true);
    expect(matchesLabels(selector, { l: 'v7' })).toBe(false);
    expect(matchesLabels(selector, { n4999: '' })).toBe(false);
  }
  expect(asked.mock.calls.length).toBeLessThan(1_000);
  asked.mockRestore();
});
