import type { HaSet, HaSetOptions } from './ha-set';
import { startHaSet } from './ha-set';
import type { LocalServer } from './local-server';
import { startLocalServer } from './local-server';
import { explained } from './workspace';

/**
 * The set of the suite that calls this: started before its first test, ended after its last. Its parts are there in tests and in hooks
 * that are registered behind this call; what has to end before the set ends is ended by a hook that is registered in front of it.
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

/** The same of one server on an embedded store. */
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
    if (started === undefined) throw new Error('What a suite runs on is there in its tests and hooks only.');
    return started;
  };
}
