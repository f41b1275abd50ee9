import { setMaxListeners } from 'node:events';
import { systemClock } from '../shared/concurrency/clock';
import { linkedAbort } from '../shared/concurrency/linked-abort';
import type { Log } from '../shared/log/log';
import type { ClientRequests } from '../shared/metrics/rest-client';
import { openAudit } from './engine/audit/open-audit';
import type { AuthorityBundles } from './compose/authentication';
import { apiLevel, formatApiLevel, VERIFIED_LEVELS } from '../shared/api-level';
import type { ApiService } from './kubernetes/bootstrap/api-service';
import { createApiService } from './kubernetes/bootstrap/api-service';
import { createApiVersions } from './kubernetes/bootstrap/api-versions';
import { createAuthenticationInfo } from './kubernetes/bootstrap/authentication-info';
import { checkRecords } from './kubernetes/bootstrap/store-records';
import type { BootstrapObjects } from './kubernetes/bootstrap/bootstrap-objects';
import { createBootstrapObjects } from './kubernetes/bootstrap/bootstrap-objects';
import { createPolicyHook } from './kubernetes/bootstrap/policy-hook';
import type { StartHooks } from './kubernetes/bootstrap/start-hooks';
import { LiveReplicas } from './kubernetes/bootstrap/live-replicas';
import { createFlowObjects } from './kubernetes/bootstrap/flow-objects';
import type { ControlPlane } from './compose/control-plane';
import { openClusterAnswers } from './compose/cluster-answers';
import { createClientRequests, planeOfOptions } from './compose/create-plane';
import { keepStore, openServerStore } from './compose/server-store';
import { createReplicaIdentity } from './compose/replica-identity';
import type { ServerOptions } from './compose/options/server-options';
import { startHooksOf } from './compose/start-hooks-of';
import { retryUntilAvailable } from './engine/storage/retry-until-available';
import { statusErrorOf } from './engine/server/error-handler';

import type { AuditedProcess, ListenerParts, ServerProcess } from './compose/listener';
import { DRAIN_GRACE_MS, openListener } from './compose/listener';

/** An embedding process waits for the requests that it wants answered itself. */
const AT_ONCE = { delayMs: 0, graceMs: 0, spreadMs: 0 };
const WITHDRAW_TIMEOUT_MS = 3_000;
/** How long audit events that are not written yet may take at the end. */
const AUDIT_FLUSH_MS = 10_000;

/** The background loops, started once the first objects exist. */
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

/**
 * Puts a server together and serves until `stop` aborts; then drains and closes (graceful shutdown). The listener opens first and health answers at once;
 * readiness comes with the filled cache. Rejects when the store, the certificate or the port cannot be used, and when the store fails for good.
 */
export async function runServer(context: ServerProcess, stop: AbortSignal): Promise<void> {
  const { options, log } = context;
  const requests = createClientRequests(options);
  // Fail on an invalid audit policy before anything else is started.
  const audit =
    options.audit === undefined
      ? undefined
      : await openAudit(options.audit, { log, statusOf: statusErrorOf, requests });
  try {
    await serve({ ...context, audit, requests }, stop);
  } finally {
    await audit?.close(AbortSignal.timeout(AUDIT_FLUSH_MS));
  }
}

async function serve(
  context: AuditedProcess & { readonly requests: ClientRequests },
  stop: AbortSignal,
): Promise<void> {
  const { options, log, requests, embedding } = context;
  const shutdown = new AbortController();
  const { signal: shutdownSignal } = shutdown;
  // Every background loop listens to it.
  setMaxListeners(0, shutdownSignal);
  warnOfUnverifiedLevel(options, log);
  const { clock = systemClock, decoded } = embedding ?? {};
  const start = { log, clock, decoded };
  const { opened, checks, ...measured } = embedding?.store ?? (await openServerStore(options, start));
  const storeFailure = opened.failed ?? new Promise<never>(() => undefined);
  try {
    const { prefix } = options.store;
    await retryUntilAvailable(async () => opened.connect(stop), start, stop);
    await retryUntilAvailable(async () => checkRecords(opened.backend, prefix, stop), start, stop);
    const { backend } = opened;
    const answersOf = await openClusterAnswers(options, { log, backend, shutdownSignal }, stop);
    const plane = planeOfOptions(options, { ...start, backend, shutdownSignal, answersOf, requests });
    const { store, registry } = plane;
    const policyHook = createPolicyHook({ store, registry, log, kindSettings: options.kindSettings });
    const hooks = startHooksOf(options);
    const identity = createReplicaIdentity(options, { plane, hooks, log });
    const areThere = embedding?.hasFirstObjects;
    const ensured = { plane, backend, prefix, policyHook, hooks, log, areThere };
    const bootstrapObjects = createBootstrapObjects(ensured);
    const { server, pipeline, port, bundles, aggregation } = await openListener(context, {
      plane,
      opened,
      measured,
      storeChecks: checks,
      contentChecks: [...hooks.checks, bootstrapObjects.check],
      shutdownSignal,
      answersOf,
      identity,
    });
    const apiService = createApiService({
      store,
      registry,
      replicas: new LiveReplicas(backend, prefix),
      self: { ip: options.advertiseAddress, port },
      serviceAddress: plane.serviceAllocation.firstAddress,
      log,
    });
    try {
      const becoming = becomeReady({ plane, bootstrapObjects, hooks, log }, shutdownSignal, stop);
      await Promise.race([becoming, storeFailure]);
      void bootstrapObjects.run(shutdownSignal);
      identity?.run(shutdownSignal);
      keepStore(opened, options, shutdownSignal);
      void aggregation.run(shutdownSignal);
      runPlaneLoops({ plane, bootstrapObjects, hooks, log }, shutdownSignal);
      void keepAuthenticationInfo(context, { plane, bundles, shutdownSignal });
      hooks.done(...LOOPS);
      void hooks.allDone.then(() => embedding?.onReady({ plane, pipeline, port }));
      await Promise.race([apiService.run(stop), storeFailure]);
    } finally {
      await Promise.all([
        withdraw(apiService, log),
        server.close(
          embedding === undefined ? { delayMs: options.shutdownDelayMs, graceMs: DRAIN_GRACE_MS } : AT_ONCE,
        ),
      ]);
    }
  } finally {
    shutdown.abort(new Error('the server is stopped'));
    await opened.backend.close();
  }
}

function warnOfUnverifiedLevel({ apiLevel: given }: Pick<ServerOptions, 'apiLevel'>, log: Log): void {
  if (VERIFIED_LEVELS.includes(apiLevel)) return;
  const verified = VERIFIED_LEVELS.map(formatApiLevel).join(' and ');
  log.warn({ apiLevel: given }, `only the API levels ${verified} are compared with a real server`);
}

/** Starts what keeps the objects of the control plane itself up to date until the signal aborts. */
function runPlaneLoops(
  { plane, bootstrapObjects, hooks, log }: StartParts,
  shutdownSignal: AbortSignal,
): void {
  const { store, registry } = plane;
  void plane.serviceAllocation.keepRepaired(shutdownSignal);
  void plane.serviceAddresses?.run(shutdownSignal);
  void plane.definitions.run(shutdownSignal);
  void createFlowObjects({ store, registry, isBootstrapped: bootstrapObjects.isDone, log }).run(
    shutdownSignal,
  );
  void plane.openWatches.run(shutdownSignal);
  const onComplete = (): void => hooks.done('autoregisterCompletion');
  void createApiVersions({ store, registry, onComplete, log }).run(shutdownSignal);
}

async function keepAuthenticationInfo(
  { options, log, embedding }: ServerProcess,
  parts: Pick<ListenerParts, 'plane' | 'shutdownSignal'> & { readonly bundles: AuthorityBundles },
): Promise<void> {
  const { plane, shutdownSignal, bundles } = parts;
  const { requestHeader: names } = options.authentication;
  await createAuthenticationInfo({
    store: plane.store,
    registry: plane.registry,
    clients: bundles.clients,
    proxies:
      names === undefined || bundles.proxies === undefined ? undefined : { bundle: bundles.proxies, names },
    clock: embedding?.clock ?? systemClock,
    log,
  }).run(shutdownSignal);
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
  readonly bootstrapObjects: BootstrapObjects;
  readonly hooks: StartHooks;
  readonly log: Log;
}

async function becomeReady(parts: StartParts, shutdownSignal: AbortSignal, stop: AbortSignal): Promise<void> {
  await Promise.race([parts.plane.cache.start(shutdownSignal), aborted(stop)]);
  if (stop.aborted) return;
  parts.hooks.done(...READERS_OF_CACHE);
  const { signal, unlink } = linkedAbort(shutdownSignal, stop);
  try {
    await parts.bootstrapObjects.ensure(signal);
  } finally {
    unlink();
  }
  parts.log.info(
    {
      apiLevel: formatApiLevel(apiLevel),
      revision: parts.plane.cache.revision,
      uptimeMs: Math.round(performance.now()),
    },
    'ready',
  );
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
