import { setMaxListeners } from 'node:events';
import { systemClock } from '../shared/concurrency/clock';
import { linkedAbort } from '../shared/concurrency/linked-abort';
import { LoopLag } from '../shared/concurrency/loop-lag';
import { STEP_TIMES } from '../shared/concurrency/long-steps';
import { keepServingCertificate } from '../shared/certs/keep-serving-certificate';
import { ensureServingCertificate } from '../shared/certs/serving-certificate';
import { defined } from '../shared/defined';
import type { Build } from '../shared/build';
import type { Log } from '../shared/log/log';
import type { Audit } from './audit/audit';
import { openAudit } from './audit/open-audit';
import type { AuthorityBundles } from './startup/authentication';
import { clientAuthoritiesOf, createAuthentication } from './startup/authentication';
import { createAuthorizationStage } from './access/authorization/authorize';
import type { ApiService } from './startup/bootstrap/api-service';
import { createApiService } from './startup/bootstrap/api-service';
import { createApiVersions } from './startup/bootstrap/api-versions';
import { createAuthenticationInfo } from './startup/bootstrap/authentication-info';
import { checkDialect } from './startup/bootstrap/dialect-record';
import type { Furnishing } from './startup/bootstrap/furnish';
import { createFurnishing } from './startup/bootstrap/furnish';
import { createPolicyHook } from './startup/bootstrap/policy-hook';
import type { StartHooks } from './startup/bootstrap/start-hooks';
import { LiveReplicas } from './startup/bootstrap/live-replicas';
import { createFlowObjects } from './startup/bootstrap/flow-objects';
import type { ControlPlane } from './startup/control-plane';
import type { HealthEndpoints } from './observability/health/health-endpoints';
import { healthEndpoints, healthPaths } from './observability/health/health-endpoints';
import { profilingEndpoints } from './observability/profiling/profiling-endpoints';
import type { HealthCheck } from './observability/health/health-check';
import type { CheckedParts } from './startup/health-checks';
import { checksOf } from './startup/health-checks';
import { openClusterAnswers } from './startup/cluster-answers';
import { startFlowControl } from './startup/flow-control';
import type { AnswersOf } from './access/webhook/shared-answers';
import type { OverloadParts } from './exchange/overload';
import { createOverloadStage } from './exchange/overload';
import type { LoopReport } from './observability/metrics/add-overload-metrics';
import { createImpersonationStage } from './access/impersonation/impersonation';
import { createProcessMetrics } from './process-metrics';
import { createStoreBackup } from './observability/store-backup';
import { createJourney } from './journey';
import { createOffloads } from './offload/create-offload';
import type { Aggregation } from './startup/aggregation';
import { createBackends } from './startup/backends';
import { planeOfOptions, verbContextOf } from './startup/plane-of-options';
import type { ServerStore } from './startup/server-store';
import { keepStore, openServerStore } from './startup/server-store';
import type { ServerOptions, ServingOptions } from './startup/options/server-options';
import type { ReplicaIdentity } from './startup/replica-identity';
import { createReplicaIdentity } from './startup/replica-identity';
import { startHooksOf } from './startup/start-hooks-of';
import { retryUntilAvailable } from './startup/retry-until-available';
import { newConnectionCounts } from './http/server/connection-counts';
import { createPreflightStage } from './http/server/browser-rules';
import { statusErrorOf } from './http/server/error-handler';
import { createMemoryLimitStage, createRequestMemory } from './http/server/held-bytes';
import type { Server } from './http/server/server';
import { createServer } from './http/server/server';
import type { OpenedStore } from './storage/open';

/** How long requests in flight may take once the server has stopped accepting. */
const DRAIN_GRACE_MS = 20_000;
const WITHDRAW_TIMEOUT_MS = 3_000;
/** How long audit events that are not written yet may take at the end. */
const AUDIT_FLUSH_MS = 10_000;

/** What goes on in the background from the moment at which the first objects are there. */
const LOOPS = [
  'definitionControllers',
  'flowConfigurationProducer',
  'authenticationInfo',
  'apiServiceAvailability',
  'autoregistration',
] as const;

/** What works as soon as the cache is filled, because that is all it reads. */
const READERS_OF_CACHE = [
  'admission',
  'informers',
  'flowConfigurationConsumer',
  'flowFilter',
  'aggregatorInformers',
  'apiServiceRegistration',
] as const;

export interface ServerProcess {
  readonly options: ServerOptions;
  readonly log: Log;
  /** Why the last log line could not be written. */
  readonly logFailure: () => Error | undefined;
  readonly build: Build;
}

/**
 * Puts a server together and serves until `stop` aborts; then drains and closes. The listener opens first and health answers at once;
 * readiness comes with the filled cache. Rejects when the store, the certificate or the port cannot be used.
 */
export async function runServer(context: ServerProcess, stop: AbortSignal): Promise<void> {
  const { options, log } = context;
  // A policy that cannot be used is told before anything else is done.
  const audit =
    options.audit === undefined
      ? undefined
      : await openAudit(options.audit, { log, statusOf: statusErrorOf });
  try {
    await serve({ ...context, audit }, stop);
  } finally {
    await audit?.close(AbortSignal.timeout(AUDIT_FLUSH_MS));
  }
}

interface AuditedProcess extends ServerProcess {
  readonly audit: Audit | undefined;
}

async function serve(context: AuditedProcess, stop: AbortSignal): Promise<void> {
  const { options, log } = context;
  const life = new AbortController();
  // Every part that goes on in the background listens to it.
  setMaxListeners(0, life.signal);
  const start = { log, clock: systemClock };
  const { opened, checks, ...measured } = await openServerStore(options, start);
  try {
    const { prefix } = options.store;
    await retryUntilAvailable(async () => opened.connect(stop), start, stop);
    await retryUntilAvailable(async () => checkDialect(opened.backend, prefix, stop), start, stop);
    const answersOf = await openClusterAnswers(
      options,
      { log, backend: opened.backend, life: life.signal },
      stop,
    );
    const plane = planeOfOptions(options, { backend: opened.backend, log, life: life.signal, answersOf });
    const policyHook = createPolicyHook({
      store: plane.store,
      registry: plane.registry,
      log,
      kindSettings: options.kindSettings,
    });
    const hooks = startHooksOf(options);
    const identity = createReplicaIdentity(options, { plane, hooks, log });
    const furnishing = createFurnishing({ plane, backend: opened.backend, prefix, policyHook, hooks, log });
    const { server, port, bundles, aggregation } = await openListener(context, {
      plane,
      opened,
      measured,
      storeChecks: checks,
      contentChecks: [...hooks.checks, furnishing.check],
      life: life.signal,
      answersOf,
      identity,
    });
    const apiService = createApiService({
      store: plane.store,
      registry: plane.registry,
      replicas: new LiveReplicas(opened.backend, prefix),
      self: { ip: options.advertiseAddress, port },
      serviceAddress: plane.serviceAllocation.firstAddress,
      log,
    });
    try {
      await becomeReady({ plane, furnishing, hooks, log }, life.signal, stop);
      void furnishing.keep(life.signal);
      identity?.keep(life.signal);
      keepStore(opened, options, life.signal);
      void plane.serviceAllocation.keepRepaired(life.signal);
      void plane.definitions.keep(life.signal);
      const { store, registry } = plane;
      void createFlowObjects({ store, registry, isFurnished: furnishing.isDone, log }).keep(life.signal);
      void plane.openWatches.keep(life.signal);
      void aggregation.keep(life.signal);
      const onComplete = (): void => hooks.done('autoregisterCompletion');
      void createApiVersions({ store, registry, onComplete, log }).keep(life.signal);
      void keepAuthenticationInfo(context, { plane, bundles, life: life.signal });
      hooks.done(...LOOPS);
      await apiService.keep(stop);
    } finally {
      await Promise.all([
        withdraw(apiService, log),
        server.close({ delayMs: options.shutdownDelayMs, graceMs: DRAIN_GRACE_MS }),
      ]);
    }
  } finally {
    life.abort(new Error('the server is stopped'));
    await opened.backend.close();
  }
}

async function keepAuthenticationInfo(
  { options, log }: ServerProcess,
  parts: Pick<ListenerParts, 'plane' | 'life'> & { readonly bundles: AuthorityBundles },
): Promise<void> {
  const { plane, life, bundles } = parts;
  const { requestHeader: names } = options.authentication;
  await createAuthenticationInfo({
    store: plane.store,
    registry: plane.registry,
    clients: bundles.clients,
    proxies:
      names === undefined || bundles.proxies === undefined ? undefined : { bundle: bundles.proxies, names },
    clock: systemClock,
    log,
  }).keep(life);
}

/** A store that does not answer must not hold up the end: it will forget this replica by itself. */
async function withdraw(apiService: ApiService, log: Log): Promise<void> {
  try {
    await apiService.withdraw(AbortSignal.timeout(WITHDRAW_TIMEOUT_MS));
  } catch (error) {
    log.warn({ error: String(error) }, 'failed to remove this replica from the Endpoints of the API');
  }
}

interface StartParts {
  readonly plane: ControlPlane;
  readonly furnishing: Furnishing;
  readonly hooks: StartHooks;
  readonly log: Log;
}

async function becomeReady(parts: StartParts, life: AbortSignal, stop: AbortSignal): Promise<void> {
  await Promise.race([parts.plane.cache.start(life), aborted(stop)]);
  if (stop.aborted) return;
  parts.hooks.done(...READERS_OF_CACHE);
  const { signal, unlink } = linkedAbort(life, stop);
  try {
    await parts.furnishing.run(signal);
  } finally {
    unlink();
  }
  parts.log.info({ revision: parts.plane.cache.revision, uptimeMs: Math.round(performance.now()) }, 'ready');
}

interface ListenerParts {
  readonly plane: ControlPlane;
  readonly opened: OpenedStore;
  /** What is known of how the store does. */
  readonly measured: Pick<ServerStore, 'times' | 'transformations'>;
  /** Whether the store can be reached, and read. */
  readonly storeChecks: readonly HealthCheck[];
  /** Those of what the store must have. */
  readonly contentChecks: readonly HealthCheck[];
  /** Aborts when the server is stopped. */
  readonly life: AbortSignal;
  /** Undefined: what webhooks answer is told to no other replica. */
  readonly answersOf: AnswersOf | undefined;
  /** Undefined: other replicas are told nothing of this one. */
  readonly identity: ReplicaIdentity | undefined;
}

interface OpenListener {
  readonly server: Server;
  readonly port: number;
  readonly bundles: AuthorityBundles;
  readonly aggregation: Aggregation;
}

async function openListener(
  { options, log, logFailure, build, audit }: AuditedProcess,
  parts: ListenerParts,
): Promise<OpenListener> {
  const { plane, opened, measured, life, answersOf } = parts;
  const address = { port: options.serving.port };
  const serverAddress = (): string =>
    `${options.externalHostname || options.advertiseAddress}:${String(address.port)}`;
  const known = { plane, clock: systemClock, log, life, serverAddress, answersOf };
  const authentication = createAuthentication(options.authentication, known);
  const connections = { counts: newConnectionCounts(), memory: createRequestMemory(options.flow.bytesMax) };
  const backends = await createBackends(options.connect, { plane, log, life });
  const loop = watchLoop(life);
  const { prefix: storePrefix } = options.store;
  const flow = startFlowControl(options.flow, { plane, log, dropped: loop.dropped, storePrefix }, life);
  const { onShutdown, ...health } = healthOf({ options, log, logFailure }, parts);
  const { large, encodings, counts } = createOffloads({ ...known, backend: opened.backend });
  const certificate = certificateFiles(options.serving, { log, life });
  const server = createServer({
    ...options.serving,
    certificate,
    clientAuthorities: clientAuthoritiesOf(authentication.bundles),
    journey: createJourney({
      audit,
      ...defined({ preflight: options.serving.browsers && createPreflightStage(options.serving.browsers) }),
      authenticate: authentication.stage,
      impersonate: createImpersonationStage(plane.access.authorize),
      limitMemory: createMemoryLimitStage(connections.memory),
      overload: createOverloadStage({ ...loop, isLong: flow.isLong }),
      flowControl: flow.stage,
      authorize: createAuthorizationStage(plane.access.authorize),
      ...defined({ storageVersions: parts.identity?.stage }),
      ...health,
      metrics: createProcessMetrics(
        { options, build, servingFile: certificate.certFile },
        {
          plane,
          authentication,
          connections,
          loop,
          ...backends,
          audit: audit?.counts,
          largeRequests: counts,
          flow: flow.report,
          store: { ...opened, ...measured },
        },
      ),
      ...defined({ profiles: options.profiling ? profilingEndpoints() : undefined }),
      ...defined({ issuer: authentication.accountTokens.documents, backup: createStoreBackup(opened) }),
      verbs: {
        ...verbContextOf(options, { plane, authentication, opened, connector: backends.connector }),
        encodeElement: async (request, signal) => encodings.element(request, signal),
      },
      large,
      aggregator: backends.aggregation.aggregator,
      otherDocuments: backends.aggregation.documents,
      requestTimeoutMs: options.requests.timeoutMs,
      serverAddress,
      build,
    }),
    log,
    ...connections,
    onShutdown,
    endWatches: async (how) => plane.cache.drain(how, AbortSignal.timeout(how.spreadMs + DRAIN_GRACE_MS)),
  });
  const bound = await server.listen();
  address.port = bound.port;
  log.info({ ...bound }, 'serving over TLS');
  return { server, port: bound.port, bundles: authentication.bundles, aggregation: backends.aggregation };
}

/** What probes are told; once `onShutdown` is called, that it goes. */
function healthOf(
  { options, log, logFailure }: Pick<ServerProcess, 'options' | 'log' | 'logFailure'>,
  parts: Omit<CheckedParts, 'logFailure' | 'isShuttingDown'>,
): {
  readonly health: HealthEndpoints;
  readonly healthPaths: readonly string[];
  readonly onShutdown: () => void;
} {
  let isShuttingDown = false;
  const checks = checksOf({ ...parts, logFailure, isShuttingDown: () => isShuttingDown });
  const health = healthEndpoints({
    checks,
    log,
    livezGrace: { clock: systemClock, startedAt: systemClock.now(), graceMs: options.livezGraceMs },
  });
  return {
    health,
    healthPaths: healthPaths(checks),
    onShutdown: () => {
      isShuttingDown = true;
    },
  };
}

function watchLoop(life: AbortSignal): LoopReport & OverloadParts {
  const lag = new LoopLag();
  lag.watch(life);
  return { lag, dropped: { mutating: 0, readOnly: 0 }, random: () => Math.random(), steps: STEP_TIMES };
}

function certificateFiles(
  { certificate }: ServingOptions,
  { log, life }: { readonly log: Log; readonly life: AbortSignal },
): { readonly certFile: string; readonly keyFile: string } {
  if (certificate.from === 'files') return certificate;
  const own = { dir: certificate.dir, hosts: certificate.hosts, log };
  const files = ensureServingCertificate(own);
  keepServingCertificate(own, life);
  return files;
}

/** Resolves when the signal aborts. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener(
      'abort',
      () => {
        resolve();
      },
      { once: true },
    );
  });
}
