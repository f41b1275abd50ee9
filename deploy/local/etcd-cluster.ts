import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import * as os from 'node:os';
import * as path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDirectory } from '../../shared/files/make-directory';
import { guardProcess, releaseProcess } from './guard';
import { freePorts } from './ports';

/**
 * Heartbeat interval and election timeout by the size of the set. Three members share a busy machine, and must not consider each other dead. A
 * single member becomes leader within twice `electionMs` of its start, and grants no lease shorter than one and a half times that.
 */
const PACES = {
  1: { heartbeatMs: 50, electionMs: 500 },
  3: { heartbeatMs: 300, electionMs: 3_000 },
} as const;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 2_000;
const PROBE_INTERVAL_MS = 100;
const LOG_TAIL_CHARS = 4_000;

/** One etcd process of a local set. */
export interface EtcdMember {
  readonly name: string;
  /** The client address, such as `http://127.0.0.1:41231`. */
  readonly clientUrl: string;
  /** The data folder. */
  readonly dataDir: string;
  /** The process id; undefined while the member is down. */
  readonly pid: number | undefined;
  /** The last error that it logged, or undefined. */
  lastError(): string | undefined;
  /** Sends a signal, by default SIGKILL, and resolves when the process has ended. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the member again on the same data and ports; resolves when the process runs, see {@link EtcdMember.healthy}. Later flags win. */
  start(moreArgs?: readonly string[]): Promise<void>;
  /** Resolves when `/health` of this member returns 200. */
  healthy(signal?: AbortSignal): Promise<void>;
}

export interface EtcdCluster {
  readonly endpoints: readonly string[];
  readonly members: readonly EtcdMember[];
  /** The current leader. */
  leader(): Promise<EtcdMember>;
  /** Stops every process, and removes the data of a temporary directory. */
  stop(): Promise<void>;
}

export interface EtcdClusterOptions {
  readonly size: 1 | 3;
  /** The data folder. Absent: a temporary directory that `stop` removes. */
  readonly dataDir?: string;
  /**
   * Serve clients and peers over TLS with these PEM files. Peers always need a certificate of the same authority, and
   * clients with `clientCertAuth`.
   */
  readonly tls?: EtcdTls;
  readonly extraArgs?: readonly string[];
  /** Maps the peer address of a member to the address for the others; by default unchanged. */
  readonly peerUrlOf?: (name: string, peerUrl: string) => Promise<string>;
  /** Stops the set when it aborts. */
  readonly signal?: AbortSignal;
}

export interface EtcdTls {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCertAuth: boolean;
}

/**
 * Runs a real etcd as local processes on free ports of 127.0.0.1, and resolves when every member is healthy (60 s at most). The processes are
 * killed when this process exits. The error for a missing program names its package.
 */
export async function startEtcdCluster(options: EtcdClusterOptions): Promise<EtcdCluster> {
  options.signal?.throwIfAborted();
  const program = await findProgram();
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(os.tmpdir(), 'orch-etcd-')));
  const members = await makeMembers(options, program, dataDir);

  const stop = async (): Promise<void> => {
    options.signal?.removeEventListener('abort', onAbort);
    process.removeListener('exit', killAll);
    await Promise.all(members.map(async (member) => member.kill('SIGTERM')));
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const killAll = (): void => {
    for (const member of members) member.killNow();
  };
  const onAbort = (): void => {
    stop().catch(killAll);
  };
  process.once('exit', killAll);
  options.signal?.addEventListener('abort', onAbort, { once: true });

  try {
    await Promise.all(members.map(async (member) => member.start()));
    await Promise.all(members.map(async (member) => member.healthy(options.signal)));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    endpoints: members.map((member) => member.clientUrl),
    members,
    leader: async () => findLeader(members),
    stop,
  };
}

/** Reads the last error of a log in JSON lines, of which the first may be cut: `discovery failed: member count is unequal`. */
export function findLastError(log: string): string | undefined {
  const line = log.split('\n').findLast((each) => /^\{"level":"(?:error|fatal|panic|dpanic)"/u.test(each));
  if (line === undefined) return undefined;
  try {
    const { msg, error = '' } = JSON.parse(line) as { msg: string; error?: string };
    return error === '' || msg.includes(error) ? msg : `${msg}: ${error}`;
  } catch {
    return line;
  }
}

/** The first `etcd` on PATH. */
async function findProgram(): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  for (const folder of folders) {
    if (folder === '') continue;
    const candidate = path.join(folder, 'etcd');
    try {
      await access(candidate, constants.X_OK);
      return candidate;
    } catch {
      continue;
    }
  }
  throw new Error(
    'The program "etcd" was not found on PATH. Install it (Debian package etcd-server), or run npm run start:ha, which unpacks it.',
  );
}

async function makeMembers(
  options: EtcdClusterOptions,
  program: string,
  dataDir: string,
): Promise<LocalMember[]> {
  const ports = await portsFor(dataDir, options.size * 2);
  const scheme = options.tls === undefined ? 'http' : 'https';
  const reach = options.peerUrlOf ?? (async (_name: string, url: string) => Promise.resolve(url));
  const specs = await Promise.all(
    Array.from({ length: options.size }, async (_, index) => {
      const name = `etcd-${String(index)}`;
      const peerUrl = `${scheme}://127.0.0.1:${String(ports[index * 2 + 1])}`;
      return {
        name,
        clientUrl: `${scheme}://127.0.0.1:${String(ports[index * 2])}`,
        peerUrl,
        advertised: await reach(name, peerUrl),
        dataDir: path.join(dataDir, name),
      };
    }),
  );
  const initialCluster = specs.map((spec) => `${spec.name}=${spec.advertised}`).join(',');
  return Promise.all(
    specs.map(async (spec) => {
      const flags = {
        name: spec.name,
        'data-dir': spec.dataDir,
        logger: 'zap',
        'log-level': 'warn',
        'listen-client-urls': spec.clientUrl,
        'advertise-client-urls': spec.clientUrl,
        'listen-peer-urls': spec.peerUrl,
        'initial-advertise-peer-urls': spec.advertised,
        'initial-cluster': initialCluster,
        'initial-cluster-token': 'orch-local',
        'heartbeat-interval': PACES[options.size].heartbeatMs,
        'election-timeout': PACES[options.size].electionMs,
        ...tlsFlags(options.tls),
      };
      const args = Object.entries(flags).map(([name, value]) => `--${name}=${String(value)}`);
      args.push(...(options.extraArgs ?? []));
      return new LocalMember({ ...spec, program, args, probe: async () => probeOptions(options.tls) });
    }),
  );
}

function tlsFlags(tls: EtcdTls | undefined): Readonly<Record<string, string | boolean>> {
  if (tls === undefined) return {};
  const own = {
    'cert-file': tls.certFile,
    'key-file': tls.keyFile,
    'peer-cert-file': tls.certFile,
    'peer-key-file': tls.keyFile,
    'peer-trusted-ca-file': tls.caFile,
    'peer-client-cert-auth': true,
  };
  // etcd requires client certificates as soon as it has an authority for them.
  return tls.clientCertAuth ? { ...own, 'trusted-ca-file': tls.caFile, 'client-cert-auth': true } : own;
}

/** The probe uses the server certificate as client certificate, as etcd's own gateway does, so that it needs both key usages. */
async function probeOptions(tls: EtcdTls | undefined): Promise<https.RequestOptions> {
  if (tls === undefined) return {};
  const [ca, cert, key] = await Promise.all([
    readFile(tls.caFile),
    readFile(tls.certFile),
    readFile(tls.keyFile),
  ]);
  return { ca, cert, key };
}

/** The data of a member contains the addresses of its peers, so that a restarted set needs its old ports. */
async function portsFor(dataDir: string, count: number): Promise<readonly number[]> {
  const file = path.join(dataDir, 'ports.json');
  try {
    const stored: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (Array.isArray(stored) && stored.length === count) return stored.map(Number);
    throw new Error(`${file} does not hold ${String(count)} ports: the data is of a set of another size.`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const ports = await freePorts(count);
  makeDirectory(dataDir, 0o700);
  await writeFile(file, JSON.stringify(ports));
  return ports;
}

interface MemberSpec {
  readonly name: string;
  readonly clientUrl: string;
  readonly dataDir: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Reads the current certificates, which may be rotated while the set runs. */
  readonly probe: () => Promise<https.RequestOptions>;
}

class LocalMember implements EtcdMember {
  readonly name: string;
  readonly clientUrl: string;
  readonly dataDir: string;
  readonly #spec: MemberSpec;
  #child: ChildProcess | undefined;
  #logTail = '';

  constructor(spec: MemberSpec) {
    this.name = spec.name;
    this.clientUrl = spec.clientUrl;
    this.dataDir = spec.dataDir;
    this.#spec = spec;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(moreArgs: readonly string[] = []): Promise<void> {
    if (this.#child !== undefined) return;
    // A separate process group, so that Ctrl-C reaches only the launcher, which stops the members last.
    const child = spawn(this.#spec.program, [...this.#spec.args, ...moreArgs], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, GOMAXPROCS: '2' },
    });
    this.#child = child;
    this.#logTail = '';
    const keepTail = (chunk: Buffer): void => {
      this.#logTail = (this.#logTail + chunk.toString()).slice(-LOG_TAIL_CHARS);
    };
    child.stdout.on('data', keepTail);
    child.stderr.on('data', keepTail);
    const { pid } = child;
    if (pid !== undefined) guardProcess(pid);
    child.once('exit', () => {
      if (pid !== undefined) releaseProcess(pid);
      if (this.#child === child) this.#child = undefined;
    });
    await once(child, 'spawn');
  }

  lastError(): string | undefined {
    return findLastError(this.#logTail);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await gone;
    clearTimeout(timer);
  }

  killNow(): void {
    this.#child?.kill('SIGKILL');
  }

  async healthy(signal?: AbortSignal): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (Date.now() < deadline) {
      signal?.throwIfAborted();
      if (this.#child === undefined) throw new Error(`${this.name} ended at its start. ${this.#logTail}`);
      if (await this.#answersHealth()) return;
      await delay(PROBE_INTERVAL_MS);
    }
    throw new Error(
      `${this.name} did not become healthy within ${String(START_TIMEOUT_MS)} ms. ${this.#logTail}`,
    );
  }

  /** Whether this member reports itself as leader. */
  async leads(): Promise<boolean> {
    if (this.#child === undefined) return false;
    const answer = await this.#request('POST', '/v3/maintenance/status', '{}').catch(() => undefined);
    if (answer?.status !== 200) return false;
    const body = JSON.parse(answer.body) as { header?: { member_id?: string }; leader?: string };
    return body.leader !== undefined && body.leader === body.header?.member_id;
  }

  async #answersHealth(): Promise<boolean> {
    const answer = await this.#request('GET', '/health', '').catch(() => undefined);
    return answer?.status === 200 && answer.body.includes('true');
  }

  async #request(
    method: 'GET' | 'POST',
    urlPath: string,
    body: string,
  ): Promise<{ status: number | undefined; body: string }> {
    const url = new URL(urlPath, this.clientUrl);
    const send = url.protocol === 'https:' ? https.request : http.request;
    const probe = await this.#spec.probe();
    return new Promise((resolve, reject) => {
      const options = { ...probe, method, agent: false, timeout: PROBE_TIMEOUT_MS } as const;
      const request = send(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() });
        });
      });
      request.once('timeout', () => request.destroy(new Error('The probe timed out.')));
      request.once('error', reject);
      request.end(body);
    });
  }
}

async function findLeader(members: readonly LocalMember[]): Promise<EtcdMember> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    for (const member of members) {
      if (await member.leads()) return member;
    }
    await delay(PROBE_INTERVAL_MS);
  }
  throw new Error(`No member of the etcd set became leader within ${String(START_TIMEOUT_MS)} ms.`);
}
