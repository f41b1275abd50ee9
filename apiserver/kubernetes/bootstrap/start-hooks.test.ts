import { patience } from '../../../shared/testing/eventually';
import type { StartHooks } from './start-hooks';
import { createStartHooks } from './start-hooks';

async function unfinished({ checks }: StartHooks): Promise<readonly string[]> {
  const problems = await Promise.all(checks.map(async ({ check }) => check(patience())));
  return checks.filter((_, index) => problems[index] === 'not finished').map(({ name }) => name);
}

test('every start hook has a health check on every path, in the order and with the names of kube-apiserver', () => {
  const { checks } = createStartHooks([]);
  expect(checks.map(({ name }) => name)).toEqual([
    'poststarthook/start-orch-apiserver-admission-initializer',
    'poststarthook/generic-apiserver-start-informers',
    'poststarthook/priority-and-fairness-config-consumer',
    'poststarthook/priority-and-fairness-filter',
    'poststarthook/start-apiextensions-informers',
    'poststarthook/start-apiextensions-controllers',
    'poststarthook/crd-informer-synced',
    'poststarthook/bootstrap-controller',
    'poststarthook/rbac/bootstrap-roles',
    'poststarthook/scheduling/bootstrap-system-priority-classes',
    'poststarthook/priority-and-fairness-config-producer',
    'poststarthook/start-cluster-authentication-info-controller',
    'poststarthook/start-orch-apiserver-identity-lease-controller',
    'poststarthook/start-orch-apiserver-identity-lease-garbage-collector',
    'poststarthook/start-aggregator-informers',
    'poststarthook/apiservice-registration-controller',
    'poststarthook/apiservice-status-available-controller',
    'poststarthook/built-in-resources-storage-version-updater',
    'poststarthook/orch-apiserver-autoregistration',
    'autoregister-completion',
    'poststarthook/apiservice-openapi-controller',
  ]);
  const onEveryPath = { paths: ['healthz', 'livez', 'readyz'], isStartup: true };
  for (const check of checks) expect(check).toMatchObject(onEveryPath);
});

test('an absent start hook is not waited for', () => {
  const names = createStartHooks(['flowFilter']).checks.map(({ name }) => name);
  expect(names).toHaveLength(20);
  expect(names).not.toContain('poststarthook/priority-and-fairness-filter');
});

test('a check succeeds once its hook is done, while the others still fail', async () => {
  const hooks = createStartHooks([]);
  expect(await unfinished(hooks)).toHaveLength(21);
  hooks.done('policy', 'autoregisterCompletion');
  hooks.done('policy');
  const left = await unfinished(hooks);
  expect(left).toHaveLength(19);
  expect(left).not.toContain('poststarthook/rbac/bootstrap-roles');
  expect(left).not.toContain('autoregister-completion');
});
