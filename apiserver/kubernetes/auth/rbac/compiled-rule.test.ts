import type { AccessQuestion } from '../../../engine/request/access';
import { CompiledRule, askedBy } from './compiled-rule';
import type { PolicyRule } from './policy-rule';

const NOTHING: PolicyRule = {
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
};

function allows(rule: Partial<PolicyRule>, about: Partial<AccessQuestion>): boolean {
  const question: AccessQuestion = {
    user: { name: 'u', uid: '', groups: [], extra: {} },
    verb: 'get',
    isResourceRequest: about.path === undefined,
    path: '',
    apiGroup: '',
    apiVersion: 'v1',
    namespace: '',
    resource: 'pods',
    subresource: '',
    name: '',
    ...about,
  };
  const whole = { verbs: ['get'], apiGroups: [''], resources: ['pods'], ...rule };
  return new CompiledRule({ ...NOTHING, ...whole }).allows(askedBy(question));
}

test.each<[string, Partial<PolicyRule>, Partial<AccessQuestion>, boolean]>([
  ['what it names', {}, {}, true],
  ['no other verb', {}, { verb: 'list' }, false],
  ['no other group', {}, { apiGroup: 'apps' }, false],
  ['no other resource', {}, { resource: 'secrets' }, false],
  ['every verb', { verbs: ['*'] }, { verb: 'use' }, true],
  ['every group', { apiGroups: ['*'] }, { apiGroup: 'apps' }, true],
  ['every resource', { resources: ['*'] }, { resource: 'x' }, true],
  ['every resource with its subresources', { resources: ['*'] }, { subresource: 'log' }, true],
  ['a resource without its subresources', {}, { subresource: 'log' }, false],
  ['a subresource', { resources: ['pods/log'] }, { subresource: 'log' }, true],
  ['a subresource without its resource', { resources: ['pods/log'] }, {}, false],
  ['a subresource of any resource', { resources: ['*/scale'] }, { subresource: 'scale' }, true],
  ['no other subresource', { resources: ['*/scale'] }, { subresource: 'status' }, false],
  ['no resource that is called like it', { resources: ['*/scale'] }, { resource: 'scale' }, false],
  ['not all subresources of a resource', { resources: ['pods/*'] }, { subresource: 'log' }, false],
  ['no beginnings of verbs', { verbs: ['g*'] }, {}, false],
  ['names', { resourceNames: ['a', 'b'] }, { name: 'b' }, true],
  ['no other name', { resourceNames: ['a'] }, { name: 'b' }, false],
  ['no collection when it names objects', { resourceNames: ['a'] }, { name: '' }, false],
  ['no star as a name', { resourceNames: ['*'] }, { name: 'a' }, false],
  ['no path when it is about resources', { resources: ['*'] }, { path: '/metrics' }, false],
])('a rule allows %s', (_title, rule, about, isAllowed) => {
  expect(allows(rule, about)).toBe(isAllowed);
});

test.each<[string[], string, boolean]>([
  [['/healthz'], '/healthz', true],
  [['/healthz'], '/healthz/', false],
  [['/healthz/*'], '/healthz/ping', true],
  [['/healthz/*'], '/healthz', false],
  [['/api*'], '/apis/apps', true],
  [['/a/**'], '/a/b', true],
  [['*'], '/anything', true],
  [['/*/b'], '/a/b', false],
  [['/x', '/y'], '/y', true],
])('a rule about %j: %s', (nonResourceURLs, path, isAllowed) => {
  const rule = { apiGroups: [], resources: [], nonResourceURLs };
  expect(allows(rule, { path })).toBe(isAllowed);
  expect(allows(rule, { path, verb: 'post' })).toBe(false);
});
