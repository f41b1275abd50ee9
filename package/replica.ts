import { setMaxListeners } from 'node:events';
import type { DecodedValues } from '../apiserver/engine/watch-cache/state/entry-codec';
import type { EmbeddedUsers } from '../apiserver/compose/authentication';
import type { EmbeddedServer } from '../apiserver/compose/listener';
import type { ServerOptions } from '../apiserver/compose/options/server-options';
import type { AccessQuestion } from '../apiserver/engine/request/access';
import type { Stage, UserInfo } from '../apiserver/engine/request/exchange';
import { createLocalRequests } from '../apiserver/engine/server/local-requests';
import type { LocalRequests } from '../apiserver/engine/server/local-requests';
import { measuredBackend, StoreTimes } from '../apiserver/engine/storage/measured-backend';
import type { MemoryBackend } from '../apiserver/engine/storage/stores/memory/memory-backend';
import { openMemory } from '../apiserver/engine/storage/stores/memory/memory-row';
import { runServer } from '../apiserver/run';
import { selectControllers } from '../controller-manager/controllers';
import { StandInNodes } from '../controller-manager/node/stand-in-nodes';
import { runControllerManager } from '../controller-manager/run';
import type { Controller } from '../controller-manager/runtime/controller';
import type { ControllerOptions } from '../controller-manager/runtime/controller-options';
import { runScheduler } from '../controller-manager/scheduler/scheduler';
import { apiLevel, formatApiLevel } from '../shared/api-level';
import { hasCode } from '../shared/client/status';
import { createWorkQueue } from '../shared/concurrency/work-queue';
import type { Build } from '../shared/build';
import type { Log } from '../shared/log/log';
import { NAMESPACE, SERVICE_ACCOUNT, STORE_CHECK, USER, USER_GROUP } from '../shared/names';
import { createLocalClient } from './local-access';
import type { PlaneClock } from './plane-clock';

export interface ReplicaParts {
  readonly options: ServerOptions;
  readonly store: MemoryBackend;
  readonly clock: PlaneClock;
  readonly tokens: EmbeddedUsers['tokens'];
  readonly intercept: Stage;
  readonly listens: boolean;
  /** Whether the store has the objects that every cluster has from its first start. */
  readonly hasFirstObjects: boolean;
  readonly decoded: DecodedValues;
  /** Called when the server is ready and no controller has begun. */
  readonly onReady: () => void;
  /** The words of `--controllers`. */
  readonly controllers: readonly string[];
  readonly controllerOptions: Pick<ControllerOptions, 'rootCa' | 'tokenKey' | 'signing'>;
  /** The number of stand-in nodes, which come with a scheduler. */
  readonly nodes: number;
  /** Whether the controller managers of several replicas elect a leader. */
  readonly elects: boolean;
  readonly build: Build;
  readonly log: Log;
}

/** One API server with its controller manager, in this process. */
export interface RunningReplica {
  readonly server: EmbeddedServer;
  readonly requests: LocalRequests;
  readonly isStopped: () => boolean;
  /** Resolves when roles are known: a machine under load may need longer for them than a request waits. */
  whenAuthorizing(): Promise<void>;
  /** Resolves when everything has ended. */
  stop(): Promise<void>;
}

/** The defaults of the flags of the controller manager. */
const CONTROLLER_OPTIONS: ControllerOptions = {
  concurrentNamespaceSyncs: 10,
  namespaceSyncPeriodMs: 300_000,
  concurrentGcSyncs: 20,
};
/** As `orch-node`, but without logs and metrics: nothing listens on the port. */
const NODE_SHAPE = { address: '127.0.0.1', agentPort: 10_250, cpu: '8', memory: '16Gi', pods: 110 };
/** In-process controllers lose no connection, so that a lease may be short: it is released when its replica stops. */
const ELECTION = {
  lease: { namespace: NAMESPACE.system, name: USER.controllerManager.replace(/^system:/u, '') },
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 250,
};

/** Starts a replica; resolves when it is ready. Rejects with the error that ended it before. */
export async function startReplica(parts: ReplicaParts): Promise<RunningReplica> {
  const { options, store, clock, log, build } = parts;
  const stop = new AbortController();
  let pipeline: EmbeddedServer['pipeline'] | undefined;
  const requests = createLocalRequests(() => pipeline, log);
  const times = new StoreTimes(options.store.prefix);
  // The store outlives a replica that stops.
  const backend = { ...measuredBackend(store, times), close: async () => Promise.resolve() };
  const opened = { ...openMemory(store), backend, names: { check: STORE_CHECK, component: 'store' } };
  let serving = Promise.resolve();
  const server = await new Promise<EmbeddedServer>((resolve, reject) => {
    const embedding = {
      store: { opened, times, checks: [] },
      hasFirstObjects: parts.hasFirstObjects,
      decoded: parts.decoded,
      clock,
      users: { requests: requests.authenticator, tokens: parts.tokens },
      intercept: parts.intercept,
      listens: parts.listens,
      onReady: resolve,
    };
    serving = runServer({ options, log, logFailure: () => undefined, build, embedding }, stop.signal);
    serving.catch(reject);
  });
  ({ pipeline } = server);
  parts.onReady();
  const managing = runControllers(parts, requests, stop.signal);
  managing.catch((error: unknown) => {
    log.error({ error }, 'the controllers ended');
  });
  let authorizing: Promise<void> | undefined;
  return {
    server,
    requests,
    isStopped: () => stop.signal.aborted,
    whenAuthorizing: async () => (authorizing ??= untilAuthorizing(server, stop.signal)),
    async stop() {
      stop.abort(new Error('the control plane is stopped'));
      await Promise.allSettled([serving, managing]);
      requests.close();
    },
  };
}

async function runControllers(
  parts: ReplicaParts,
  requests: LocalRequests,
  signal: AbortSignal,
): Promise<void> {
  const { controllers: words, controllerOptions, elects, log, clock } = parts;
  const selected = [...selectControllers(words).selected, ...nodePrograms(parts, requests)];
  if (selected.length === 0) return;
  // Every queue listens to it.
  setMaxListeners(0, signal);
  await runControllerManager(
    {
      client: createLocalClient(requests, userOf(USER.controllerManager), log),
      clientOf: (account) => createLocalClient(requests, accountUser(account), log),
      log,
      controllers: selected,
      controllerOptions: { ...CONTROLLER_OPTIONS, ...controllerOptions },
      metrics: {
        queueOf: (_name, options) =>
          createWorkQueue({ ...options, timers: clock, observer: clock.observeWork(signal) }),
        noteLeading: () => undefined,
      },
      clock,
      election: elects ? ELECTION : undefined,
    },
    signal,
  );
}

async function untilAuthorizing({ plane: { access } }: EmbeddedServer, signal: AbortSignal): Promise<void> {
  const question: AccessQuestion = {
    user: userOf(USER.anonymous),
    verb: 'get',
    isResourceRequest: false,
    path: '/',
    apiGroup: '',
    apiVersion: '',
    resource: '',
    subresource: '',
    namespace: '',
    name: '',
  };
  for (;;) {
    try {
      await access.authorize(question, signal);
      return;
    } catch (error) {
      // It has waited for a second.
      if (!hasCode(error, 503) || signal.aborted) throw error;
    }
  }
}

/** The scheduler and the stand-in nodes, where the controllers run and with the rights of their programs. */
function nodePrograms({ nodes, build }: ReplicaParts, requests: LocalRequests): readonly Controller[] {
  if (nodes === 0) return [];
  return [
    {
      name: 'scheduler',
      run: async ({ log }, signal) =>
        runScheduler({ client: createLocalClient(requests, userOf(USER.scheduler), log), log }, signal),
    },
    {
      name: 'node',
      run: async ({ log, createQueue }, signal) => {
        const user = userOf('orch-node', [USER_GROUP.masters]);
        const standIns = new StandInNodes({
          client: createLocalClient(requests, user, log),
          log,
          names: Array.from({ length: nodes }, (_, at) => `node-${String(at + 1)}`),
          shape: { ...NODE_SHAPE, version: `v${formatApiLevel(apiLevel)}.0+orch-${build.version}` },
          createQueue: () => createQueue(),
        });
        await standIns.run(signal);
      },
    },
  ];
}

/** A user in these groups. */
export function userOf(name: string, groups: readonly string[] = []): UserInfo {
  return { name, uid: '', groups, extra: {} };
}

function accountUser(account: string): UserInfo {
  const namespace = NAMESPACE.system;
  return userOf(`${SERVICE_ACCOUNT.userPrefix}${namespace}:${account}`, [
    SERVICE_ACCOUNT.group,
    `${SERVICE_ACCOUNT.groupPrefix}${namespace}`,
  ]);
}
