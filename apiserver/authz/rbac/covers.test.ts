import { describeMissing, missingRules } from './covers';
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
])('missing is %s', (_title, held, wanted, missing) => {
  expect(describeMissing(missingRules(held, wanted))).toEqual(missing);
});
