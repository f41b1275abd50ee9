import { CostLimitExceeded } from '../eval/frame';
import { SchemaRules } from './compiled-rules';
import { evaluateRules } from './evaluate-rules';
import { ruleTreeOf } from './rule-tree';

const RULES = 'x-kubernetes-validations';

test('items of a keyed list find their counterparts with one look at each', () => {
  const item = {
    type: 'object',
    properties: { k: { type: 'string' }, v: { type: 'integer', [RULES]: [{ rule: 'self >= oldSelf' }] } },
  };
  const tree = ruleTreeOf({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: item,
  });
  if (tree === undefined) throw new Error('the schema has rules');
  let reads = 0;
  const listOf = (v: number): object[] =>
    Array.from({ length: 500 }, (_, index) => ({
      get k(): string {
        reads += 1;
        return `k${String(index)}`;
      },
      v,
    }));
  expect(evaluateRules(tree, listOf(2), listOf(1).toReversed())).toEqual([]);
  expect(evaluateRules(tree, listOf(1), listOf(2).toReversed())).toHaveLength(500);
  expect(reads).toBeLessThan(500 * 20);
});

test('keys of different types are different keys', () => {
  const tree = ruleTreeOf({
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: {
      type: 'object',
      properties: { k: { 'x-kubernetes-int-or-string': true } },
      [RULES]: [
        { rule: 'self.k == oldSelf.k', message: 'compared' },
        { rule: '!has(oldSelf.k)', message: 'found' },
      ],
    },
  });
  if (tree === undefined) throw new Error('the schema has rules');
  const found = (before: unknown): readonly string[] =>
    evaluateRules(tree, [{ k: 1 }], [{ k: before }]).map(({ detail }) => detail);
  expect([found(1), found('1')]).toEqual([['found'], []]);
});

test('a rule whose compilation throws is not skipped the next time', () => {
  const rules = new SchemaRules([{ rule: 'true' }], () => {
    throw new CostLimitExceeded({ cost: 1, work: 1 });
  });
  expect(() => rules.all()).toThrow(CostLimitExceeded);
  expect(() => rules.all()).toThrow(CostLimitExceeded);
});
