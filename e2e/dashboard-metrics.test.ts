import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { startControllerManager } from '../deploy/local/controller-manager';
import { ensureCredentials } from '../deploy/local/credentials';
import { freePort } from '../deploy/local/ports';
import { repositoryRoot } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { readBuild } from '../shared/build';
import { createClient } from '../shared/client/client';
import { eventually } from '../shared/testing/eventually';
import type { QueriedMetric } from './support/mixin-queries';
import { API_SERVER_METRICS, CONTROLLER_MANAGER_METRICS, WITHOUT_SUBJECT } from './support/mixin-queries';
import { suiteHaSet } from './support/suite';
import { explained, makeWorkspace, remember } from './support/workspace';

/** The running programs export the metrics and labels that dashboards and rules for Kubernetes query. */
const COLLECTION = '/api/v1/namespaces/default/configmaps';
const PROMTOOL = path.join(repositoryRoot, '.tools', 'prometheus', 'usr', 'bin', 'promtool');
const GRACE_MS = 5_000;

/** Names of Kubernetes that promtool criticizes for a type or suffix that is in the name or missing. */
const GIVEN = new Set([
  'apiserver_admission_webhook_fail_open_count',
  'apiserver_admission_webhook_rejection_count',
  'apiserver_longrunning_gauge',
  'authentication_token_cache_active_fetch_count',
  'etcd_object_counts',
  'apiserver_current_inflight_requests',
  'authenticated_user_requests',
  'authentication_attempts',
]);

describe('the metrics of running programs', () => {
  const workspace = makeWorkspace('dashboard-metrics');
  const programs: StartedProcess[] = [];
  const stopWatch = new AbortController();
  const texts = { 'API server': '', 'controller-manager': '' };
  afterAll(async () => {
    stopWatch.abort();
    for (const program of programs) await program.stop(GRACE_MS);
    workspace.remove();
  });
  const set = suiteHaSet({
    replicas: 1,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
    extraArgs: [
      '--etcd-db-metric-poll-interval=100ms',
      '--disabled-metrics=apiserver_loop_late',
      '--allow-metric-labels=apiserver_longrunning_gauge,resource=pods',
    ],
  });

  beforeAll(
    explained(async () => {
      const securePort = await freePort();
      programs.push(
        remember(
          await startControllerManager({
            name: 'controller-manager',
            kubeconfig: set.kubeconfig,
            credentials: ensureCredentials(workspace.dir),
            dialect: 'kubernetes',
            securePort,
            extraArgs: ['--authorization-always-allow-paths=/healthz,/metrics'],
          }),
        ),
      );
      await causeTraffic();
      const manager = createClient({
        server: `https://127.0.0.1:${String(securePort)}`,
        insecureSkipTlsVerify: true,
      });
      await eventually('the controller-manager leads', async () => {
        const answer = await manager.request({ method: 'GET', path: '/metrics' }).catch(() => undefined);
        texts['controller-manager'] = answer?.body.toString() ?? '';
        return texts['controller-manager'].includes(
          'leader_election_master_status{name="kube-controller-manager"} 1',
        );
      });
      await eventually('the database size is exported', async () => {
        texts['API server'] = (await set.client.get('/metrics')).text;
        return texts['API server'].includes('etcd_db_total_size_in_bytes{');
      });
      manager.close();
    }),
  );

  /** Sends one request of each kind, because events that never happened have no series. */
  async function causeTraffic(): Promise<void> {
    await set.client.create(COLLECTION, { metadata: { name: 'a' } });
    const watch = set.client.watch(`${COLLECTION}?watch=1`, stopWatch.signal);
    const first = watch[Symbol.asyncIterator]().next();
    await first;
    await set.client.get(COLLECTION);
    await set.client.get(`${COLLECTION}/a`);
    // The version is not reached before the timeout: the server ends this request.
    const ended = await set.client.get(`${COLLECTION}?resourceVersion=999999999&timeout=1s`);
    expect(ended.status).toBe(504);
  }

  const rows = [
    ...API_SERVER_METRICS.map((metric) => ['API server', metric.name, metric] as const),
    ...CONTROLLER_MANAGER_METRICS.map((metric) => ['controller-manager', metric.name, metric] as const),
  ];

  test.each(rows)('the %s exports %s with the queried labels', (program, _name, metric) => {
    const series = seriesOf(texts[program], metric);
    expect(series).not.toEqual([]);
    expect(metric.labels.filter((label) => !(label in (series[0] ?? {})))).toEqual([]);
    const bounds = new Set(series.map(({ le }) => le));
    expect((metric.bounds ?? []).filter((bound) => !bounds.has(bound))).toEqual([]);
  });

  test.each(['API server', 'controller-manager'] as const)(
    'the %s exports no series twice, and the stability class of each metric',
    (program) => {
      const lines = texts[program].split('\n');
      const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
      const names = samples.map((line) => line.slice(0, line.lastIndexOf(' ')));
      expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
      const unclassed = lines
        .filter((line) => line.startsWith('# HELP '))
        .filter((line) => !/^# HELP (?:process|nodejs)_|^# HELP \S+ \[(?:ALPHA|STABLE)\] /.test(line));
      expect(unclassed).toEqual([]);
      expect(lines).toContainEqual(expect.stringMatching(/^orch_build_info\{version="\d/));
    },
  );

  test('all programs export the same build information', async () => {
    const { version, commit, treeState, date } = readBuild(path.join(repositoryRoot, 'dist'));
    const own = `orch_build_info{version="${version}",commit="${commit}",build_date="${date}"`;
    const given = `git_commit="${commit}",git_tree_state="${treeState}",build_date="${date}"`;
    for (const text of Object.values(texts)) {
      expect(text).toContain(`\n${own}`);
      expect(text).toMatch(new RegExp(`^kubernetes_build_info\\{.*,${given},`, 'mu'));
    }
    const { body } = await set.client.get('/version');
    expect(body).toMatchObject({ gitCommit: commit, gitTreeState: treeState, buildDate: date });
  });

  (existsSync(PROMTOOL) ? test : test.skip).each(['API server', 'controller-manager'] as const)(
    'promtool criticizes only names of Kubernetes in the metrics of the %s',
    (program) => {
      const { status, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], {
        input: texts[program],
        encoding: 'utf8',
      });
      const complaints = stderr.split('\n').filter((line) => line !== '');
      expect(complaints.filter((line) => !GIVEN.has(line.split(' ')[0] ?? ''))).toEqual([]);
      // 3: the findings are about names only.
      expect([0, 3]).toContain(status);
    },
  );

  test.each(WITHOUT_SUBJECT)('the API server does not export $name: $reason', ({ name }) => {
    expect(seriesOf(texts['API server'], { name, labels: [] })).toEqual([]);
  });

  test('flags disable a metric and restrict the values of a label', () => {
    expect(texts['API server']).not.toContain('apiserver_loop_late');
    const verbs = seriesOf(texts['API server'], { name: 'apiserver_longrunning_gauge', labels: [] });
    // Another client may watch pods already.
    const shown = new Set(verbs.map(({ resource }) => resource));
    expect(shown).toContain('unexpected');
    expect([...shown].filter((resource) => resource !== 'pods' && resource !== 'unexpected')).toEqual([]);
  });
});

function seriesOf(text: string, { name }: QueriedMetric): readonly Readonly<Record<string, string>>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) =>
      Object.fromEntries(
        [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
      ),
    );
}
