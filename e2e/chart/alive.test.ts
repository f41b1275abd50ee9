import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConfigMap, Secret } from '../../shared/api/types/core-v1';
import type { PriorityLevelConfiguration } from '../../shared/api/types/flowcontrol-v1beta1';
import type { Client } from '../../shared/client/client';
import { createClient } from '../../shared/client/client';
import type { ResourceOf } from '../../shared/object/object';
import { eventually } from '../../shared/testing/eventually';
import { CHART, HELMS, runHelm } from '../support/helm';
import { findKubectls, runKubectl } from '../support/kubectl';
import type { LocalServer } from '../support/local-server';
import { startLocalServer } from '../support/local-server';
import type { MachineImages } from '../support/machine-images';
import { buildMachineImages, filesBelow, jsonOf } from '../support/machine-images';
import type { NodeAgent } from '../support/node-agent/node-agent';
import { startNodeAgent } from '../support/node-agent/node-agent';
import { isFullScale } from '../support/scale';
import { explained, makeWorkspace } from '../support/workspace';

/**
 * Runs the chart: helm installs it into one of our API servers as the host cluster, and a small node agent runs its pods from the image of
 * deploy/Dockerfile. The suite needs root, buildah and the npm registry.
 */
const full = isFullScale ? describe : describe.skip;

const [, HELM] = HELMS;
const NAMESPACE = 'control-plane';
const RELEASE = 'orch';
/** Loopback addresses serve as pod addresses, so each pod must listen at its own. */
const VALUES = [
  'apiserver.extraArgs={--bind-address=$(POD_IP)}',
  'apiserver.shutdownDelaySeconds=4',
  'redis.mode=chart',
  'etcd.listenAddress=$(POD_IP)',
  'image.repository=localhost/orch',
  'controllerManager.extraArgs={--bind-address=$(POD_IP)}',
  'controllerManager.extraEnv[0].name=POD_IP',
  'controllerManager.extraEnv[0].valueFrom.fieldRef.fieldPath=status.podIP',
].flatMap((value) => ['--set', value]);
/** A member that lost its data must not start a cluster of its own. */
const ROLLED_VALUES = [...VALUES, '--set=etcd.clusterState=existing'];
const SECRETS: ResourceOf<Secret> = { group: '', version: 'v1', resource: 'secrets' };
const CONFIG_MAPS: ResourceOf<ConfigMap> = { group: '', version: 'v1', resource: 'configmaps' };
const WRITERS = 4;
const REPLICAS = { etcd: 3, apiserver: 3, 'controller-manager': 2, redis: 1 } as const;
/** The smallest values that the chart accepts. */
const SMALL_QUOTA_MEBIBYTES = 64;
/** The default number of seats of one replica. */
const SEATS = 600;
const SHOW_RESTORE = '--show-only=templates/backup/restore.yaml';
const FILLER_BYTES = 900 * 1_024;

full('the chart on a host cluster', () => {
  const workspace = makeWorkspace('chart');
  let images: MachineImages;
  let host: LocalServer;
  let agent: NodeAgent;
  let client: Client;

  beforeAll(
    explained(async () => {
      images = buildMachineImages(path.join(workspace.dir, 'images'));
      host = await startLocalServer('kubernetes');
      await host.replica.client.create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
      agent = startNodeAgent({
        host: host.replica.client,
        hostCaFile: host.replica.caFile,
        namespace: NAMESPACE,
        dir: path.join(workspace.dir, 'node'),
        imageOf: (name) => {
          if (name.includes('etcd')) return images.etcd;
          return name.includes('redis') ? images.redis : images.orch;
        },
        network: '127.77',
      });
    }),
  );

  afterAll(async () => {
    client?.close();
    await agent?.stop();
    await host?.stop();
    images?.remove();
    workspace.remove();
  });

  async function helm(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await runHelm(HELM, ['--namespace', NAMESPACE, ...args], {
      KUBECONFIG: host.replica.kubeconfig,
      HOME: workspace.dir,
    });
    if (exitCode !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}${stdout}\n${wordsOfPods()}`);
    return stdout;
  }

  function wordsOfPods(): string {
    return agent
      .pods()
      .map((pod) => `${pod.name} ready=${String(pod.isReady())}\n  ${pod.lines().slice(-5).join('\n  ')}`)
      .join('\n');
  }

  async function secret(bundle: string, file: string): Promise<Buffer> {
    const { body } = await host.replica.client.get(
      `/api/v1/namespaces/${NAMESPACE}/secrets/${RELEASE}-${bundle}`,
    );
    return Buffer.from(body.data?.[file] ?? '', 'base64');
  }

  /** The folder of a volume claim. */
  function claimOf(name: string): string {
    return path.join(workspace.dir, 'node', 'claims', name);
  }

  async function kubectl(args: readonly string[], input = ''): Promise<string> {
    const program = findKubectls().find((each) => each.program !== undefined)?.program ?? 'kubectl';
    const identity = { kubeconfig: host.replica.kubeconfig, home: workspace.dir, input };
    const { exitCode, stdout, stderr } = await runKubectl(program, ['-n', NAMESPACE, ...args], identity);
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}${stdout}\n${wordsOfPods()}`);
    return stdout;
  }

  function readyOf(component: string): number {
    return agent.podsOf(`${RELEASE}-${component}`).filter((pod) => pod.isReady()).length;
  }

  test('the image holds the required files and runs as an unprivileged user', () => {
    const { labels, user, size, rootFolder } = images.orch;
    expect(user).toBe('65532:65532');
    expect(labels).toMatchObject({
      'org.opencontainers.image.title': 'orch',
      'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+$/u),
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/u),
      'org.opencontainers.image.created': expect.stringMatching(/^\d{4}-\d\d-\d\dT/u),
    });
    expect(jsonOf(images.orch, 'opt/orch/dist/build.json')).toEqual({
      commit: labels['org.opencontainers.image.revision'],
      treeState: expect.stringMatching(/^(?:clean|dirty)$/u),
      date: labels['org.opencontainers.image.created'],
    });
    process.stderr.write(`the image has ${size}\n`);
    const files = filesBelow(path.join(rootFolder, 'opt/orch'));
    const roots = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')));
    expect([...roots].filter((root) => root.startsWith('dist/')).toSorted()).toEqual([
      'dist/bin',
      'dist/build.json',
    ]);
    expect(
      files.filter((file) =>
        /^dist\/.*\.test\.|\.map$|^node_modules\/(?:jest|typescript|@swc)\//u.test(file),
      ),
    ).toEqual([]);
  });

  test(
    'helm install starts every component',
    explained(async () => {
      await helm('install', RELEASE, CHART, ...VALUES, '--wait', '--wait-for-jobs', '--timeout=5m');
      for (const [component, count] of Object.entries(REPLICAS)) expect(readyOf(component)).toBe(count);
      expect(agent.pods().map((pod) => [pod.name, pod.restarts()])).toEqual(
        agent.pods().map((pod) => [pod.name, 0]),
      );
      client = createClient({
        server: `https://${agent.addressOf(`${RELEASE}-apiserver`)}:6443`,
        tlsServerName: `${RELEASE}-apiserver.${NAMESPACE}.svc`,
        ca: await secret('serving', 'ca.crt'),
        cert: await secret('admin', 'tls.crt'),
        key: await secret('admin', 'tls.key'),
      });
      expect(await client.getJson('/version')).toMatchObject({
        gitCommit: expect.stringMatching(/^[0-9a-f]{40}$/u),
      });
    }),
  );

  test(
    'helm test passes',
    explained(async () => {
      expect(await helm('test', RELEASE, '--timeout=2m')).toMatch(/Phase:\s+Succeeded/u);
      expect(agent.podsOf(`${RELEASE}-smoke`)[0]?.lines()).toEqual([
        'listed',
        'watched ADDED',
        'watched MODIFIED',
        'watched DELETED',
      ]);
    }),
  );

  test('one controller-manager leads and runs the controllers', async () => {
    await client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name: 'work' } });
    await eventually('the default service account of a new namespace exists', async () => {
      const { items } = await client.list(
        { group: '', version: 'v1', resource: 'serviceaccounts' },
        { namespace: 'work' },
      );
      return items.length === 1;
    });
    const leases = await client.getJson('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases');
    expect(leases).toMatchObject({ items: [{ spec: { holderIdentity: expect.any(String) } }] });
  });

  test('secrets are encrypted in etcd with the generated key', async () => {
    const ref = { namespace: 'default', name: 'hidden' };
    await client.create(SECRETS, { metadata: ref, stringData: { word: 'in the clear' } });
    const [member] = agent.podsOf(`${RELEASE}-etcd`);
    const etcdctl = await etcdctlAt(member?.ip ?? '');
    const stored = etcdctl('get', '--prefix', '/registry/core/secrets/default/hidden', '--print-value-only');
    expect(stored).toMatch(/^k8s:enc:secretbox:v1:key1:/u);
    expect(stored).not.toContain('in the clear');
    expect(await client.get(SECRETS, ref)).toMatchObject({
      data: { word: Buffer.from('in the clear').toString('base64') },
    });
  });

  test('API servers share the seats of their priority levels over Redis', async () => {
    const levels = await client.list<PriorityLevelConfiguration>({
      group: 'flowcontrol.apiserver.k8s.io',
      version: 'v1beta1',
      resource: 'prioritylevelconfigurations',
    });
    const shares = new Map(
      levels.items.map(({ metadata, spec }) => [metadata.name, spec?.limited?.assuredConcurrencyShares ?? 0]),
    );
    const total = [...shares.values()].reduce((sum, each) => sum + each, 0);
    const alone = Math.ceil((SEATS * (shares.get('workload-low') ?? 0)) / total);
    expect(alone).toBeGreaterThan(1);
    await eventually('a level has a share of the seats of a single replica', async () => {
      const [, seats] =
        /concurrency_limit\{priority_level="workload-low"\} (\d+)/u.exec(await metrics()) ?? [];
      return Number(seats) < alone;
    });
  });

  test(
    'helm upgrade rolls API servers and controller-managers without a failed request and without a gap in a watch',
    explained(async () => {
      const before = new Set(agent.pods().map((pod) => pod.name));
      const load = await startLoad(client);
      await helm(
        'upgrade',
        RELEASE,
        CHART,
        ...VALUES,
        '--set=apiserver.logVerbosity=1,controllerManager.logVerbosity=1',
        '--wait',
        '--timeout=5m',
      );
      await eventually('all old pods are deleted', () =>
        agent
          .pods()
          .every((pod) => !before.has(pod.name) || /-(?:etcd-|redis-|smoke|certificates-)/u.test(pod.name)),
      );
      const result = await load.stop();
      process.stderr.write(`upgrade under load: ${JSON.stringify(result.counts)}\n`);
      expect(result.failures).toEqual([]);
      expect(result.missed).toEqual([]);
      expect(result.counts.writes).toBeGreaterThan(0);
      expect(agent.overdue).toEqual([]);
    }),
  );

  test(
    'after kill -9 of each component under load it restarts, and watches miss no acknowledged write',
    explained(async () => {
      const load = await startLoad(client);
      for (const component of ['apiserver', 'etcd', 'controller-manager', 'redis'] as const) {
        const [victim] = agent.podsOf(`${RELEASE}-${component}`);
        victim?.kill('SIGKILL');
        await eventually(
          `${component} has restarted`,
          () => (victim?.restarts() ?? 0) > 0 && readyOf(component) === REPLICAS[component],
        );
      }
      const result = await load.stop();
      tell('kill -9 of each part under load', result);
      expect(result.missed).toEqual([]);
      expect(await helm('test', RELEASE, '--timeout=2m')).toMatch(/Phase:\s+Succeeded/u);
    }),
  );

  test(
    'helm upgrade rolls the etcd members one by one, and watches miss no acknowledged write',
    explained(async () => {
      const before = new Map(agent.podsOf(`${RELEASE}-etcd`).map((pod) => [pod.name, pod]));
      const load = await startLoad(client);
      await helm('upgrade', RELEASE, CHART, ...ROLLED_VALUES, '--wait', '--timeout=5m');
      await eventually('every member is a new pod and ready', () =>
        agent.podsOf(`${RELEASE}-etcd`).every((pod) => before.get(pod.name) !== pod && pod.isReady()),
      );
      const result = await load.stop();
      tell('etcd rolled under load', result);
      expect(result.missed).toEqual([]);
      expect(result.counts.writes).toBeGreaterThan(0);
      expect(readyOf('apiserver')).toBe(REPLICAS.apiserver);
    }),
  );

  test(
    'an etcd member that lost its data joins again under load',
    explained(async () => {
      const [first, lost] = agent.podsOf(`${RELEASE}-etcd`);
      if (first === undefined || lost === undefined) throw new Error('There are no members.');
      const etcdctl = await etcdctlAt(first.ip);
      const load = await startLoad(client);
      const line = etcdctl('member', 'list')
        .split('\n')
        .find((each) => each.includes(lost.name));
      const [id = '', , , peerUrl = ''] = line?.split(', ') ?? [];
      const data = path.join(claimOf(`data-${lost.name}`), 'data');
      lost.kill('SIGKILL');
      rmSync(data, { recursive: true, force: true });
      // The member finds that it belongs to the cluster, and does not start without its data.
      await eventually('the other members continue without it', () => lost.restarts() > 0 && !lost.isReady());
      // etcd refuses this until the remaining members have been connected for some seconds.
      await eventually('the member is removed', () => succeeds(() => etcdctl('member', 'remove', id)));
      await eventually('the member is added again', () => {
        // Its initial data belongs to the removed member.
        rmSync(data, { recursive: true, force: true });
        return succeeds(() => etcdctl('member', 'add', lost.name, `--peer-urls=${peerUrl}`));
      });
      await eventually('the member is ready', () => lost.isReady());
      const result = await load.stop();
      tell('a member lost under load', result);
      expect(result.missed).toEqual([]);
      expect(await helm('test', RELEASE, '--timeout=2m')).toMatch(/Phase:\s+Succeeded/u);
    }),
  );

  test(
    'a scheduled backup restores the release by the recipe after the loss of all volumes of etcd',
    explained(async () => {
      const ref = { namespace: 'default', name: 'kept' };
      await client.create(SECRETS, { metadata: ref, stringData: { word: 'still here' } });
      const scheduled = [...ROLLED_VALUES, '--set', 'backup.enabled=true,backup.schedule=* * * * *'];
      await helm('upgrade', RELEASE, CHART, ...scheduled, '--wait', '--timeout=5m');
      const backups = claimOf(`${RELEASE}-backup`);
      await eventually(
        'the CronJob has stored a backup',
        () =>
          existsSync(backups) && readdirSync(backups).some((name) => /^orch-\d{8}T\d{6}Z\.db$/u.test(name)),
      );
      await kubectl(['patch', `cronjob/${RELEASE}-backup`, '-p', '{"spec":{"schedule":"0 0 1 1 *"}}']);
      const { metadata } = await client.create(CONFIG_MAPS, {
        metadata: { namespace: 'default', name: 'after-the-backup' },
      });
      for (const pod of agent.podsOf(`${RELEASE}-etcd`)) pod.kill('SIGKILL');
      // 1. Stop everything.
      const parts = ['deployment/apiserver', 'deployment/controller-manager', 'statefulset/etcd'];
      const owners = parts.map((part) => part.replace('/', `/${RELEASE}-`));
      await kubectl(['scale', ...owners, '--replicas=0']);
      await eventually('all pods have ended', () =>
        agent.pods().every(({ name }) => !/-(?:apiserver|controller-manager|etcd)-/u.test(name)),
      );
      await kubectl(['delete', 'job', '-l', 'app.kubernetes.io/component=backup']);
      for (let index = 0; index < REPLICAS.etcd; index++)
        rmSync(claimOf(`data-${RELEASE}-etcd-${String(index)}`), { recursive: true });
      // 2. Make the data of each member.
      const render = async (...more: readonly string[]): Promise<string> =>
        helm('template', RELEASE, CHART, ...scheduled, '--set=restore.backup=latest', ...more, SHOW_RESTORE);
      await kubectl(['apply', '-f', '-'], await render());
      const restores = ['-l', 'app.kubernetes.io/component=restore'];
      await kubectl(['wait', '--for=condition=complete', 'job', ...restores, '--timeout=3m']);
      // 3. Start etcd, and give the store a new identity.
      await kubectl(['scale', `statefulset/${RELEASE}-etcd`, `--replicas=${String(REPLICAS.etcd)}`]);
      await eventually('all members are ready', () => readyOf('etcd') === REPLICAS.etcd);
      await kubectl(['apply', '-f', '-'], await render('--set=restore.phase=finish'));
      await kubectl(['wait', '--for=condition=complete', `job/${RELEASE}-restore-finish`, '--timeout=3m']);
      // 4. Start the rest, and remove the Jobs.
      for (const component of ['apiserver', 'controller-manager'] as const)
        await kubectl([
          'scale',
          `deployment/${RELEASE}-${component}`,
          `--replicas=${String(REPLICAS[component])}`,
        ]);
      await kubectl(['delete', 'job', ...restores]);
      await eventually('all API servers are ready', () => readyOf('apiserver') === REPLICAS.apiserver);
      expect(await client.get(SECRETS, ref)).toMatchObject({
        data: { word: Buffer.from('still here').toString('base64') },
      });
      await expect(
        client.get(CONFIG_MAPS, { namespace: 'default', name: 'after-the-backup' }),
      ).rejects.toMatchObject({ status: { code: 404 } });
      const again = await client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'again' } });
      expect(Number(again.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
      expect(await helm('test', RELEASE, '--timeout=2m')).toMatch(/Phase:\s+Succeeded/u);
    }),
  );

  test(
    'a full etcd is reported, reads continue, and writes resume once there is space',
    explained(async () => {
      const small = `--set=etcd.quotaMebibytes=${String(SMALL_QUOTA_MEBIBYTES)}`;
      await helm('upgrade', RELEASE, CHART, ...ROLLED_VALUES, small, '--wait', '--timeout=5m');
      const restarts = restartsOf('apiserver');
      const filler = { text: 'x'.repeat(FILLER_BYTES) };
      let refusal = '';
      for (let turn = 0; refusal === ''; turn++) {
        const metadata = { namespace: 'default', name: `filler-${String(turn)}` };
        refusal = await client.create(CONFIG_MAPS, { metadata, data: filler }).then(
          () => '',
          (error: unknown) => String(error),
        );
      }
      expect(refusal).toContain('database space exceeded');
      await eventually('the metric reports a full store', async () =>
        /^apiserver_store_full 1$/mu.test(await metrics()),
      );
      const { items } = await client.list(CONFIG_MAPS, { namespace: 'default' });
      for (const { metadata } of items)
        if (metadata.name?.startsWith('filler-'))
          await client.delete(CONFIG_MAPS, { namespace: 'default', name: metadata.name });
      // Nothing is restarted: neither another replica nor a restart would help.
      expect([readyOf('apiserver'), restartsOf('apiserver')]).toEqual([REPLICAS.apiserver, restarts]);
      await helm('upgrade', RELEASE, CHART, ...ROLLED_VALUES, '--wait', '--timeout=5m');
      const [member] = agent.podsOf(`${RELEASE}-etcd`);
      (await etcdctlAt(member?.ip ?? ''))('alarm', 'disarm');
      await eventually('writes succeed again', async () => {
        const name = { namespace: 'default', name: `room-${randomUUID()}` };
        return client.create(CONFIG_MAPS, { metadata: name }).then(
          () => true,
          () => false,
        );
      });
      expect(await helm('test', RELEASE, '--timeout=2m')).toMatch(/Phase:\s+Succeeded/u);
    }),
  );

  /** The metrics of one API server. */
  async function metrics(): Promise<string> {
    return (await client.request({ method: 'GET', path: '/metrics' })).body.toString();
  }

  function restartsOf(component: string): number {
    return agent.podsOf(`${RELEASE}-${component}`).reduce((sum, pod) => sum + pod.restarts(), 0);
  }

  /** Runs etcdctl against one member with the credentials of the API servers. */
  async function etcdctlAt(ip: string): Promise<(...args: readonly string[]) => string> {
    const files = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' };
    const flags: string[] = [];
    for (const [flag, file] of Object.entries(files)) {
      const target = path.join(workspace.dir, `etcdctl-${file}`);
      writeFileSync(target, await secret('etcd-client', file));
      flags.push(`--${flag === 'ca' ? 'cacert' : flag}=${target}`);
    }
    // The certificate has names that only pods can resolve.
    flags.push(`--endpoints=https://${ip}:2379`, '--insecure-skip-tls-verify');
    const env = { ...process.env, ETCDCTL_API: '3' };
    return (...args) =>
      execFileSync('etcdctl', [...flags, ...args], { encoding: 'utf8', env, stdio: 'pipe' });
  }

  test(
    'helm rollback restores the first release, and helm uninstall deletes all but keys and data',
    explained(async () => {
      await helm('rollback', RELEASE, '1', '--wait', '--timeout=5m');
      await helm('test', RELEASE, '--timeout=2m');
      await helm('uninstall', RELEASE, '--wait');
      await eventually('all pods are deleted', () => agent.pods().every((pod) => pod.name.includes('smoke')));
      expect((await secret('etcd-ca', 'tls.key')).length).toBeGreaterThan(0);
      expect(agent.overdue).toEqual([]);
    }),
  );
});

function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}

/** Requests fail whose outcome a stopping etcd member leaves unknown; their number is printed, and not checked. */
function tell(what: string, { counts, failures }: LoadResult): void {
  const summary = JSON.stringify({ ...counts, failures: failures.length, first: failures[0] });
  process.stderr.write(`${what}: ${summary}\n`);
}

interface LoadResult {
  readonly failures: readonly string[];
  /** The acknowledged writes that the watch missed. */
  readonly missed: readonly string[];
  readonly counts: {
    readonly writes: number;
    readonly reads: number;
    readonly events: number;
    readonly watches: number;
  };
}

/** Starts writers that create, change, read and delete objects, and one watcher that resumes from its last version when its watch ends. */
async function startLoad(client: Client): Promise<{ stop(): Promise<LoadResult> }> {
  const failures: string[] = [];
  const written = new Set<string>();
  const seen = new Set<string>();
  const counts = { writes: 0, reads: 0, events: 0, watches: 0 };
  const watching = new AbortController();
  const over = new AbortController();
  const attempt = async <T>(what: string, call: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await call();
    } catch (error) {
      failures.push(`${what}: ${String(error)}`);
      return undefined;
    }
  };
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; !over.signal.aborted; turn++) {
      const ref = { namespace: 'default', name: `load-${String(writer)}-${String(turn)}` };
      const made = await attempt('create', async () => client.create(CONFIG_MAPS, { metadata: ref }));
      if (made !== undefined) written.add(`ADDED ${String(made.metadata.resourceVersion)}`);
      await attempt('get', async () => client.get(CONFIG_MAPS, ref));
      const changed = await attempt('update', async () =>
        client.update(CONFIG_MAPS, { ...made, metadata: { ...ref }, data: { turn: 'x' } }),
      );
      if (changed !== undefined) written.add(`MODIFIED ${String(changed.metadata.resourceVersion)}`);
      await attempt('list', async () => client.list(CONFIG_MAPS, { namespace: 'default' }));
      await attempt('delete', async () => client.delete(CONFIG_MAPS, ref));
      counts.writes += 3;
      counts.reads += 2;
      await delay(PAUSE_MS);
    }
  };
  let version = (await client.list(CONFIG_MAPS, { namespace: 'default' })).metadata.resourceVersion;
  const watch = async (): Promise<void> => {
    while (!watching.signal.aborted) {
      counts.watches += 1;
      try {
        for await (const { type, object } of client.watch(CONFIG_MAPS, {
          namespace: 'default',
          resourceVersion: version,
          allowWatchBookmarks: true,
          signal: watching.signal,
        })) {
          version = object.metadata.resourceVersion ?? version;
          seen.add(`${type} ${String(version)}`);
          counts.events += 1;
        }
      } catch (error) {
        // A watch ends with its server; a version that is too old would be a gap.
        if (!watching.signal.aborted && /too old|Expired|410/u.test(String(error)))
          failures.push(`watch: ${String(error)}`);
        await delay(PAUSE_MS);
      }
    }
  };
  const writers = Array.from({ length: WRITERS }, async (_, writer) => write(writer));
  const watcher = watch();
  return {
    async stop() {
      over.abort();
      await Promise.all(writers);
      await eventually('the watch has seen every write', () =>
        [...written].every((each) => seen.has(each)),
      ).catch(() => undefined);
      watching.abort();
      await watcher;
      return { failures, missed: [...written].filter((each) => !seen.has(each)), counts };
    },
  };
}

const PAUSE_MS = 20;
