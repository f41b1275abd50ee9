import { describeMissing, missingRules } from './covers';
import { COMPARISONS_MAX } from './escalation';
import type { PolicyRule } from './policy-rule';

function rule(parts: Partial<PolicyRule>): PolicyRule {
  return { verbs: ['get'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [], ...parts };
}

const pods = (parts: Partial<PolicyRule> = {}): PolicyRule =>
  rule({ apiGroups: [''], resources: ['pods'], ...parts });

test.each<[string, PolicyRule[], PolicyRule[], string[]]>([
  ['nothing of what is held', [pods()], [pods()], []],
  ['nothing of nothing', [], [], []],
  ['nothing of a rule without verbs, which allows nothing', [], [pods({ verbs: [] })], []],
  [
    'verbs',
    [pods()],
    [pods({ verbs: ['get', 'list'] })],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
  ],
  [
    'every verb, however many are held',
    [pods({ verbs: ['get', 'list', 'watch'] })],
    [pods({ verbs: ['*'] })],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'],
  ],
  [
    'nothing where several rules hold it together',
    [pods(), pods({ verbs: ['list'] })],
    [pods({ verbs: ['get', 'list'] })],
    [],
  ],
  ['nothing where any name is held', [pods()], [pods({ resourceNames: ['a'] })], []],
  [
    'the objects that are not named',
    [pods({ resourceNames: ['a'] })],
    [pods({ resourceNames: ['a', 'b'] }), pods()],
    [
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ],
  ],
  [
    'nothing of a subresource of any resource',
    [pods({ resources: ['*/log'] })],
    [pods({ resources: ['pods/log'] })],
    [],
  ],
  [
    'a subresource of a resource that is held',
    [pods()],
    [pods({ resources: ['pods/log'] })],
    ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  ],
  [
    'nothing of a path below one',
    [rule({ nonResourceURLs: ['/a/*'] })],
    [rule({ nonResourceURLs: ['/a/b/*'] })],
    [],
  ],
  [
    'paths verb by verb',
    [rule({ nonResourceURLs: ['/a'] })],
    [rule({ nonResourceURLs: ['/a', '/a/*'], verbs: ['get', 'put'] })],
    [
      '{NonResourceURLs:["/a"], Verbs:["put"]}',
      '{NonResourceURLs:["/a/*"], Verbs:["get"]}',
      '{NonResourceURLs:["/a/*"], Verbs:["put"]}',
    ],
  ],
  [
    'resources with their verbs together, in order',
    [],
    [pods({ resources: ['b', 'a'], verbs: ['get', 'list'] }), pods({ resources: ['b'], verbs: ['watch'] })],
    [
      '{APIGroups:[""], Resources:["a"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["b"], Verbs:["get" "list" "watch"]}',
    ],
  ],
  [
    'what is said again, as often as it is said',
    [],
    [
      pods({ verbs: ['get', 'list', 'get'] }),
      pods({ resources: ['b', 'b'] }),
      pods({ resources: ['c'], resourceNames: ['n', 'm', 'n'], verbs: ['get', 'list'] }),
    ],
    [
      '{APIGroups:[""], Resources:["b"], Verbs:["get" "get"]}',
      '{APIGroups:[""], Resources:["c"], ResourceNames:["m"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["c"], ResourceNames:["n"], Verbs:["get" "get" "list" "list"]}',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "get"]}',
    ],
  ],
  [
    'once what a rule of very many parts says again',
    [],
    [pods({ verbs: Array.from({ length: 1_001 }, () => 'get') })],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
])('missing is %s', (_title, held, wanted, missing) => {
  expect(describeMissing(missingRules(held, wanted))).toEqual(missing);
});

const many = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_each, index) => prefix + String(index));

// What operators of hundreds of custom resources ask for, where their installer reads by one role and writes by another.
test('a role of a thousand rules that are held in parts is compared with all of them', () => {
  const rulesWith = (verbs: readonly string[]): readonly PolicyRule[] =>
    many(1_000, 'group').map((group) => rule({ verbs, apiGroups: [group], resources: many(24, 'r') }));
  const [reads, writes] = [
    ['get', 'list', 'watch'],
    ['create', 'update', 'patch', 'delete', 'deletecollection'],
  ] as const;
  const wanted = rulesWith([...reads, ...writes]);
  const comparisons = { left: COMPARISONS_MAX };
  expect(missingRules([...rulesWith(reads), ...rulesWith(writes)], wanted, comparisons)).toEqual([]);
  expect(comparisons.left).toBeGreaterThan(0);
});

test.each<[string, PolicyRule[], PolicyRule[]]>([
  ['verbs and names', [], [pods({ verbs: many(5_000, 'v'), resourceNames: many(5_000, 'n') })]],
  [
    'verbs and names of which nearly all are held',
    [pods({ verbs: many(5_000, 'v'), resourceNames: many(5_000, 'n') })],
    [pods({ verbs: [...many(5_000, 'v'), 'other'], resourceNames: many(5_000, 'n') })],
  ],
  [
    'rules',
    many(1_000, 'r').map((each) => pods({ resources: [each] })),
    many(50_000, 's').map((each) => pods({ resources: [each] })),
  ],
  [
    'paths',
    many(500, '/a').map((each) => rule({ nonResourceURLs: [each, `${each}/*`] })),
    [rule({ nonResourceURLs: many(50_000, '/b') })],
  ],
])('the search ends where there are too many %s', (_what, held, wanted) => {
  const comparisons = { left: COMPARISONS_MAX };
  missingRules(held, wanted, comparisons);
  expect(comparisons.left).toBeLessThanOrEqual(0);
});
