import path from 'node:path';
import type { ControllerManagerOptions } from '../../deploy/local/controller-manager';
import { startControllerManager } from '../../deploy/local/controller-manager';
import { ensureCredentials } from '../../deploy/local/credentials';
import type { StartedProcess } from '../../deploy/local/started-process';
import { NAMES } from './dialect';
import type { HaSet, HaSetOptions } from './ha-set';
import { startHaSet } from './ha-set';
import type { LocalServer } from './local-server';
import { startLocalServer } from './local-server';
import { explained, remember } from './workspace';

/**
 * Starts a set before the first test of the calling suite, and stops it after the last. Tests and later hooks can use it. A hook that must run
 * before the set stops has to be registered before this call.
 */
export function suiteHaSet(options: HaSetOptions): Omit<HaSet, 'stop'> {
  const set = startedForSuite(async () => startHaSet(options));
  return {
    get replicas() {
      return set().replicas;
    },
    get etcd() {
      return set().etcd;
    },
    get controllerManagers() {
      return set().controllerManagers;
    },
    get server() {
      return set().server;
    },
    get kubeconfig() {
      return set().kubeconfig;
    },
    get adminToken() {
      return set().adminToken;
    },
    get client() {
      return set().client;
    },
    of: (index) => set().of(index),
    pids: () => set().pids(),
  };
}

/** The same for one server on an embedded store. */
export function suiteLocalServer(...how: Parameters<typeof startLocalServer>): Omit<LocalServer, 'stop'> {
  const local = startedForSuite(async () => startLocalServer(...how));
  return {
    get replica() {
      return local().replica;
    },
    get dir() {
      return local().dir;
    },
    get dataDir() {
      return local().dataDir;
    },
  };
}

/** Starts a controller-manager of a suite's own for a set of the Kubernetes dialect, with the rights of its service accounts. */
export async function startManagerOf(
  { kubeconfig }: Pick<HaSet, 'kubeconfig'>,
  options: Pick<ControllerManagerOptions, 'name' | 'extraArgs' | 'onLine'>,
): Promise<StartedProcess> {
  const dialect = 'kubernetes';
  const dir = path.dirname(kubeconfig);
  return remember(
    await startControllerManager({
      ...options,
      kubeconfig: path.join(dir, 'controller-manager.kubeconfig'),
      credentials: ensureCredentials(dir, NAMES[dialect].controllerManager),
      dialect,
    }),
  );
}

function startedForSuite<T extends { stop(): Promise<void> }>(start: () => Promise<T>): () => T {
  let started: T | undefined;
  beforeAll(
    explained(async () => {
      started = await start();
    }),
  );
  afterAll(async () => {
    await started?.stop();
  });
  return () => {
    if (started === undefined) throw new Error('the servers of a suite exist only in its tests and hooks');
    return started;
  };
}
