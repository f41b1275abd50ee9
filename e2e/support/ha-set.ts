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
  /** How long a replica goes on serving after SIGTERM, as a Go duration; not at all if not given. */
  readonly shutdownDelay?: string;
  readonly extraArgs?: readonly string[];
  /** Flags of Node, and variables, of the process of each replica and controller-manager, by its name. */
  readonly processOf?: (name: string) => ProcessSettings;
  /** What lies between the parts: replicas and etcd, members of etcd, controller-managers and the API. Nothing if not given. */
  readonly links?: Pick<Links, 'through'>;
}

export interface ProcessSettings {
  readonly nodeFlags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A set of real processes on free ports, with everything it wrote below one temporary folder. */
export interface HaSet {
  readonly replicas: readonly Replica[];
  readonly etcd: EtcdCluster;
  readonly controllerManagers: readonly RestartableProgram[];
  /** The address of the balancer, or of the first replica when there is none. */
  readonly server: string;
  readonly kubeconfig: string;
  /** Of the superuser. */
  readonly adminToken: string;
  /** A client of {@link HaSet.server}: over HTTP/2 where there is a balancer, whose replicas its requests then do not go round. */
  readonly client: ApiClient;
  /** The client of one replica: over HTTP/1.1 of the first and third, over HTTP/2 of the second. */
  of(index: number): ApiClient;
  /** Of all that was started, as it runs now. */
  pids(): readonly number[];
  /** Ends everything and removes the folder. */
  stop(): Promise<void>;
}

/** A program that a test may kill and start again. */
export interface RestartableProgram {
  /** The process that runs now, or ran last. */
  process(): StartedProcess;
  /** Ends it if it still runs, and starts it again. */
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
  // The first makes the certificate that all of them serve.
  const first = await startOne(0);
  const starting = Array.from({ length: options.replicas - 1 }, (_, index) => startOne(index + 1));
  // When one fails the others must have come up too, or they would miss their end.
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
  // For suites that run their own.
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
    if (replica === undefined) throw new Error(`There is no replica ${String(index)}.`);
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

/** The data goes away with the folder, so nothing is gained by asking politely. */
async function killEtcd(etcd: EtcdCluster): Promise<void> {
  await Promise.all(etcd.members.map((member) => member.kill('SIGKILL')));
  await etcd.stop();
}
