import { systemClock } from '../shared/concurrency/clock';
import { ensureServingCertificate } from '../shared/certs/serving-certificate';
import type { Log } from '../shared/log/log';
import { authenticate } from './authn/authenticate';
import type { TokenAuthenticator } from './authn/bearer-token';
import { bearerToken } from './authn/bearer-token';
import { tokenFileAuthenticator } from './authn/token-file';
import { authorize } from './authz/authorize';
import { authorizerOf } from './authz/modes';
import type { ApiService } from './bootstrap/api-service';
import { createApiService } from './bootstrap/api-service';
import { checkDialect } from './bootstrap/dialect-record';
import { createFirstObjects } from './bootstrap/first-objects';
import { LiveReplicas } from './bootstrap/live-replicas';
import { createFirstNamespaces } from './bootstrap/namespaces';
import type { ControlPlane } from './control-plane';
import { createControlPlane } from './control-plane';
import { healthEndpoints } from './health/health-endpoints';
import type { HealthCheck } from './health/health-check';
import { logCheck, ping, shutdownCheck } from './health/health-check';
import { createInsight } from './insight/insight';
import { createJourney } from './journey';
import type { OpenBackend } from './open-backend';
import { openBackend } from './open-backend';
import { operationServices } from './operation-services';
import type { ServerOptions, ServingOptions } from './options/server-options';
import type { Server } from './server/server';
import { createServer } from './server/server';

/** How long requests in flight may take once the server has stopped accepting. */
const DRAIN_GRACE_MS = 20_000;
const WATCH_END_SPREAD_MS = 500;
const WITHDRAW_TIMEOUT_MS = 3_000;
const SECOND_MS = 1_000;

export interface ServerProcess {
  readonly options: ServerOptions;
  readonly log: Log;
  /** Why the last log line could not be written. */
  readonly logFailure: () => Error | undefined;
  readonly build: { readonly version: string; readonly commit: string; readonly date: string };
}

/**
 * Puts a server together and serves until `stop` aborts; then drains and closes. The door opens first and health answers at once;
 * readiness comes with the filled cache. Rejects when the store, the certificate or the port cannot be used.
 */
export async function runServer(process: ServerProcess, stop: AbortSignal): Promise<void> {
  const { options, log } = process;
  const life = new AbortController();
  const opened = await openBackend(options.store, { log, clock: systemClock }, stop);
  try {
    const { prefix } = options.store;
    await checkDialect(opened.backend, prefix, stop);
    const plane = createControlPlane({
      backend: opened.backend,
      prefix,
      clock: systemClock,
      log,
      eventTtlSeconds: options.eventTtlSeconds,
      runtimeConfig: options.runtimeConfig,
      serverSideApply: options.featureGates.ServerSideApply,
      limits: options.watchCache,
      services: options.services,
    });
    const { server, port } = await openDoor(process, { plane, opened });
    const apiService = createApiService({
      store: plane.store,
      registry: plane.registry,
      replicas: new LiveReplicas(opened.backend, prefix),
      self: { ip: options.advertiseAddress, port },
      serviceAddress: plane.serviceAllocation.firstAddress,
      family: plane.serviceAllocation.family,
      log,
    });
    try {
      await becomeReady(plane, { life: life.signal, stop, log });
      void opened.keepCompact(life.signal);
      void plane.serviceAllocation.keepRepaired(life.signal);
      await apiService.keep(stop);
    } finally {
      await withdraw(apiService, log);
      await server.close({ delayMs: options.shutdownDelayMs, graceMs: DRAIN_GRACE_MS });
    }
  } finally {
    life.abort(new Error('the server is stopped'));
    await opened.backend.close();
  }
}

/** A store that does not answer must not hold up the end: it will forget this replica by itself. */
async function withdraw(apiService: ApiService, log: Log): Promise<void> {
  try {
    await apiService.withdraw(AbortSignal.timeout(WITHDRAW_TIMEOUT_MS));
  } catch (error) {
    log.warn({ why: String(error) }, 'this replica could not take itself out of the Endpoints of the API');
  }
}

async function becomeReady(
  plane: ControlPlane,
  { life, stop, log }: { readonly life: AbortSignal; readonly stop: AbortSignal; readonly log: Log },
): Promise<void> {
  const starting = AbortSignal.any([life, stop]);
  await Promise.race([plane.cache.start(life), aborted(stop)]);
  if (stop.aborted) return;
  // Services that have no claims yet must have them before anybody can ask for their addresses.
  await plane.serviceAllocation.repair(starting);
  await createFirstNamespaces(plane.store, plane.registry(), starting);
  await createFirstObjects(plane.store, plane.registry(), starting);
  log.info({ revision: plane.cache.revision, uptimeMs: Math.round(performance.now()) }, 'ready');
}

async function openDoor(
  { options, log, logFailure, build }: ServerProcess,
  { plane, opened }: { readonly plane: ControlPlane; readonly opened: OpenBackend },
): Promise<{ readonly server: Server; readonly port: number }> {
  const address = { port: options.serving.port };
  const tokens = tokenAuthenticatorsOf(options);
  const authorizer = authorizerOf(options.authorizationModes);
  let isShuttingDown = false;
  const checks: readonly HealthCheck[] = [
    ping,
    logCheck(logFailure),
    storeCheck(opened),
    cacheCheck(plane),
    shutdownCheck(() => isShuttingDown),
  ];
  const startedAt = systemClock.now();
  const server = createServer({
    bindAddress: options.serving.bindAddress,
    port: options.serving.port,
    certificate: certificateFiles(options.serving, log),
    minTlsVersion: options.serving.minTlsVersion,
    journey: createJourney({
      authenticate: authenticate({
        authenticators: [bearerToken(tokens)],
        anonymous: options.authentication.anonymous,
      }),
      authorize: authorize(authorizer),
      health: healthEndpoints({
        checks,
        log,
        livezGrace: { clock: systemClock, startedAt, graceMs: options.livezGraceMs },
      }),
      insight: createInsight({ registry: plane.registry, cache: plane.cache, process: true }),
      verbs: {
        registry: plane.registry,
        store: plane.store,
        services: operationServices({ tokens, authorizer, opened }),
        minRequestTimeoutMs: options.requests.minWatchTimeoutSeconds * SECOND_MS,
      },
      requestTimeoutMs: options.requests.timeoutMs,
      serverAddress: () => `${options.externalHostname || options.advertiseAddress}:${String(address.port)}`,
      build,
    }),
    log,
    onShutdown: () => {
      isShuttingDown = true;
    },
    endWatches: async () => plane.cache.drain(WATCH_END_SPREAD_MS, AbortSignal.timeout(DRAIN_GRACE_MS)),
  });
  const bound = await server.listen();
  address.port = bound.port;
  log.info({ address: bound.address, port: bound.port }, 'serving over TLS');
  return { server, port: bound.port };
}

function certificateFiles(
  { certificate }: ServingOptions,
  log: Log,
): { readonly certFile: string; readonly keyFile: string } {
  if (certificate.from === 'files') return certificate;
  return ensureServingCertificate({ dir: certificate.dir, hosts: certificate.hosts, log });
}

function tokenAuthenticatorsOf({ authentication }: ServerOptions): readonly TokenAuthenticator[] {
  const { tokenFile } = authentication;
  return tokenFile === undefined ? [] : [tokenFileAuthenticator(tokenFile)];
}

function storeCheck({ backend, name }: OpenBackend): HealthCheck {
  return {
    name: name === 'etcd' ? 'etcd' : 'store',
    paths: ['healthz', 'livez', 'readyz'],
    check: async (signal) => {
      await backend.currentRevision(signal);
      return undefined;
    },
  };
}

function cacheCheck({ cache }: ControlPlane): HealthCheck {
  return {
    name: 'watch-cache',
    paths: ['readyz'],
    isStartup: true,
    check: async () => Promise.resolve(cache.notReadyReason()),
  };
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
