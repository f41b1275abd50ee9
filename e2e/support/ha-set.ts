import path from 'node:path';
import { serverUrl } from '../../deploy/local/api-server';
import { startBalancer } from '../../deploy/local/balancer';
import { startControllerManager } from '../../deploy/local/controller-manager';
import { ensureCredentials, writeKubeconfig } from '../../deploy/local/credentials';
import type { EtcdCluster } from '../../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../../deploy/local/etcd-cluster';
import { freePort } from '../../deploy/local/ports';
import { waitUntilReady } from '../../deploy/local/readiness';
import type { StartedProcess } from '../../deploy/local/started-process';
import { defined } from '../../shared/defined';
import type { Dialect } from '../../shared/names';
import { PATIENCE_MS } from '../../shared/testing/eventually';
import { ApiClient } from './client';
import { NAMES } from './dialect';
import { httpVersion } from './http-version';
import type { Links } from './links';
import type { Replica } from './replica';
import { startReplica } from './replica';
import { makeWorkspace, remember } from './workspace';

export interface HaSetOptions {
  readonly replicas: 1 | 2 | 3;
  readonly etcd: 1 | 3;
  readonly balancer: boolean;
  readonly controllerManagers: 0 | 1 | 2;
  readonly dialect: Dialect;
  /** How long a replica continues to serve after SIGTERM, as a Go duration; by default 0. */
  readonly shutdownDelay?: string;
  readonly extraArgs?: readonly string[];
  /** The value of the controller-managers' `--controllers`. */
  readonly controllers?: string;
  /** Node flags and environment variables of a replica or controller-manager, by name. */
  readonly processOf?: (name: string) => ProcessSettings;
  /** Links between the processes, to inject network faults; by default none. */
  readonly links?: Pick<Links, 'through'>;
}

export interface ProcessSettings {
  readonly nodeFlags: readonly string[];
  /** The compiled program of a replica; by default the one of the build. */
  readonly program?: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A set of real processes on free ports, with all files in one temporary folder. */
export interface HaSet {
  readonly replicas: readonly Replica[];
  readonly etcd: EtcdCluster;
  readonly controllerManagers: readonly RestartableProgram[];
  /** The address of the balancer, or of the first replica when there is none. */
  readonly server: string;
  readonly kubeconfig: string;
  /** The token of the superuser. */
  readonly adminToken: string;
  /** A client of {@link HaSet.server}. With a balancer it uses HTTP/2, so that all its requests reach the same replica. */
  readonly client: ApiClient;
  /** The client of one replica: HTTP/1.1 for the first and third, HTTP/2 for the second. */
  of(index: number): ApiClient;
  /** The process ids of all running programs. */
  pids(): readonly number[];
  /** Stops all processes and removes the folder. */
  stop(): Promise<void>;
}

/** A program that a test may kill and restart. */
export interface RestartableProgram {
  /** The current process, or the last one. */
  process(): StartedProcess;
  /** Stops the program if it runs, and starts it again. */
  restart(): Promise<void>;
}

export async function startHaSet(options: HaSetOptions): Promise<HaSet> {
  const workspace = makeWorkspace('ha');
  const cleanups: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
    workspace.remove();
  };
  try {
    return await startParts(options, { dir: workspace.dir, cleanups, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

const GRACE_MS = 5_000;

interface SetParts {
  readonly dir: string;
  readonly cleanups: (() => Promise<void>)[];
  readonly stop: () => Promise<void>;
}

async function startParts(options: HaSetOptions, { dir, cleanups, stop }: SetParts): Promise<HaSet> {
  const { dialect } = options;
  const credentials = ensureCredentials(dir, NAMES[dialect].controllerManager);
  const token = credentials.adminToken;
  const through = options.links?.through ?? (async (...[, , url]) => Promise.resolve(url));
  const etcd = await startEtcdCluster({
    size: options.etcd,
    dataDir: path.join(dir, 'etcd'),
    peerUrlOf: async (name, url) => through('peers', name, url),
  });
  cleanups.push(() => killEtcd(etcd));

  const startOne = async (index: number): Promise<Replica> => {
    const name = `apiserver-${String(index)}`;
    const endpoints = await Promise.all(
      etcd.members.map(async (member) => through(name, member.name, member.clientUrl)),
    );
    const replica = await startReplica({
      name,
      dialect,
      storage: { kind: 'etcd', endpoints },
      dir,
      certDir: path.join(dir, 'certs'),
      credentials,
      http: httpVersion(index % 2 === 0 ? '1.1' : '2'),
      ...defined({ shutdownDelay: options.shutdownDelay, extraArgs: options.extraArgs }),
      ...options.processOf?.(name),
    });
    cleanups.push(() => replica.stop());
    return replica;
  };
  // The first replica creates the certificate of all replicas.
  const first = await startOne(0);
  const starting = Array.from({ length: options.replicas - 1 }, (_, index) => startOne(index + 1));
  // When one start fails, the others must finish first, so that they are stopped too.
  await Promise.allSettled(starting);
  const replicas = [first, ...(await Promise.all(starting))];
  const { caFile } = first;

  let { server } = first;
  const balancers: StartedProcess[] = [];
  if (options.balancer) {
    const port = await freePort();
    server = serverUrl(port);
    const targets = replicas.map((replica) => replica.port);
    const balancer = remember(
      await startBalancer({ port, targets, caFile, token, dir: path.join(dir, 'balancer') }),
    );
    balancers.push(balancer);
    cleanups.push(async () => {
      await balancer.stop(GRACE_MS);
    });
    await waitUntilReady(balancer, { server, caFile, token, deadlineMs: PATIENCE_MS });
  }

  const kubeconfig = path.join(dir, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server, caFile, user: 'admin', token });
  const asControllerManager = {
    caFile,
    user: 'controller-manager',
    token: credentials.controllerManagerToken,
  };
  // For suites that start their own controller-manager.
  writeKubeconfig(path.join(dir, 'controller-manager.kubeconfig'), { server, ...asControllerManager });
  const controllerManagers: RestartableProgram[] = [];
  for (let index = 0; index < options.controllerManagers; index++) {
    const name = `controller-manager-${String(index)}`;
    const ownKubeconfig = path.join(dir, `${name}.kubeconfig`);
    writeKubeconfig(ownKubeconfig, {
      server: await through(name, 'balancer', server),
      ...asControllerManager,
    });
    const program = await restartable(async () =>
      startControllerManager({
        name,
        kubeconfig: ownKubeconfig,
        credentials,
        dialect,
        controllers: options.controllers,
        ...options.processOf?.(name),
      }),
    );
    cleanups.push(async () => {
      await program.process().stop(GRACE_MS);
    });
    controllerManagers.push(program);
  }

  const client = new ApiClient({ server, caFile, token, http: httpVersion(options.balancer ? '2' : '1.1') });
  cleanups.push(() => {
    client.close();
    return Promise.resolve();
  });
  const of = (index: number): ApiClient => {
    const replica = replicas[index];
    if (replica === undefined) throw new Error(`no replica ${String(index)}`);
    return replica.client;
  };
  const pids = (): readonly number[] => [
    ...etcd.members.flatMap(({ pid }) => pid ?? []),
    ...[...replicas, ...controllerManagers].map((program) => program.process().pid),
    ...balancers.map(({ pid }) => pid),
  ];
  return {
    replicas,
    etcd,
    controllerManagers,
    server,
    kubeconfig,
    adminToken: token,
    client,
    of,
    pids,
    stop,
  };
}

async function restartable(start: () => Promise<StartedProcess>): Promise<RestartableProgram> {
  let program = remember(await start());
  return {
    process: () => program,
    async restart() {
      await program.stop(GRACE_MS);
      program = remember(await start());
    },
  };
}

/** Kills etcd without a graceful shutdown, because its data is deleted anyway. */
async function killEtcd(etcd: EtcdCluster): Promise<void> {
  await Promise.all(etcd.members.map((member) => member.kill('SIGKILL')));
  await etcd.stop();
}
