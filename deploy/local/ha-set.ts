import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Dialect } from '../../shared/names';
import { caFileOf, serverUrl, startApiServer } from './api-server';
import { startBalancer } from './balancer';
import { publishClusterInfo } from './cluster-info';
import { startControllerManager } from './controller-manager';
import type { Credentials } from './credentials';
import { assertDialectOf, ensureCredentials, writeKubeconfig } from './credentials';
import { watchDataDirectory } from './data-directory';
import type { Duties } from './duties';
import { assertKeysOfStore, ensureDuties } from './duties';
import type { EtcdCertificateFiles } from './etcd-certificates';
import { ensureEtcdCertificates } from './etcd-certificates';
import type { EtcdCluster, EtcdMember } from './etcd-cluster';
import { startEtcdCluster } from './etcd-cluster';
import type { Stage } from './foreground';
import { keepRunning, print, printer, together } from './foreground';
import { freePorts } from './ports';
import { waitUntilReady } from './readiness';

export interface HaOptions {
  readonly dataDir: string;
  readonly dialect: Dialect;
  /** The value of the controller-managers' `--controllers`. */
  readonly controllers?: string;
  /** The IP address of the balancer and the replicas. */
  readonly listen: string;
  /** The port of the balancer. */
  readonly port: number;
}

export interface RunningProgram {
  readonly name: string;
  readonly pid: number;
  /** The address of the balancer. */
  readonly at: string;
}

export interface RunningSet {
  readonly server: string;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly tokenFile: string;
  readonly programs: readonly RunningProgram[];
}

/** Starts the set from the store upwards; passes each part to `add` as soon as it runs, so that it can be stopped. */
export async function startHaStages(options: HaOptions, add: (stage: Stage) => void): Promise<RunningSet> {
  const { dataDir, dialect, listen, port } = options;
  const etcdDir = path.join(dataDir, 'etcd');
  const { credentials, duties } = ensureKeys(dataDir, etcdDir);
  const running = new Map<string, RunningProgram>();
  const kubeconfig = path.join(dataDir, 'kubeconfig');
  const controllerKubeconfig = path.join(dataDir, 'controller-manager.kubeconfig');
  const server = serverUrl(port, listen);

  const etcdTls = etcdCertificates({ dir: path.join(dataDir, 'etcd-certs'), etcdDir });
  const etcd = await startEtcdCluster({
    size: 3,
    dataDir: etcdDir,
    ...(etcdTls === undefined ? {} : { tls: { ...etcdTls, clientCertAuth: true } }),
  });
  add(etcdStage({ etcd, running }));
  for (const { name, pid, clientUrl } of etcd.members)
    running.set(name, { name, pid: pid ?? 0, at: clientUrl });

  const replicas = await startReplicas({ ...options, credentials, duties, etcd, etcdTls, running }, add);
  const balancer = await keepRunning(async () => {
    const program = await startBalancer({
      listen,
      port,
      targets: replicas.ports,
      caFile: replicas.caFile,
      token: credentials.adminToken,
      dir: path.join(dataDir, 'balancer'),
      onLine: printer('balancer'),
    });
    running.set('balancer', { name: 'balancer', pid: program.pid, at: server });
    return program;
  }, BALANCER_GRACE_MS);
  add(balancer);
  await waitUntilReady(balancer.first, {
    server,
    caFile: replicas.caFile,
    token: credentials.adminToken,
    deadlineMs: READY_DEADLINE_MS,
  });

  const { caFile } = replicas;
  writeKubeconfig(kubeconfig, { server, caFile, user: 'admin', token: credentials.adminToken });
  await publishClusterInfo({ kubeconfig, server, caFile });
  writeKubeconfig(controllerKubeconfig, {
    server,
    caFile,
    user: 'controller-manager',
    token: credentials.controllerManagerToken,
  });
  const ports = await freePorts(CONTROLLER_MANAGERS);
  const controllerManagers = ports.map(async (securePort, index) => {
    const name = `controller-manager-${String(index)}`;
    return keepRunning(async () => {
      const program = await startControllerManager({
        name,
        kubeconfig: controllerKubeconfig,
        credentials,
        dialect,
        controllers: options.controllers,
        securePort,
        extraArgs: duties.controllerManager,
        onLine: printer(name),
      });
      running.set(name, { name, pid: program.pid, at: serverUrl(securePort) });
      return program;
    }, CONTROLLER_MANAGER_GRACE_MS);
  });
  add(together(await Promise.all(controllerManagers)));
  add(watchDataDirectory(dataDir, etcdDir));
  return { server, kubeconfig, caFile, tokenFile: credentials.tokenFile, programs: [...running.values()] };
}

const REPLICAS = 3;
const CONTROLLER_MANAGERS = 2;
const READY_DEADLINE_MS = 60_000;
const REPLICA_GRACE_MS = 20_000;
const BALANCER_GRACE_MS = 2_000;
const CONTROLLER_MANAGER_GRACE_MS = 10_000;
const MEMBER_CHECK_MS = 500;
const MEMBER_RESTART_DELAY_MS = 2_000;
const MEMBER_RESTART_DELAY_MAX_MS = 64_000;
/** A member that ran for longer than this had started successfully. */
const MEMBER_STABLE_MS = 60_000;
const MEMBER_GRACE_MS = 2_000;

function ensureKeys(
  dataDir: string,
  etcdDir: string,
): { readonly credentials: Credentials; readonly duties: Duties } {
  assertDialectOf(dataDir);
  assertKeysOfStore(dataDir, etcdDir);
  const credentials = ensureCredentials(dataDir);
  return { credentials, duties: ensureDuties(dataDir, credentials) };
}

interface ReplicaSetParts extends HaOptions {
  readonly credentials: Credentials;
  readonly duties: Duties;
  readonly etcd: EtcdCluster;
  readonly etcdTls: EtcdCertificateFiles | undefined;
  readonly running: Map<string, RunningProgram>;
}

/** Undefined for data whose members know each other by addresses without TLS: they are part of the data, and it would not start with others. */
function etcdCertificates({
  dir,
  etcdDir,
}: {
  readonly dir: string;
  readonly etcdDir: string;
}): EtcdCertificateFiles | undefined {
  if (existsSync(dir) || !existsSync(etcdDir)) return ensureEtcdCertificates(dir);
  print(
    `the data in ${etcdDir} was written by an etcd without TLS, so etcd runs without TLS again; with another --data-dir etcd uses TLS`,
  );
  return undefined;
}

/** The first replica creates the certificate, so that all replicas serve the same one. */
async function startReplicas(
  { dataDir, dialect, listen, credentials, duties, etcd, etcdTls, running }: ReplicaSetParts,
  add: (stage: Stage) => void,
): Promise<{ ports: readonly number[]; caFile: string }> {
  const certDir = path.join(dataDir, 'certs');
  const caFile = caFileOf(certDir);
  const ports = await freePorts(REPLICAS, listen);
  const startReplica = async (port: number, index: number): Promise<Stage> => {
    const name = `apiserver-${String(index)}`;
    const stage = await keepRunning(async () => {
      const program = await startApiServer({
        name,
        listen,
        port,
        dialect,
        storage: { kind: 'etcd', endpoints: etcd.endpoints, tls: etcdTls },
        certDir,
        credentials,
        shutdownDelay: '1s',
        extraArgs: duties.apiServer,
        onLine: printer(name),
      });
      running.set(name, { name, pid: program.pid, at: serverUrl(port, listen) });
      return program;
    }, REPLICA_GRACE_MS);
    const ready = {
      server: serverUrl(port, listen),
      caFile,
      token: credentials.adminToken,
      deadlineMs: READY_DEADLINE_MS,
    };
    await waitUntilReady(stage.first, ready).catch(async (error: unknown) => {
      await stage.stop();
      throw error;
    });
    return stage;
  };
  const [firstPort, ...otherPorts] = ports;
  if (firstPort === undefined) throw new Error('the set needs a replica');
  const first = await startReplica(firstPort, 0);
  const others = await Promise.allSettled(otherPorts.map((port, index) => startReplica(port, index + 1)));
  const started = others.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  add(together([first, ...started]));
  const failure = others.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason as Error;
  return { ports, caFile };
}

/**
 * Restarts a member when it has ended. A member that ends right after each start, because it was removed from the set or lost its data, is started
 * less and less often; the others serve meanwhile.
 */
function etcdStage({ etcd, running }: Pick<ReplicaSetParts, 'etcd' | 'running'>): Stage {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watchOver = async (member: EtcdMember): Promise<void> => {
    let startedAt = Date.now();
    let delayMs = MEMBER_RESTART_DELAY_MS;
    while (!signal.aborted) {
      await delay(MEMBER_CHECK_MS);
      if (member.pid !== undefined || signal.aborted) continue;
      if (Date.now() - startedAt > MEMBER_STABLE_MS) delayMs = MEMBER_RESTART_DELAY_MS;
      const reason = member.lastError();
      print(
        `${member.name} ended${reason === undefined ? '' : ` (${reason})`}; starting it again in ${String(delayMs / 1_000)} s`,
      );
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await member.start();
      startedAt = Date.now();
      delayMs = Math.min(2 * delayMs, MEMBER_RESTART_DELAY_MAX_MS);
      const { name, pid = 0, clientUrl } = member;
      running.set(name, { name, pid, at: clientUrl });
      print(`${name} runs again, pid ${String(pid)}`);
    }
  };
  const failed = Promise.all(etcd.members.map(watchOver)).then(
    () => new Promise<never>(() => undefined),
    (error: unknown) => ({ reason: `etcd: ${String(error)}`, exitCode: 1 }),
  );
  return {
    failed,
    async stop() {
      stopping.abort();
      // When all members stop together, the last one waits for a majority in vain. Its log on disk is complete, so it is killed.
      const timer = setTimeout(() => {
        for (const member of etcd.members) void member.kill('SIGKILL');
      }, MEMBER_GRACE_MS);
      await etcd.stop();
      clearTimeout(timer);
    },
  };
}
