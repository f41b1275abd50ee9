import type { HaSet, HaSetOptions } from './ha-set';
import { startHaSet } from './ha-set';
import type { LocalServer } from './local-server';
import { startLocalServer } from './local-server';
import { explained } from './workspace';

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
