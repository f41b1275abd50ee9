import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ABAC_GROUP, USER_GROUP } from '../../../../shared/names';
import type { AccessQuestion } from '../../../engine/request/access';
import { abacAccess } from './abac-access';
import { readPolicyFile } from './policy-file';

const SIGNAL = new AbortController().signal;
const dir = mkdtempSync(path.join(tmpdir(), 'abac-'));
const file = path.join(dir, 'policies');
afterAll(() => rmSync(dir, { recursive: true }));

const versioned = (spec: object): string =>
  JSON.stringify({ apiVersion: `${ABAC_GROUP}/v1beta1`, kind: 'Policy', spec });

function parsed(...lines: string[]) {
  writeFileSync(file, lines.join('\n'));
  return readPolicyFile(file);
}

function access(...lines: string[]) {
  const found = parsed(...lines);
  if (!found.ok) throw new Error(found.problems.join('\n'));
  return abacAccess(found.policies);
}

const QUESTION: AccessQuestion = {
  user: { name: 'ann', uid: '', groups: ['devs', USER_GROUP.authenticated], extra: {} },
  verb: 'get',
  isResourceRequest: true,
  path: '/api/v1/namespaces/ns/pods',
  apiGroup: '',
  apiVersion: 'v1',
  namespace: 'ns',
  resource: 'pods',
  subresource: '',
  name: '',
};
const PATH = { isResourceRequest: false, path: '/logs/a', resource: '', namespace: '' } as const;
const ALL = { namespace: '*', resource: '*', apiGroup: '*' } as const;

test.each<readonly [string, string, Partial<AccessQuestion>, boolean]>([
  ['a user', versioned({ user: 'ann', ...ALL }), {}, true],
  ['another user', versioned({ user: 'bob', ...ALL }), {}, false],
  ['a group', versioned({ group: 'devs', ...ALL }), {}, true],
  ['a user in a group that is not theirs', versioned({ user: 'ann', group: 'ops', ...ALL }), {}, false],
  ['no user', versioned({ ...ALL }), {}, false],
  ['everybody who is known', versioned({ user: '*', ...ALL }), {}, true],
  ['not the unknown', versioned({ user: '*', ...ALL }), { user: { ...QUESTION.user, groups: [] } }, false],
  ['another namespace', versioned({ user: 'ann', ...ALL, namespace: 'x' }), {}, false],
  ['another resource', versioned({ user: 'ann', ...ALL, resource: 'nodes' }), {}, false],
  ['a group of APIs that is not said', versioned({ user: 'ann', ...ALL, apiGroup: '' }), {}, true],
  ['another group of APIs', versioned({ user: 'ann', ...ALL, apiGroup: 'apps' }), {}, false],
  ['reading only', versioned({ user: 'ann', ...ALL, readonly: true }), { verb: 'watch' }, true],
  ['not writing', versioned({ user: 'ann', ...ALL, readonly: true }), { verb: 'create' }, false],
  ['no path by resources', versioned({ user: 'ann', ...ALL }), PATH, false],
  ['a path', versioned({ user: 'ann', nonResourcePath: '/logs/a' }), PATH, true],
  ['paths below', versioned({ user: 'ann', nonResourcePath: '/logs/*' }), PATH, true],
  ['other paths', versioned({ user: 'ann', nonResourcePath: '/metrics' }), PATH, false],
  ['all paths', versioned({ user: 'ann', nonResourcePath: '*' }), PATH, true],
  ['everything, in the old form', '{}', { verb: 'delete' }, true],
  ['every path, in the old form', '{"user":"ann"}', PATH, true],
  ['no path with a resource, in the old form', '{"user":"ann","resource":"pods"}', PATH, false],
  ['every group of APIs, in the old form', '{"user":"ann","resource":"pods"}', { apiGroup: 'x' }, true],
])('a policy is for %s', async (_what, line, over, allowed) => {
  const result = await access('# a comment', '', line).authorize({ ...QUESTION, ...over }, SIGNAL);
  expect(result).toEqual(
    allowed ? { decision: 'allow', reason: '' } : { decision: 'no-opinion', reason: 'No policy matched.' },
  );
});

test('each unparsable line is reported by its number', () => {
  const wrong = JSON.stringify({ apiVersion: 'x/v9', kind: 'Policy' });
  expect(parsed('{}', '{"user":', '[]', '{"readonly":"yes"}', versioned({ user: 7 }), wrong)).toEqual({
    ok: false,
    problems: [
      expect.stringMatching(/^error reading policy file .*, line 2: \{"user":: /),
      `error reading policy file ${file}, line 3: []: not an object`,
      `error reading policy file ${file}, line 4: {"readonly":"yes"}: readonly must be true or false`,
      `error reading policy file ${file}, line 5: ${versioned({ user: 7 })}: user must be a string`,
      `error reading policy file ${file}, line 6: ${wrong}: it is "Policy" of "x/v9", not "Policy" of "${ABAC_GROUP}/v1beta1"`,
    ],
  });
});

test('lines of the old form are counted', () => {
  expect(parsed('{}', versioned({ user: 'ann' }), '{"user":"ann"}')).toMatchObject({ unversioned: 2 });
});

test('what a user may do is listed for a namespace', async () => {
  const { rulesOf } = access(
    versioned({ user: 'ann', namespace: 'ns', resource: 'pods', readonly: true }),
    versioned({ user: 'ann', namespace: 'other', resource: 'nodes' }),
    versioned({ group: 'devs', namespace: '*', nonResourcePath: '/logs/*' }),
  );
  expect(await rulesOf(QUESTION.user, 'ns', SIGNAL)).toEqual({
    resourceRules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/logs/*'] }],
    incomplete: false,
  });
});
