import type { AccessQuestion } from '../../../engine/request/access';
import { CompiledRule, askedBy } from './compiled-rule';
import { missingRules } from './covers';
import type { PolicyRule } from './policy-rule';

/*
 * Random rules that somebody holds and wants to give away. Where nothing is said to be missing, whatever the given rules allow was allowed
 * to the giver before: no way around the check of what is given away leads to more rights.
 */

const VERBS = ['get', 'list', '*'];
const API_GROUPS = ['', 'apps', '*'];
const RESOURCES = ['pods', 'pods/log', '*/log', 'pods/*', '*', '*/*', 'logs'];
const NAMES = ['a', 'b', ''];
const URLS = ['/a', '/a/', '/a/*', '/a*', '*', '/a/b', '/*', '/a/**', '**', '/a/*/b'];
const PATHS = ['/a', '/a/', '/a/b', '/ab', '/', '/a/*', '*', '/a/x/b', '/a/*/b', 'x'];
const CASES = 20_000;

let state = 0xc0de;
function below(bound: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * bound);
}

function someOf(values: readonly string[]): readonly string[] {
  return Array.from({ length: 1 + below(2) }, () => values[below(values.length)] ?? '');
}

function newRule(): PolicyRule {
  const verbs = someOf(VERBS);
  if (below(3) === 0) {
    return { verbs, apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: someOf(URLS) };
  }
  const resourceNames = below(2) === 0 ? [] : someOf(NAMES);
  return {
    verbs,
    apiGroups: someOf(API_GROUPS),
    resources: someOf(RESOURCES),
    resourceNames,
    nonResourceURLs: [],
  };
}

function every<T, U>(values: readonly T[], make: (value: T) => readonly U[]): readonly U[] {
  return values.flatMap(make);
}

/** Everything that can be asked of what the rules are about. */
const QUESTIONS: readonly AccessQuestion[] = [
  ...every(['get', 'list', 'delete'], (verb) => PATHS.map((path) => ({ verb, path }))),
  ...every(['get', 'list', 'delete'], (verb) =>
    every(['', 'apps', 'batch'], (apiGroup) =>
      every(['pods', 'logs', 'x', '*'], (resource) =>
        every(['', 'log', 'status', '*'], (subresource) =>
          ['', 'a', 'c'].map((name) => ({ verb, apiGroup, resource, subresource, name })),
        ),
      ),
    ),
  ),
].map((about) => ({
  user: { name: 'u', uid: '', groups: [], extra: {} },
  isResourceRequest: !('path' in about),
  path: '',
  apiGroup: '',
  apiVersion: 'v1',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  ...about,
}));

test('who gives away what the check lets pass had all of it', () => {
  const asked = QUESTIONS.map(askedBy);
  // Collected, as comparing by `expect` takes longer than all the rest.
  const wrong: unknown[] = [];
  let passed = 0;
  let refused = 0;
  for (let turn = 0; turn < CASES; turn += 1) {
    const held = [newRule(), newRule(), newRule()];
    const wanted = [newRule()];
    if (missingRules(held, wanted).length > 0) {
      refused += 1;
      continue;
    }
    passed += 1;
    const [given, own] = [wanted, held].map((rules) => rules.map((rule) => new CompiledRule(rule)));
    const more = asked.filter(
      (each) =>
        given?.some((rule) => rule.allows(each)) === true && own?.some((rule) => rule.allows(each)) === false,
    );
    if (more.length > 0) wrong.push({ held, wanted, more });
  }
  expect(wrong).toEqual([]);
  expect(Math.min(passed, refused)).toBeGreaterThan(500);
});
