import type { ApiObject } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import type { ClusterRole } from '../../shared/api/types/rbac-v1';
import { runRoleAggregation } from './role-aggregation';

const ROLES = `/apis/${GROUP.rbac}/v1/clusterroles`;
const rule = (...verbs: string[]): object => ({ verbs, apiGroups: ['example.com'], resources: ['widgets'] });
const GATHERING = { clusterRoleSelectors: [{ matchLabels: { gathered: 'yes' } }] };

let bench: RoleBench;

async function start(serverSideApply: boolean): Promise<void> {
  bench = await createRoleBench(undefined, { serverSideApply });
}

function runController(): void {
  bench.run(runRoleAggregation, 'clusterrole-aggregation-controller');
}

afterEach(async () => bench.close());

async function gathered(name: string, rules: readonly object[]): Promise<void> {
  await bench.call('POST', ROLES, { metadata: { name, labels: { gathered: 'yes' } }, rules });
}

/** Resolves with the role `whole` once it has these rules. */
async function whole(rules: readonly object[]): Promise<ApiObject | undefined> {
  const wanted = JSON.stringify(rules);
  return bench.when<ClusterRole>(
    ROLES,
    'whole',
    (role) => role !== undefined && JSON.stringify(role.rules ?? []) === wanted,
  );
}

test('an aggregated role has the rules of all selected roles in the order of their names', async () => {
  await start(true);
  await bench.call('POST', ROLES, { metadata: { name: 'whole' }, rules: null, aggregationRule: GATHERING });
  await gathered('b', [rule('list'), rule('get')]);
  runController();
  await whole([rule('list'), rule('get')]);
  await gathered('a', [rule('watch'), rule('get')]);
  const role = await whole([rule('watch'), rule('get'), rule('list')]);
  expect(role?.metadata['managedFields']).toContainEqual(
    expect.objectContaining({
      manager: 'clusterrole-aggregation-controller',
      operation: 'Apply',
      fieldsV1: { 'f:rules': {} },
    }),
  );
  await bench.call('PATCH', `${ROLES}/b`, { metadata: { labels: { gathered: 'no' } } });
  await whole([rule('watch'), rule('get')]);
  await bench.call('DELETE', `${ROLES}/a`);
  await whole([]);
});

test('rules that a client writes into an aggregated role are removed', async () => {
  await start(true);
  await gathered('a', [rule('get')]);
  const own = { metadata: { name: 'whole' }, rules: [rule('delete')], aggregationRule: GATHERING };
  await bench.call('POST', ROLES, own);
  runController();
  await whole([rule('get')]);
  await bench.call('PATCH', `${ROLES}/whole`, { rules: [rule('delete')] });
  expect((await whole([rule('get')]))?.metadata.name).toBe('whole');
});

test('roles that aggregate each other converge', async () => {
  await start(true);
  const labels = { gathered: 'yes' };
  await bench.call('POST', ROLES, {
    metadata: { name: 'whole', labels },
    rules: [],
    aggregationRule: GATHERING,
  });
  await bench.call('POST', ROLES, {
    metadata: { name: 'other', labels },
    rules: [],
    aggregationRule: GATHERING,
  });
  await gathered('a', [rule('get')]);
  runController();
  expect((await whole([rule('get')]))?.metadata.name).toBe('whole');
});

test('without server-side apply the rules are updated', async () => {
  await start(false);
  await bench.call('POST', ROLES, { metadata: { name: 'whole' }, rules: [], aggregationRule: GATHERING });
  await gathered('a', [rule('get')]);
  runController();
  expect((await whole([rule('get')]))?.metadata.name).toBe('whole');
});

test('a deleted role is not created again', async () => {
  await start(true);
  await bench.call('POST', ROLES, { metadata: { name: 'whole' }, rules: [], aggregationRule: GATHERING });
  await gathered('a', [rule('get')]);
  const { api } = bench;
  const call = api.call.bind(api);
  let patched: (() => void) | undefined;
  const tried = new Promise<void>((resolve) => {
    patched = resolve;
  });
  api.call = async (method, url, options) => {
    if (method === 'PATCH' && url.startsWith(`${ROLES}/whole`)) {
      await call('DELETE', `${ROLES}/whole`);
      const reply = await call(method, url, options);
      patched?.();
      return reply;
    }
    return call(method, url, options);
  };
  runController();
  await tried;
  expect((await call('GET', `${ROLES}/whole`)).code).toBe(404);
});

test("the user-facing default roles get their rules from the server's roles", async () => {
  await start(true);
  runController();
  // From `view` through `edit`, and from `edit`.
  expect(await resourcesOfAdmin()).toEqual(
    expect.arrayContaining(['rolebindings', 'pods/log', 'deployments']),
  );
});

/** Returns the resources of the role `admin` after aggregation. */
async function resourcesOfAdmin(): Promise<readonly string[]> {
  const resourcesOf = (role: ClusterRole | undefined): readonly string[] => [
    ...new Set((role?.rules ?? []).flatMap((each) => each.resources ?? [])),
  ];
  return resourcesOf(await bench.when<ClusterRole>(ROLES, 'admin', (role) => resourcesOf(role).length > 40));
}
