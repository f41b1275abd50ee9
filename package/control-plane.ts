import type { UserInfo } from '../apiserver/engine/request/exchange';
import { setTimeout as sleep } from 'node:timers/promises';
import { MemoryBackend } from '../apiserver/engine/storage/stores/memory/memory-backend';
import type { MemorySnapshot } from '../apiserver/engine/storage/stores/memory/memory-backend';
import { signingAuthorityOf } from '../shared/certs/sign-certificate-request';
import type { Build } from '../shared/build';
import { selectControllers } from '../controller-manager/controllers';
import { NODES_MAX } from '../controller-manager/node/pod-addresses';
import { apiLevel, formatApiLevel } from '../shared/api-level';
import { RESOURCE } from '../shared/api/resource-names';
import { hasCode } from '../shared/client/status';
import { linkedAbort } from '../shared/concurrency/linked-abort';
import type { Log } from '../shared/log/log';
import { dialect, NAMESPACE, USER_GROUP } from '../shared/names';
import { beginningOf, exportBeginning, rememberBeginning } from './beginnings';

export { addBeginning } from './beginnings';
export { makeServingCertificate } from './plane-options';
import type { InjectedFaults } from './faults';
import { createFaults } from './faults';
import { createLocalClient, fetchLocally } from './local-access';
import { applyManifests, readManifests } from './manifests';
import { durationMs, PlaneClock } from './plane-clock';
import type { Identity } from './plane-options';
import {
  beginningKey,
  controllerWords,
  kubeconfigOf,
  logOf,
  newIdentity,
  serverOptions,
  tokenOf,
} from './plane-options';
import type { RunningReplica } from './replica';
import { startReplica, userOf } from './replica';
import type {
  Access,
  ClientNodeConfig,
  ControlPlane,
  ControlPlaneOptions,
  ControlPlaneSnapshot,
  Duration,
  KubernetesObject,
  Replica,
} from './types';

/** Revisions that a watch can resume from. */
const REVISIONS_MAX = 10_000;
const SIGNED_CERTIFICATE_MS = 365 * 86_400_000;
/** Limit of the start and of each change of the state, until every API server serves it. */
const READY_MS_MAX = 60_000;
const ADMIN = userOf('orch-admin', [USER_GROUP.masters]);
/** A control plane that has written nothing for this time has all its first objects. */
const SETTLED_MS = 1_000;
const NO_BUILD: Build = { version: '', commit: '', treeState: '', date: '' };

/** Starts a control plane in this process, in memory. Rejects with all errors of the options. */
export async function startControlPlane(
  options: ControlPlaneOptions = {},
  build: Build = NO_BUILD,
): Promise<ControlPlane> {
  if (options.dialect !== undefined && options.dialect !== dialect)
    throw new Error(`this instance of the server has the dialect ${dialect}, not ${options.dialect}`);
  if (options.apiLevel !== undefined && options.apiLevel !== formatApiLevel(apiLevel))
    throw new RangeError(`the API level ${options.apiLevel} is not served`);
  const { unknown } = selectControllers(controllerWords(options));
  if (unknown.length > 0) throw new RangeError(`there are no controllers named ${unknown.join(', ')}`);
  return EmbeddedControlPlane.start({ options, build, identity: newIdentity() });
}

/** Returns the first objects of control planes with the default options, for `addBeginning` of another process. Called by the build. */
export async function makeBeginning(): Promise<string> {
  const options = { listen: false, controllers: false };
  const plane = await EmbeddedControlPlane.start({ options, build: NO_BUILD, identity: newIdentity() });
  let revision = 0;
  for (let snapshot = plane.snapshot(); ; snapshot = plane.snapshot()) {
    if (snapshot.revision === revision) {
      await plane.stop();
      return exportBeginning(beginningKey(options), snapshot);
    }
    ({ revision } = snapshot);
    await sleep(SETTLED_MS);
  }
}

interface StartParts {
  readonly options: ControlPlaneOptions;
  readonly build: Build;
  readonly identity: Identity;
  readonly from?: MemorySnapshot;
}

class EmbeddedControlPlane implements ControlPlane {
  readonly clock = new PublicClock();
  readonly faults: InjectedFaults;
  readonly #parts: StartParts;
  readonly #store: MemoryBackend;
  readonly #hasFirstObjects: boolean;
  readonly #log: Log;
  readonly #running: RunningReplica[] = [];
  readonly #stopped = new AbortController();
  #stopping: Promise<void> | undefined;

  static async start(parts: StartParts): Promise<EmbeddedControlPlane> {
    const plane = new EmbeddedControlPlane(parts);
    try {
      await plane.#startReplicas();
      const { crds = [], objects = [] } = parts.options;
      if (parts.from === undefined) await plane.apply(...crds, ...objects);
      return plane;
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  private constructor(parts: StartParts) {
    this.#parts = parts;
    this.#log = logOf(parts.options.log);
    const { from } = parts;
    const beginning = from ?? beginningOf(beginningKey(parts.options), this.clock.now());
    this.#hasFirstObjects = beginning !== undefined;
    this.#store = new MemoryBackend({
      clock: this.clock.plane,
      revisionsMax: REVISIONS_MAX,
      ...(beginning === undefined ? {} : { from: beginning }),
    });
    this.faults = createFaults((resource) => {
      for (const each of this.#live()) expireHistory(each, resource);
      void this.#store.compact(this.#store.revision, this.#stopped.signal);
    });
  }

  get replicas(): readonly Replica[] {
    return this.#running.map((replica) =>
      Object.assign(
        this.#accessOf(ADMIN, () => replica),
        { stop: async () => replica.stop() },
      ),
    );
  }

  get kubeconfig(): string {
    return this.#accessOf(ADMIN).kubeconfig;
  }

  clientNodeConfig(): ClientNodeConfig {
    return this.#accessOf(ADMIN).clientNodeConfig();
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    return this.#accessOf(ADMIN).fetch(path, init);
  }

  as(user: string, groups: readonly string[] = []): Access {
    return this.#accessOf(userOf(user, groups));
  }

  async apply(...sources: readonly (string | KubernetesObject)[]): Promise<void> {
    const manifests = readManifests(sources);
    if (manifests.length === 0) return;
    const client = createLocalClient(this.#first().requests, ADMIN, this.#log);
    await this.#withinLimit(async (signal) => applyManifests(client, manifests, signal));
  }

  snapshot(): MemorySnapshot {
    return this.#store.snapshot();
  }

  async restore(snapshot: ControlPlaneSnapshot): Promise<void> {
    if (!isMemorySnapshot(snapshot)) throw new TypeError('this is no snapshot of a control plane');
    const revision = this.#store.restore(snapshot);
    await this.#reached(revision);
    for (const { server } of this.#live())
      for (const { keyPrefix } of server.plane.registry().stored)
        server.plane.cache.resource(keyPrefix).watches.expire();
  }

  async clone(): Promise<ControlPlane> {
    return EmbeddedControlPlane.start({ ...this.#parts, from: this.#store.snapshot() });
  }

  async stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    this.#stopped.abort(new Error('the control plane is stopped'));
    await Promise.all(this.#running.map(async (replica) => replica.stop()));
    await this.#store.close();
    this.clock.plane.close();
  }

  async #startReplicas(): Promise<void> {
    const { options, identity, build } = this.#parts;
    const { tokenKey, users } = identity;
    const { replicas = 1, nodes = 0, listen: listens = true } = options;
    if (!Number.isInteger(replicas) || replicas < 1)
      throw new RangeError('replicas must be a number of at least 1');
    if (!Number.isInteger(nodes) || nodes < 0 || nodes > NODES_MAX)
      throw new RangeError(`nodes must be a number from 0 to ${String(NODES_MAX)}`);
    const authority = {
      current: async () => {
        const { certificatePem, privateKeyPem } = identity.ca();
        return Promise.resolve(signingAuthorityOf(certificatePem, privateKeyPem));
      },
    };
    const starting = Array.from({ length: replicas }, async () => {
      const replica = await startReplica({
        options: serverOptions(options, identity),
        store: this.#store,
        clock: this.clock.plane,
        tokens: async ({ token, audiences }) => {
          const user = users.get(token);
          return Promise.resolve(user === undefined ? undefined : { user, audiences });
        },
        intercept: async (exchange, next) => this.faults.stage(exchange, next),
        listens,
        hasFirstObjects: this.#hasFirstObjects,
        decoded: identity.decoded,
        onReady: () => rememberBeginning(beginningKey(options), this.#store.snapshot()),
        controllers: controllerWords(options),
        controllerOptions: {
          get rootCa() {
            return identity.ca().certificatePem;
          },
          tokenKey,
          signing: { authorityOf: () => authority, lifetimeMs: SIGNED_CERTIFICATE_MS },
        },
        nodes,
        elects: replicas > 1,
        build,
        log: this.#log,
      });
      this.#running.push(replica);
    });
    // All of them, so that those that have started are stopped when another one fails.
    const failed = (await Promise.allSettled(starting)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    const { selected } = selectControllers(controllerWords(options));
    if (selected.some(({ name }) => name === 'serviceaccount')) await this.#createFirstAccount();
  }

  /** Creates the service account that pods of the default namespace need, as its controller will do a moment later. */
  async #createFirstAccount(): Promise<void> {
    const metadata = { name: 'default', namespace: NAMESPACE.default };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
    const client = createLocalClient(this.#first().requests, ADMIN, this.#log);
    await client.create(RESOURCE.serviceaccounts, account).catch((error: unknown) => {
      if (!hasCode(error, 409)) throw error;
    });
  }

  #live(): readonly RunningReplica[] {
    return this.#running.filter(({ isStopped }) => !isStopped());
  }

  #first(): RunningReplica {
    const [first] = this.#live();
    if (first === undefined) throw new Error('the control plane is stopped');
    return first;
  }

  #accessOf(user: UserInfo, replicaOf: () => RunningReplica = () => this.#first()): Access {
    const clientNodeConfig = (): ClientNodeConfig => this.#configOf(user, replicaOf());
    return {
      fetch: async (path, init) => {
        const replica = replicaOf();
        if (!user.groups.includes(USER_GROUP.masters)) await replica.whenAuthorizing();
        return fetchLocally(replica.requests, user, path, init);
      },
      get kubeconfig() {
        return kubeconfigOf(clientNodeConfig());
      },
      clientNodeConfig,
    };
  }

  #configOf(user: UserInfo, { server: { port } }: RunningReplica): ClientNodeConfig {
    if (port === 0) throw new Error('the control plane does not listen: it was started with listen: false');
    const { ca, users } = this.#parts.identity;
    const token = tokenOf(user, users);
    return {
      clusters: [
        {
          name: 'orch',
          server: `https://127.0.0.1:${String(port)}`,
          caData: Buffer.from(ca().certificatePem).toString('base64'),
          skipTLSVerify: false,
        },
      ],
      users: [{ name: user.name, token }],
      contexts: [{ name: 'orch', cluster: 'orch', user: user.name, namespace: 'default' }],
      currentContext: 'orch',
    };
  }

  /** Waits until every API server serves the revision. */
  async #reached(revision: number): Promise<void> {
    await this.#withinLimit(async (signal) => {
      for (const { server } of this.#live())
        await server.plane.cache.waitForRevision(revision, { timeoutMs: READY_MS_MAX, signal });
    });
  }

  async #withinLimit<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = linkedAbort(this.#stopped.signal);
    const timer = setTimeout(() => {
      limit.abort(new Error(`not done within ${String(READY_MS_MAX / 1_000)} seconds`));
    }, READY_MS_MAX);
    try {
      return await work(limit.signal);
    } finally {
      clearTimeout(timer);
      limit.unlink();
    }
  }
}

class PublicClock {
  readonly plane = new PlaneClock();

  now(): number {
    return this.plane.now();
  }

  async advance(duration: Duration): Promise<void> {
    await this.plane.advance(durationMs(duration));
  }
}

function isMemorySnapshot(snapshot: ControlPlaneSnapshot): snapshot is MemorySnapshot {
  return 'records' in snapshot && 'expiries' in snapshot;
}

function expireHistory({ server }: RunningReplica, resource: string): void {
  const { registry, cache } = server.plane;
  const stored = registry().stored.filter(({ name }) => name === resource || name.startsWith(`${resource}.`));
  if (stored.length === 0) throw new RangeError(`there is no resource ${resource}`);
  for (const { keyPrefix } of stored) cache.rebuildResource(keyPrefix, 'a fault that the test injects');
}
