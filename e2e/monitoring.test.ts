import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dump, load } from 'js-yaml';
import { startControllerManager } from '../deploy/local/controller-manager';
import { ensureCredentials } from '../deploy/local/credentials';
import { freePort } from '../deploy/local/ports';
import { repositoryRoot } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import { eventually } from '../shared/testing/eventually';
import { HELMS, RELEASE_NAMESPACE, rendered } from './support/helm';
import { suiteHaSet } from './support/suite';
import { explained, makeWorkspace, remember } from './support/workspace';

/** A real Prometheus evaluates the rules and the dashboard of the chart on the metrics of the running programs. */
const TOOLS = path.join(repositoryRoot, '.tools', 'prometheus', 'usr', 'bin');
const PROMTOOL = path.join(TOOLS, 'promtool');
const RULES = path.join(repositoryRoot, 'helm', 'orch', 'files', 'rules.yaml');
const DASHBOARD = path.join(repositoryRoot, 'helm', 'orch', 'files', 'dashboard.json');
const DEPLOY = path.join(repositoryRoot, 'deploy', 'prometheus');
const run = existsSync(PROMTOOL) ? test : test.skip;
const GRACE_MS = 5_000;
const TRAFFIC_PAUSE_MS = 50;
/** Metrics of kube-state-metrics and node_exporter, also those that `orch-admin backup` leaves for its textfile collector. */
const OF_OTHERS = /^(?:kube_|node_systemd_|orch_backup_)/u;
const RUNBOOK = 'apiserver/docs/alerts.md';

interface Rule {
  readonly alert?: string;
  readonly annotations?: { readonly runbook_url?: string };
  readonly record?: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

const rules = (
  load(readFileSync(RULES, 'utf8')) as { groups: readonly { rules: readonly Rule[] }[] }
).groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: readonly Panel[] };

run('promtool accepts the rules, their tests and the scrape configuration', () => {
  const promtool = (...args: readonly string[]): string =>
    execFileSync(PROMTOOL, args, { encoding: 'utf8', cwd: DEPLOY });
  expect(promtool('check', 'rules', RULES)).toContain('SUCCESS');
  expect(promtool('test', 'rules', 'rules.test.yaml')).toContain('SUCCESS');
  expect(promtool('check', 'config', '--syntax-only', 'prometheus.yml')).toContain('SUCCESS');
});

const [, HELM] = HELMS;

(HELM.program === undefined ? test.skip : run)(
  'the rules of a release fire when its own targets are gone while another release is healthy',
  async () => {
    const workspace = makeWorkspace('rules');
    const on = ['--set', 'monitoring.prometheusRule.enabled=true,monitoring.serviceMonitor.enabled=true'];
    const objects = await rendered(HELM, on);
    const spec = objects.find(({ kind }) => kind === 'PrometheusRule')?.spec;
    writeFileSync(path.join(workspace.dir, 'rules.yaml'), dump(spec));
    const other = `namespace="${RELEASE_NAMESPACE}",release="other"`;
    const labels = { severity: 'critical', namespace: RELEASE_NAMESPACE, release: 'demo' };
    const expected = [
      ['OrchApiserversDown', 'No API server can be reached.'],
      ['OrchControllerManagerWithoutLeader', 'No controller-manager leads.'],
      ['OrchEtcdDown', 'No etcd member can be reached.'],
    ].map(([alertname = '', summary]) => ({
      eval_time: '10m',
      alertname,
      exp_alerts: [
        {
          exp_labels: labels,
          exp_annotations: { summary, runbook_url: `${RUNBOOK}#${alertname.toLowerCase()}` },
        },
      ],
    }));
    const series = [
      ...['orch-apiserver', 'orch-controller-manager', 'orch-etcd'].map((job) => `up{job="${job}",${other}}`),
      `leader_election_master_status{job="orch-controller-manager",${other}}`,
    ];
    const suite = {
      rule_files: ['rules.yaml'],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: series.map((each) => ({ series: each, values: '1x20' })),
          alert_rule_test: expected,
        },
      ],
    };
    writeFileSync(path.join(workspace.dir, 'test.yaml'), dump(suite));
    const text = execFileSync(PROMTOOL, ['test', 'rules', 'test.yaml'], {
      encoding: 'utf8',
      cwd: workspace.dir,
    });
    expect(text).toContain('SUCCESS');
    const monitors = objects.filter(({ kind }) => kind === 'ServiceMonitor');
    expect(monitors).toHaveLength(3);
    for (const { spec: each } of monitors)
      expect(JSON.stringify(each)).toContain('{"targetLabel":"release","replacement":"demo"}');
    workspace.remove();
  },
);

test('rules and panels keep releases apart', () => {
  const aggregated = /\b(?:sum|max|min|avg|count) ?(?:by \(([^)]*)\) ?)?\(/gu;
  const mixed = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ]
    .filter((expr) => /job=~?"orch-/u.test(expr))
    .filter((expr) =>
      [...expr.matchAll(aggregated)].some(
        ([, labels = '']) => !labels.startsWith('cluster, namespace, release'),
      ),
    );
  expect(mixed).toEqual([]);
  const open = panels
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
    .filter(
      (expr) =>
        expr.includes('orch-') && !expr.includes('cluster=~"$cluster"') && !expr.includes('node_systemd'),
    );
  expect(open).toEqual([]);
});

test('every alert links to its section of the runbook, and the runbook has no other sections', () => {
  const alerts = rules.flatMap(({ alert = '', annotations }) =>
    alert === '' ? [] : [{ alert, annotations }],
  );
  expect(alerts.length).toBeGreaterThan(20);
  for (const { alert, annotations } of alerts)
    expect(annotations?.runbook_url).toBe(`${RUNBOOK}#${alert.toLowerCase()}`);
  const text = readFileSync(path.join(repositoryRoot, RUNBOOK), 'utf8');
  const sections = [...text.matchAll(/^### (\w+)\n\n\S/gmu)].map(([, name = '']) => name);
  expect(sections.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test('every alert has a rule test', () => {
  const tried = readFileSync(path.join(DEPLOY, 'rules.test.yaml'), 'utf8');
  const untried = rules.filter(({ alert }) => alert !== undefined && !isNamed(tried, alert));
  expect(untried).toEqual([]);
});

test('every metric of an alert has a panel', () => {
  const recorded = new Map(rules.map(({ record = '', expr }) => [record, expr]));
  const metricsOf = (expression: string): readonly string[] => [
    ...selected(expression),
    ...[...expression.matchAll(/\b[a-z_]+(?::[a-z\d_]+)+/gu)].flatMap(([name]) =>
      selected(recorded.get(name) ?? ''),
    ),
  ];
  const shown = new Set(panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => metricsOf(expr))));
  const alerts = rules.flatMap(({ alert, expr }) =>
    alert === undefined ? [] : [{ alert, metrics: metricsOf(expr) }],
  );
  expect(alerts.filter(({ metrics }) => metrics.length === 0)).toEqual([]);
  expect(alerts.filter(({ metrics }) => !metrics.every((name) => shown.has(name)))).toEqual([]);
});

/** The metrics in an expression. */
function selected(expression: string): readonly string[] {
  return [...expression.matchAll(/(?<![:\w])([a-z_][a-z\d_]*)\{/gu)].map(([, name = '']) => name);
}

function isNamed(text: string, alert: string): boolean {
  return new RegExp(`alertname: ${alert}\\b`, 'u').test(text);
}

describe('Prometheus with a running set', () => {
  const workspace = makeWorkspace('monitoring');
  const programs: StartedProcess[] = [];
  let prometheus = '';

  afterAll(async () => {
    for (const program of programs) await program.stop(GRACE_MS);
    workspace.remove();
  });

  const set = suiteHaSet({
    replicas: 1,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
  });

  beforeAll(
    explained(async () => {
      if (!existsSync(PROMTOOL)) return;
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
      const port = await freePort();
      prometheus = `http://127.0.0.1:${String(port)}`;
      const config = path.join(workspace.dir, 'prometheus.yml');
      // The test needs the alert to fire at once, without its `for` duration.
      writeFileSync(
        path.join(workspace.dir, 'rules.yaml'),
        readFileSync(RULES, 'utf8').replaceAll(/( +for): .*$/gmu, '$1: 0s'),
      );
      writeFileSync(config, configOf(securePort));
      programs.push(
        remember(
          await startProcess({
            name: 'prometheus',
            command: path.join(TOOLS, 'prometheus'),
            args: [
              `--config.file=${config}`,
              `--storage.tsdb.path=${path.join(workspace.dir, 'data')}`,
              `--web.listen-address=127.0.0.1:${String(port)}`,
            ],
          }),
        ),
      );
      await causeTraffic();
    }),
  );

  function configOf(securePort: number): string {
    const replica = set.replicas[0];
    const token = readFileSync(replica?.kubeconfig ?? '', 'utf8').match(/token: (\S+)/u)?.[1];
    const jobs = [
      {
        job_name: 'orch-apiserver',
        scheme: 'https',
        authorization: { credentials: token },
        tls_config: { ca_file: replica?.caFile },
        static_configs: [{ targets: [`127.0.0.1:${String(replica?.port)}`] }],
      },
      {
        job_name: 'orch-controller-manager',
        scheme: 'https',
        tls_config: { insecure_skip_verify: true },
        static_configs: [{ targets: [`127.0.0.1:${String(securePort)}`] }],
      },
      {
        job_name: 'orch-etcd',
        static_configs: [{ targets: set.etcd.endpoints.map((endpoint) => new URL(endpoint).host) }],
      },
    ];
    // JSON is YAML.
    return JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: jobs,
    });
  }

  /** Produces data for every panel. */
  async function causeTraffic(): Promise<void> {
    const stopWatch = new AbortController();
    const watched = (async () => {
      for await (const event of set.client.watch(
        '/api/v1/namespaces/default/configmaps?watch=1',
        stopWatch.signal,
      ))
        if (event.object.metadata?.name === 'last') stopWatch.abort();
    })();
    const over = new AbortController();
    const traffic = (async () => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        await set.client.create('/api/v1/namespaces/default/configmaps', {
          metadata: { name: `m${String(turn)}` },
        });
        await set.client.get('/api/v1/namespaces/default/configmaps');
        await set.client.get('/api/v1/namespaces/default/configmaps/missing');
        await set.client.get('/api/v1/namespaces/default/services');
        // Every scrape sees some of it; more would only delay Prometheus.
        await delay(TRAFFIC_PAUSE_MS);
      }
    })();
    await eventually('all targets are scraped', async () => {
      const up = await query('up == 1').catch(() => []);
      return up.length === 3;
    });
    await eventually(
      'rates can be computed',
      async () => (await query('sum(rate(apiserver_request_total{code="404"}[5m])) > 0')).length > 0,
    );
    await eventually(
      'watch metrics have samples',
      async () => (await query('sum(rate(apiserver_watch_delay_seconds_count[5m])) > 0')).length > 0,
    );
    over.abort();
    await traffic;
    await set.client.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'last' } });
    await watched;
  }

  async function api<T>(place: string): Promise<T> {
    const answer = (await (await fetch(`${prometheus}/api/v1/${place}`)).json()) as {
      status: string;
      data: T;
    };
    if (answer.status !== 'success') throw new Error(`${place}: ${JSON.stringify(answer)}`);
    return answer.data;
  }

  async function query(expression: string): Promise<readonly unknown[]> {
    return (await api<{ result: readonly unknown[] }>(`query?query=${encodeURIComponent(expression)}`))
      .result;
  }

  /** Grafana replaces a variable whose value is "All" by `.*`. */
  const withoutVariables = (expr: string): string =>
    expr.replaceAll(/\$(?:cluster|namespace|release)\b/gu, '.*');

  run.each(
    panels.map((panel) => [panel.title, panel.targets.map(({ expr }) => withoutVariables(expr))] as const),
  )('the panel "%s" has data', async (_title, expressions) => {
    for (const expression of expressions)
      await eventually(`${expression} returns data`, async () => (await query(expression)).length > 0);
    expect(expressions.length).toBeGreaterThan(0);
  });

  run('every metric of the rules and the dashboard is exported by a program', async () => {
    const targets = (
      await api<{ activeTargets: readonly { scrapePool: string; labels: { instance: string } }[] }>('targets')
    ).activeTargets;
    const exported = await Promise.all(
      targets.map(async ({ labels }) =>
        api<readonly { metric: string }[]>(
          `targets/metadata?match_target=${encodeURIComponent(`{instance="${labels.instance}"}`)}`,
        ),
      ),
    );
    const known = new Set(exported.flat().map(({ metric }) => metric));
    const expressions = [
      ...rules.map(({ expr }) => expr),
      ...panels.flatMap(({ targets: each }) => each.map(({ expr }) => expr)),
    ];
    const named = expressions.flatMap(selected);
    const missing = [...new Set(named)].filter((name) => name !== 'up' && !OF_OTHERS.test(name));
    expect(
      missing.filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/u, ''))),
    ).toEqual([]);
    expect(new Set(named).size).toBeGreaterThan(15);
  });

  run('every rule can be evaluated', async () => {
    interface RuleHealth {
      readonly name: string;
      readonly health: string;
      readonly lastError?: string;
      readonly state?: string;
    }
    const read = async (): Promise<readonly RuleHealth[]> =>
      (await api<{ groups: readonly { rules: readonly RuleHealth[] }[] }>('rules')).groups.flatMap(
        (group) => group.rules,
      );
    await eventually('all rules were evaluated', async () =>
      (await read()).every(({ health }) => health !== 'unknown'),
    );
    const evaluated = await read();
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(evaluated).toHaveLength(rules.length);
  });

  run('an alert fires when the only API server dies', async () => {
    await set.replicas[0]?.kill();
    await eventually('OrchApiserversDown fires', async () => {
      const { alerts } = await api<{ alerts: readonly { labels: { alertname: string }; state: string }[] }>(
        'alerts',
      );
      return alerts.some(
        ({ labels, state }) => labels.alertname === 'OrchApiserversDown' && state === 'firing',
      );
    });
    expect(await query('ALERTS{alertname="OrchApiserversDown",alertstate="firing"}')).toHaveLength(1);
  });
});
