import { parseRequestInfo } from '../request/request-info';
import type { PolicyRule } from './policy';
import { decideBy } from './policy';

const NONE = new URLSearchParams();
const EMPTY: PolicyRule = {
  level: 'Metadata',
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  omitStages: [],
};
const USER = { name: 'alice', uid: '', groups: ['writers', 'readers'], extra: {} };

function decide(rules: readonly Partial<PolicyRule>[], request: string) {
  const [method = '', url = ''] = request.split(' ');
  const policy = { rules: rules.map((rule) => ({ ...EMPTY, ...rule })), omitStages: ['Panic'] as const };
  return decideBy(policy)({ info: parseRequestInfo(method, url, NONE), user: USER });
}

function fits(rule: Partial<PolicyRule>, request: string): boolean {
  return decide([rule], request).level === 'Metadata';
}

const resources = (group: string, names: readonly string[], resourceNames: readonly string[] = []) => ({
  resources: [{ group, resources: names, resourceNames }],
});
const POD = 'GET /api/v1/namespaces/x/pods/web';
const LOG = 'GET /api/v1/namespaces/x/pods/web/log';
const SCALE = 'GET /apis/apps/v1/namespaces/x/deployments/d/scale';
const NAMESPACE = 'GET /api/v1/namespaces/x';
const NODE = 'GET /api/v1/nodes/n';

test.each<[string, Partial<PolicyRule>, string, boolean]>([
  ['no condition', {}, POD, true],
  ['no condition, for another URL', {}, 'GET /healthz', true],
  ['the user', { users: ['bob', 'alice'] }, POD, true],
  ['another user', { users: ['bob'] }, POD, false],
  ['a group of the user', { userGroups: ['readers'] }, POD, true],
  ['another group', { userGroups: ['owners'] }, POD, false],
  ['the user and another group', { users: ['alice'], userGroups: ['owners'] }, POD, false],
  ['the verb', { verbs: ['get'] }, POD, true],
  ['another verb', { verbs: ['list'] }, POD, false],
  ['the resource', resources('', ['pods']), POD, true],
  ['the resource, for its subresource', resources('', ['pods']), LOG, false],
  ['the subresource', resources('', ['pods/log']), LOG, true],
  ['the subresource, for its resource', resources('', ['pods/log']), POD, false],
  ['all subresources', resources('', ['pods/*']), LOG, true],
  ['all subresources of another', resources('', ['nodes/*']), LOG, false],
  ['one subresource of all', resources('apps', ['*/scale']), SCALE, true],
  ['another subresource of all', resources('apps', ['*/status']), SCALE, false],
  ['all resources', resources('', ['*']), LOG, true],
  ['the whole group', resources('', []), LOG, true],
  ['another group of APIs', resources('apps', []), POD, false],
  ['the name', resources('', ['pods'], ['api', 'web']), POD, true],
  ['another name', resources('', ['pods'], ['api']), POD, false],
  ['a name, for a list', resources('', ['pods'], ['web']), 'GET /api/v1/namespaces/x/pods', false],
  ['the namespace', { namespaces: ['x'] }, POD, true],
  ['another namespace', { namespaces: ['y'] }, POD, false],
  ['the namespace, for the Namespace itself', { namespaces: ['x'] }, NAMESPACE, true],
  ['no namespace', { namespaces: [''] }, NODE, true],
  ['no namespace, for what has one', { namespaces: [''] }, POD, false],
  ['a namespace, for another URL', { namespaces: [''] }, 'GET /healthz', false],
  ['resources, for another URL', resources('', ['*']), 'GET /healthz', false],
  ['the URL', { nonResourceURLs: ['/healthz'] }, 'GET /healthz', true],
  ['the beginning of the URL without a star', { nonResourceURLs: ['/healthz'] }, 'GET /healthz/etcd', false],
  ['the beginning of the URL', { nonResourceURLs: ['/healthz*'] }, 'GET /healthz/etcd', true],
  ['the URL, encoded', { nonResourceURLs: ['/healthz'] }, 'GET /%68ealthz', true],
  ['every URL', { nonResourceURLs: ['*'] }, 'GET /apis', true],
  ['every URL, for a resource', { nonResourceURLs: ['*'] }, POD, false],
])('a rule with %s: %j for %s fits: %s', (_what, rule, request, expected) => {
  expect(fits(rule, request)).toBe(expected);
});

test('the first rule that fits decides', () => {
  const rules: Partial<PolicyRule>[] = [
    { level: 'None', users: ['bob'] },
    { level: 'Request', users: ['alice'] },
    { level: 'RequestResponse' },
  ];
  expect(decide(rules, POD).level).toBe('Request');
});

test('what no rule is about is not recorded', () => {
  expect(decide([{ users: ['bob'] }], POD).level).toBe('None');
});

test('the stages that the rule omits come on top of those that the policy omits', () => {
  const { omitStages } = decide([{ omitStages: ['RequestReceived'] }], POD);
  expect([...omitStages].sort()).toEqual(['Panic', 'RequestReceived']);
});
