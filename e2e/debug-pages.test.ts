import { suiteLocalServer } from './support/suite';
import { startLocalServer } from './support/local-server';
import type { ApiClient } from './support/client';
import { eventually } from '../shared/testing/eventually';
import { explained } from './support/workspace';

const local = suiteLocalServer('kubernetes');

const OTHER = { 'impersonate-user': 'somebody', 'impersonate-group': 'system:authenticated' };
const FLOW_PAGES = [
  ['dump_priority_levels', 'PriorityLevelName,'],
  ['dump_queues', 'PriorityLevelName,'],
  ['dump_requests', 'PriorityLevelName,'],
] as const;

const as = async (headers: Readonly<Record<string, string>>, path: string) =>
  local.replica.client.request({ path, headers });

test.each(FLOW_PAGES)(
  'the flow control page %s is 200 for administrators and 403 for other users',
  async (page, head) => {
    const path = `/debug/api_priority_and_fairness/${page}`;
    const shown = await as({}, path);
    expect(shown.status).toBe(200);
    expect(shown.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(shown.text.startsWith(head)).toBe(true);
    expect((await as(OTHER, path)).body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `forbidden: User "somebody" cannot get path "${path}"`,
    });
  },
);

test('the page of priority levels lists all default levels', async () => {
  const levels = ['exempt', 'catch-all', 'system', 'workload-high'];
  let names: (string | undefined)[] = [];
  await eventually('the default priority levels are in effect', async () => {
    const { text } = await as({}, '/debug/api_priority_and_fairness/dump_priority_levels');
    names = text.split('\n').map((line) => line.split(',')[0]?.trim());
    return levels.every((name) => names.includes(name));
  });
  expect(names).toEqual(expect.arrayContaining(levels));
});

test('profiles and their index are 200 for administrators and 403 for other users', async () => {
  const index = await as({}, '/debug/pprof/');
  expect(index).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(index.text).toContain('<a href="heap?');
  expect(await as({}, '/debug/pprof')).toMatchObject({ status: 302, headers: { location: '/debug/pprof/' } });
  for (const kind of ['profile', 'heap']) {
    const profile = await as({}, `/debug/pprof/${kind}?seconds=0.05`);
    expect(profile).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(profile.body).toEqual(expect.any(Object));
    expect((await as(OTHER, `/debug/pprof/${kind}?seconds=0.05`)).status).toBe(403);
  }
  expect((await as(OTHER, '/debug/pprof/')).status).toBe(403);
  expect((await as({}, '/debug/pprof/goroutine')).status).toBe(404);
  expect((await as({}, '/debug/pprof/heap?seconds=no')).status).toBe(400);
});

test('a role for the path of a debug page grants that page only', async () => {
  const { client } = local.replica;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [{ verbs: ['get'], nonResourceURLs: ['/debug/pprof/*'] }];
  await client.create(`${rbac}/clusterroles`, { metadata: { name: 'profiler' }, rules });
  await client.create(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'profilers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'profiler' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'profiler' }],
  });
  const profiler = { ...OTHER, 'impersonate-user': 'profiler' };
  expect((await as(profiler, '/debug/pprof/heap?seconds=0.05')).status).toBe(200);
  expect((await as(profiler, '/debug/api_priority_and_fairness/dump_queues')).status).toBe(403);
});

test(
  '--profiling=false removes the profiles and keeps the pages of flow control',
  explained(async () => {
    const plain = await startLocalServer('kubernetes', () => ['--profiling=false']);
    try {
      const { client }: { readonly client: ApiClient } = plain.replica;
      for (const path of ['/debug/pprof', '/debug/pprof/', '/debug/pprof/heap?seconds=0.05']) {
        expect((await client.get(path)).status).toBe(404);
      }
      expect((await client.get('/debug/api_priority_and_fairness/dump_queues')).status).toBe(200);
    } finally {
      await plain.stop();
    }
  }),
);
