import type { NameRule } from '../../../shared/meta/name-rules';
import { subdomainName } from '../../../shared/meta/name-rules';
import { GROUP } from '../../../shared/names';
import { kindOf } from './kinds';

function nameRuleOf({ group, resource }: { readonly group: string; readonly resource: string }): NameRule {
  return kindOf(group, resource).strategy?.nameRule ?? subdomainName;
}

test.each([
  [GROUP.core, 'configmaps', 'a.b', true],
  [GROUP.core, 'configmaps', 'a_b', false],
  [GROUP.core, 'namespaces', 'a.b', false],
  [GROUP.core, 'namespaces', '1a', true],
  [GROUP.core, 'services', '1a', false],
  [GROUP.core, 'services', 'a1', true],
  [GROUP.core, 'events', 'A_b', true],
  [GROUP.events, 'events', 'A_b', false],
  [GROUP.apps, 'deployments', 'a.b', true],
  [GROUP.batch, 'jobs', 'a'.repeat(63), true],
  [GROUP.rbac, 'clusterroles', 'system:node', true],
  [GROUP.rbac, 'clusterroles', 'a/b', false],
  [GROUP.certificates, 'certificatesigningrequests', 'Node-CSR_1', true],
  [GROUP.policy, 'poddisruptionbudgets', 'A_b', true],
  [GROUP.policy, 'podsecuritypolicies', 'A_b', false],
  [GROUP.apiserverinternal, 'storageversions', 'apps.deployments', true],
  [GROUP.apiserverinternal, 'storageversions', 'deployments', false],
  [GROUP.apiserverinternal, 'storageversions', 'Apps.1x', false],
  ['example.com', 'gizmos', 'A', false],
  ['example.com', 'gizmos', 'a.b', true],
])('in %j, %s may be named %s: %s', (group, resource, name, isGood) => {
  expect(nameRuleOf({ group, resource })(name, false).length === 0).toBe(isGood);
});

test.each([
  ['configmaps', 'a-', true],
  ['configmaps', 'a.', false],
  ['configmaps', '-', true],
  ['configmaps', 'A', false],
  ['namespaces', 'a-', true],
])('%s may be generated from %s: %s', (resource, prefix, isGood) => {
  expect(nameRuleOf({ group: GROUP.core, resource })(prefix, true).length === 0).toBe(isGood);
});

test('a long generateName of a CronJob is validated as the generated name', () => {
  const rule = nameRuleOf({ group: GROUP.batch, resource: 'cronjobs' });
  expect(rule('a'.repeat(60), true)).toEqual([]);
});
