import { systemClock } from '../shared/concurrency/clock';
import { ensureServingCertificate } from '../shared/certs/serving-certificate';
import type { Log } from '../shared/log/log';
import type { Authenticator } from './authn/authenticator';
import { authenticate } from './authn/authenticate';
import { bearerToken } from './authn/bearer-token';
import { tokenFileAuthenticator } from './authn/token-file';
import { authorize } from './authz/authorize';
import { authorizerOf } from './authz/modes';
import { checkDialect } from './bootstrap/dialect-record';
import { createFirstNamespaces } from './bootstrap/namespaces';
import type { ControlPlane } from './control-plane';
import { createControlPlane } from './control-plane';
import { healthEndpoints } from './health/health-endpoints';
import type { HealthCheck } from './health/health-check';
import { logCheck, ping, shutdownCheck } from './health/health-check';
import { createJourney } from './journey';
import type { OpenBackend } from './open-backend';
import { openBackend } from './open-backend';
import type { ServerOptions, ServingOptions } from './options/server-options';
import type { Server } from './server/server';
import { createServer } from './server/server';

/** How long requests in flight may take once the server has stopped accepting. */
const DRAIN_GRACE_MS = 20_000;
const WATCH_END_SPREAD_MS = 500;
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
      limits: options.watchCache,
    });
    const server = await openDoor(process, { plane, opened });
    try {
      await becomeReady(plane, { life: life.signal, stop, log });
      void opened.keepCompact(life.signal);
      await aborted(stop);
    } finally {
      await server.close({ delayMs: options.shutdownDelayMs, graceMs: DRAIN_GRACE_MS });
    }
  } finally {
    life.abort(new Error('the server is stopped'));
    await opened.backend.close();
  }
}

async function becomeReady(
  plane: ControlPlane,
  { life, stop, log }: { readonly life: AbortSignal; readonly stop: AbortSignal; readonly log: Log },
): Promise<void> {
  const starting = AbortSignal.any([life, stop]);
  await Promise.race([plane.cache.start(life), aborted(stop)]);
  if (stop.aborted) return;
  await createFirstNamespaces(plane.store, plane.registry(), starting);
  log.info({ revision: plane.cache.revision, uptimeMs: Math.round(performance.now()) }, 'ready');
}

async function openDoor(
  { options, log, logFailure, build }: ServerProcess,
  { plane, opened }: { readonly plane: ControlPlane; readonly opened: OpenBackend },
): Promise<Server> {
  const address = { port: options.serving.port };
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
        authenticators: authenticatorsOf(options),
        anonymous: options.authentication.anonymous,
      }),
      authorize: authorize(authorizerOf(options.authorizationModes)),
      health: healthEndpoints({
        checks,
        log,
        livezGrace: { clock: systemClock, startedAt, graceMs: options.livezGraceMs },
      }),
      verbs: {
        registry: plane.registry,
        store: plane.store,
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
  return server;
}

function certificateFiles(
  { certificate }: ServingOptions,
  log: Log,
): { readonly certFile: string; readonly keyFile: string } {
  if (certificate.from === 'files') return certificate;
  return ensureServingCertificate({ dir: certificate.dir, hosts: certificate.hosts, log });
}

function authenticatorsOf({ authentication }: ServerOptions): readonly Authenticator[] {
  const { tokenFile } = authentication;
  return [bearerToken(tokenFile === undefined ? [] : [tokenFileAuthenticator(tokenFile)])];
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
