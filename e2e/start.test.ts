import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { dump } from 'js-yaml';
import { caFileOf, serverUrl } from '../deploy/local/api-server';
import { ensureCredentials } from '../deploy/local/credentials';
import { freePort, isPortFree, LOOPBACK } from '../deploy/local/ports';
import { repositoryRoot } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import type { Endpoints } from '../shared/api/types/core-v1';
import { reachableAddress } from '../shared/certs/serving-hosts';
import { eventually } from '../shared/testing/eventually';
import { ApiClient } from './support/client';
import { findKubectls, runKubectl } from './support/kubectl';
import { configMap, namespace } from './support/objects';
import { Terminal } from './support/terminal';
import { makeWorkspace } from './support/workspace';

const COLLECTION = '/api/v1/namespaces/default/configmaps';

describe('npm start', () => {
  const workspace = makeWorkspace('start');
  const dataDir = path.join(workspace.dir, 'set');
  const terminals: Terminal[] = [];
  let port: number;

  beforeAll(async () => {
    port = await freePort();
  });
  afterAll(async () => {
    await Promise.all(terminals.map((terminal) => terminal.pressCtrlC()));
    workspace.remove();
  });

  function start(...words: string[]): Terminal {
    const terminal = new Terminal('npm', [
      'start',
      '--',
      `--port=${String(port)}`,
      `--data-dir=${dataDir}`,
      ...words,
    ]);
    terminals.push(terminal);
    return terminal;
  }

  function client(): ApiClient {
    const token = ensureCredentials(dataDir).adminToken;
    return new ApiClient({ server: serverUrl(port), caFile: caFileOf(path.join(dataDir, 'certs')), token });
  }

  test('it prints the address, a private kubeconfig and working commands, and SIGTERM to npm stops everything', async () => {
    const terminal = start();
    expect(await terminal.ready()).toBe(serverUrl(port));
    const kubeconfig = path.join(dataDir, 'kubeconfig');
    expect(statSync(kubeconfig).mode & 0o777).toBe(0o600);
    await eventually('the whole welcome text is printed', async () =>
      terminal.lines.some((line) => line.includes('Ctrl-C')),
    );
    expect(terminal.lines).toContain(`    export KUBECONFIG=${kubeconfig}`);

    const commands = terminal.lines
      .filter((line) => line.startsWith('    kubectl '))
      .map((line) => line.trim());
    expect(commands).toHaveLength(2);
    for (const { program } of findKubectls()) {
      for (const command of program === undefined ? [] : commands) {
        const args = command.split(' ').slice(1);
        const result = await runKubectl(program ?? '', args, { kubeconfig, home: workspace.dir });
        expect([command, result.stderr, result.exitCode]).toEqual([command, '', 0]);
      }
    }

    const anonymous = new ApiClient({
      server: serverUrl(port),
      caFile: caFileOf(path.join(dataDir, 'certs')),
      token: '',
    });
    const info = await anonymous.get('/api/v1/namespaces/orch-public/configmaps/cluster-info');
    expect(info.body.data?.['kubeconfig']).toContain(`server: ${serverUrl(port)}\n  name: ""\n`);
    anonymous.close();

    const api = client();
    expect((await api.create(COLLECTION, configMap('kept', { text: 'yes' }))).status).toBe(201);
    expect((await api.create('/api/v1/namespaces', namespace('short-lived'))).status).toBe(201);
    await api.delete('/api/v1/namespaces/short-lived');
    await eventually(
      'the controller-manager has removed the namespace',
      async () => (await api.get('/api/v1/namespaces/short-lived')).status === 404,
    );
    api.close();

    expect(processesWith(dataDir)).not.toEqual([]);
    await terminal.kill('SIGTERM');
    expect(terminal.lines.at(-1)).toBe('orch: stopped');
    expect(processesWith(dataDir)).toEqual([]);
    expect(await isPortFree(port)).toBe(true);
  });

  test('a second start keeps the data and the credentials, and ends when npm is killed', async () => {
    const terminal = start();
    await terminal.ready();
    const api = client();
    expect((await api.get(`${COLLECTION}/kept`)).body.data).toEqual({ text: 'yes' });
    expect((await api.get('/api/v1/namespaces/default/endpoints/orch')).status).toBe(404);
    api.close();
    await terminal.kill('SIGKILL');
    await eventually('nothing runs any more', async () => processesWith(dataDir).length === 0);
  });

  test('a port in use is reported before anything starts', async () => {
    const other = createServer().listen(port, LOOPBACK);
    await once(other, 'listening');
    const terminal = start();
    expect(await terminal.ended).toBe(1);
    expect(terminal.lines.join('\n')).toMatch(new RegExp(`port ${String(port)} .*is in use`, 'u'));
    other.close();
  });

  test('an unknown option is refused with the usage', async () => {
    const terminal = start('--prot=1');
    expect(await terminal.ended).not.toBe(0);
    expect(terminal.lines.join('\n')).toContain('--data-dir');
  });
});

/** An address of this machine that others can reach; the loopback address if there is none. */
const ADDRESS = reachableAddress('0.0.0.0');
const PROMETHEUS = path.join(repositoryRoot, '.tools', 'prometheus', 'usr', 'bin', 'prometheus');
const GRACE_MS = 5_000;

describe('npm start on an address that other machines can reach, in the dialect of Kubernetes', () => {
  const workspace = makeWorkspace('start-listen');
  let terminal: Terminal;
  let prometheus: StartedProcess | undefined;
  let api: ApiClient;
  let port: number;

  beforeAll(async () => {
    port = await freePort(ADDRESS);
    terminal = new Terminal(process.execPath, [
      path.join(repositoryRoot, 'deploy', 'local', 'start.mjs'),
      `--port=${String(port)}`,
      `--listen=${ADDRESS}`,
      '--dialect=kubernetes',
      `--data-dir=${workspace.dir}`,
    ]);
    const server = await terminal.ready();
    expect(server).toBe(serverUrl(port, ADDRESS));
    const caFile = caFileOf(path.join(workspace.dir, 'certs'));
    api = new ApiClient({ server, caFile, token: ensureCredentials(workspace.dir).adminToken });
  });
  afterAll(async () => {
    api?.close();
    await prometheus?.stop(GRACE_MS);
    await terminal?.pressCtrlC();
    workspace.remove();
  });

  (ADDRESS === LOOPBACK ? test.skip : test)('Endpoints and EndpointSlice have the address', async () => {
    const addressed = [{ ip: ADDRESS }];
    await eventually('the Endpoints of the API have the address', async () =>
      isDeepStrictEqual((await api.get('/api/v1/namespaces/default/endpoints/kubernetes')).body['subsets'], [
        { addresses: addressed, ports: [{ name: 'https', port, protocol: 'TCP' }] },
      ]),
    );
    const { body } = await api.get('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes');
    expect(body['endpoints']).toMatchObject([{ addresses: [ADDRESS] }]);
    expect(body['ports']).toMatchObject([{ port }]);
  });

  (ADDRESS === LOOPBACK || !existsSync(PROMETHEUS) ? test.skip : test)(
    'the address that the standard discovery of Prometheus finds is a target that is up',
    async () => {
      const page = await freePort();
      const file = path.join(workspace.dir, 'prometheus.yml');
      const targets = await discoverApiServers(api);
      expect(targets).toEqual([`${ADDRESS}:${String(port)}`]);
      writeFileSync(file, prometheusConfig(targets, workspace.dir));
      prometheus = await startProcess({
        name: 'prometheus',
        command: PROMETHEUS,
        args: [
          `--config.file=${file}`,
          `--storage.tsdb.path=${path.join(workspace.dir, 'tsdb')}`,
          `--web.listen-address=${LOOPBACK}:${String(page)}`,
        ],
      });
      const readTargets = async (): Promise<readonly object[]> => {
        const answer = await fetch(`http://${LOOPBACK}:${String(page)}/api/v1/targets?state=active`).catch(
          () => undefined,
        );
        if (answer?.ok !== true) return [];
        return ((await answer.json()) as { data: { activeTargets: readonly object[] } }).data.activeTargets;
      };
      let found: readonly object[] = [];
      await eventually('the target is up', async () => {
        found = await readTargets();
        return found.some((target) => 'health' in target && target.health === 'up');
      });
      expect(found).toMatchObject([{ scrapeUrl: `${serverUrl(port, ADDRESS)}/metrics`, lastError: '' }]);
    },
  );

  test('a killed program is reported, and the command exits with its exit code', async () => {
    const apiServers = processesWith(`--secure-port=${String(port)}`);
    expect(apiServers).toHaveLength(1);
    for (const pid of apiServers) process.kill(pid, 'SIGKILL');
    expect(await terminal.ended).toBe(137);
    expect(terminal.lines.at(-1)).toBe('orch: stopped, because apiserver stopped with signal SIGKILL');
    expect(processesWith(`--port=${String(port)}`)).toEqual([]);
  });
});

/**
 * The targets that the job `kubernetes-apiservers` of Prometheus' example configuration keeps of the role `endpoints`: every address and port of
 * `default;kubernetes;https`. Debian's Prometheus is built without this discovery, so that the rule is applied here.
 */
async function discoverApiServers(api: ApiClient): Promise<readonly string[]> {
  const { body } = await api.get('/api/v1/namespaces/default/endpoints');
  return (body as unknown as { items: readonly Endpoints[] }).items
    .filter(({ metadata }) => metadata.name === 'kubernetes')
    .flatMap(({ subsets = [] }) => subsets)
    .flatMap(({ addresses = [], ports = [] }) =>
      addresses.flatMap(({ ip }) =>
        ports.filter(({ name }) => name === 'https').map(({ port }) => `${ip}:${String(port)}`),
      ),
    );
}

function prometheusConfig(targets: readonly string[], dataDir: string): string {
  const tokenFile = path.join(dataDir, 'prometheus.token');
  writeFileSync(tokenFile, ensureCredentials(dataDir).adminToken);
  return dump({
    scrape_configs: [
      {
        job_name: 'kubernetes-apiservers',
        scrape_interval: '1s',
        scheme: 'https',
        tls_config: { ca_file: caFileOf(path.join(dataDir, 'certs')) },
        authorization: { credentials_file: tokenFile },
        static_configs: [{ targets }],
      },
    ],
  });
}

describe('npm run start:ha', () => {
  const workspace = makeWorkspace('start-ha');
  let terminal: Terminal;

  beforeAll(() => {
    terminal = new Terminal('npm', ['run', 'start:ha', '--', `--data-dir=${workspace.dir}`]);
  });
  afterAll(async () => {
    await terminal?.pressCtrlC();
    workspace.remove();
  });

  test('etcd members accept no client and no peer without a certificate', async () => {
    await terminal.ready();
    await eventually('every program is listed', async () => programs().size === 9);
    const members = [...programs()].filter(([name]) => name.startsWith('etcd-'));
    expect(members).toHaveLength(3);
    for (const [, pid] of members) {
      const urls = new Set(commandLine(String(pid)).match(/https?:\/\/[\d.]+:\d+/gu));
      // The member's own addresses for clients and peers, and those of both other members.
      expect(urls.size).toBeGreaterThanOrEqual(4);
      for (const url of urls) {
        expect(new URL(url).protocol).toBe('https:');
        expect(await isServed(url)).toBe(false);
        expect(await isServed(url.replace('https:', 'http:'))).toBe(false);
      }
    }
  });

  test('the set serves one address while its programs are killed one by one, and Ctrl-C stops everything', async () => {
    const server = await terminal.ready();
    const caFile = caFileOf(path.join(workspace.dir, 'certs'));
    const api = new ApiClient({ server, caFile, token: ensureCredentials(workspace.dir).adminToken });
    expect((await api.create(COLLECTION, configMap('kept'))).status).toBe(201);

    await eventually('every program is listed', async () => programs().size === 9);
    const pids = programs();
    for (const name of ['apiserver-0', 'etcd-0', 'controller-manager-0', 'balancer']) {
      process.kill(pids.get(name) ?? 0, 'SIGKILL');
      await eventually(
        `the set responds without ${name}`,
        async () => (await api.get(`${COLLECTION}/kept`).catch(() => undefined))?.status === 200,
      );
    }
    for (const name of ['apiserver-0', 'etcd-0', 'controller-manager-0', 'haproxy|nginx'])
      await eventually(`the new process id of ${name} is printed`, async () =>
        terminal.lines.some((line) => new RegExp(`^orch: (?:${name}) runs again, pid \\d+$`, 'u').test(line)),
      );
    api.close();
    expect(processesWith(workspace.dir)).not.toEqual([]);
    await terminal.pressCtrlC();
    expect(terminal.lines.at(-1)).toBe('orch: stopped');
    expect(processesWith(workspace.dir)).toEqual([]);
  });

  function programs(): Map<string, number> {
    const rows = terminal.lines.map((line) => /^ {4}(\S+) +pid (\d+)/u.exec(line));
    return new Map(rows.flatMap((row) => (row === null ? [] : [[row[1] ?? '', Number(row[2])] as const])));
  }
});

/** Whether a request without a client certificate succeeds. */
async function isServed(url: string): Promise<boolean> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const asked = request(new URL('/version', url), { agent: false, rejectUnauthorized: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

/** The processes with this text in their command line. */
function processesWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .filter((name) => commandLine(name).includes(text))
    .map(Number);
}

/** The command line of a process; empty if it has ended. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
