import { issuerPages } from '../kubernetes/discovery/issuer-documents';
import type { DecodedValues } from '../engine/watch-cache/state/entry-codec';
import type { Clock } from '../../shared/concurrency/clock';
import { systemClock } from '../../shared/concurrency/clock';
import { isInForce } from '../../shared/api/changes';
import { LoopLag } from '../../shared/concurrency/loop-lag';
import { STEP_TIMES } from '../../shared/concurrency/long-steps';
import { isInside } from '../../shared/client/allowed-addresses';
import type { AllowsAddress } from '../../shared/meta/ip-address';
import { keepServingCertificate } from '../../shared/certs/keep-serving-certificate';
import { ensureServingCertificate } from '../../shared/certs/serving-certificate';
import { defined } from '../../shared/defined';
import type { Build } from '../../shared/build';
import type { Log } from '../../shared/log/log';
import type { Audit } from '../engine/audit/audit';
import type { Authentication, AuthorityBundles, EmbeddedUsers } from './authentication';
import type { VerbContext } from '../engine/handlers/context';
import { clientAuthoritiesOf, createAuthentication } from './authentication';
import { createAuthorizationStage } from '../engine/authz/authorize';
import type { ControlPlane } from './control-plane';
import { createHealthRouter } from '../engine/observability/health/health-router';
import { createProfilingRouter } from '../engine/observability/profiling/profiling-router';
import type { PageRoutes } from '../engine/server/page-router';
import type { HealthCheck } from '../engine/observability/health/health-check';
import type { CheckedParts } from './health-checks';
import { checksOf } from './health-checks';
import type { Flow } from './flow-control';
import { startFlowControl } from './flow-control';
import type { AnswersOf } from '../engine/remote/shared-answers';
import type { OverloadParts } from '../engine/request/overload';
import { createOverloadStage } from '../engine/request/overload';
import type { MetricsEndpoints } from './metrics/metrics-endpoints';
import { createHealthMetricsRouter, HealthResults } from './metrics/health-metrics';
import type { LoopReport } from './metrics/add-overload-metrics';
import { createImpersonationStage } from '../engine/impersonation/impersonation';
import { createProcessMetrics } from './process-metrics';
import { createImportRouter } from '../engine/handlers/import-objects';
import { createBackupRouter } from '../engine/observability/backup-router';
import { createAnswerStage } from './answer-stage';
import { createPipeline } from '../engine/pipeline';
import type { EncodeElement } from '../engine/handlers/element-encoder';
import type { Offloads } from './worker/create-offload';
import { createOffloads } from './worker/create-offload';
import type { Aggregation } from './aggregation';
import { createBackends } from './backends';
import { verbContextOf } from './create-plane';
import type { ServerStore } from './server-store';
import type { ServerOptions, ServingOptions } from './options/server-options';
import type { ReplicaIdentity } from './replica-identity';
import type { CertificateFiles, LoadedCertificate } from '../engine/server/certificate-files';
import { newConnectionCounts } from '../engine/server/connection-counts';
import { createPreflightStage } from '../engine/server/browser-rules';
import type { RequestMemory } from '../engine/server/held-bytes';
import { createMemoryLimitStage, createRequestMemory } from '../engine/server/held-bytes';
import type { Stage } from '../engine/request/exchange';
import type { Pipeline } from '../engine/server/request-handler';
import type { Server } from '../engine/server/server';
import { createServer } from '../engine/server/server';
import type { OpenedStore } from '../engine/storage/open';

/** Grace period of requests in flight after the server stopped accepting. */
export const DRAIN_GRACE_MS = 20_000;

export interface ServerProcess {
  readonly options: ServerOptions;
  readonly log: Log;
  /** Returns why the last log line could not be written. */
  readonly logFailure: () => Error | undefined;
  readonly build: Build;
  /** Absent: the server is the program of its process. */
  readonly embedding?: Embedding;
}

/** What a process that embeds servers has in place of a process, files and real time. */
export interface Embedding {
  readonly store: ServerStore;
  /** Whether the store has the objects that every cluster has from its first start. */
  readonly hasFirstObjects: boolean;
  /** What was decoded from the values of the store; servers with the same values can share it. */
  readonly decoded: DecodedValues;
  readonly clock: Clock;
  readonly users: EmbeddedUsers;
  /** Runs around the last stage of each request, for faults that a test injects. */
  readonly intercept: Stage;
  /** Whether the server opens its port. */
  readonly listens: boolean;
  /** Called once the server is ready. */
  readonly onReady: (server: EmbeddedServer) => void;
}

export interface EmbeddedServer {
  readonly plane: ControlPlane;
  /** Runs the stages of one request. */
  readonly pipeline: Pipeline;
  /** 0 if the server does not listen. */
  readonly port: number;
}

export interface AuditedProcess extends ServerProcess {
  readonly audit: Audit | undefined;
}

export interface ListenerParts {
  readonly plane: ControlPlane;
  readonly opened: OpenedStore;
  /** Measurements of the store. */
  readonly measured: Pick<ServerStore, 'times' | 'transformations'>;
  /** Checks whether the store is reachable and readable. */
  readonly storeChecks: readonly HealthCheck[];
  /** Checks of required objects in the store. */
  readonly contentChecks: readonly HealthCheck[];
  /** Aborts at shutdown. */
  readonly shutdownSignal: AbortSignal;
  /** Undefined: webhook answers are not shared with other replicas. */
  readonly answersOf: AnswersOf | undefined;
  /** Undefined: the replica publishes no identity. */
  readonly identity: ReplicaIdentity | undefined;
}

export interface OpenListener {
  readonly server: Server;
  readonly pipeline: Pipeline;
  readonly port: number;
  readonly bundles: AuthorityBundles;
  readonly aggregation: Aggregation;
}

/** Opens the listener with the whole request pipeline. Health checks answer at once; readiness follows later. */
export async function openListener(
  { options, log, logFailure, build, audit, embedding }: AuditedProcess,
  parts: ListenerParts,
): Promise<OpenListener> {
  const { plane, opened, measured, shutdownSignal, answersOf } = parts;
  const address = { port: options.serving.port };
  const serverAddress = (): string =>
    `${options.externalHostname || options.advertiseAddress}:${String(address.port)}`;
  const { clock = systemClock, users: embedded } = embedding ?? {};
  const known = { plane, clock, log, shutdownSignal, answersOf, embedded };
  const authentication = createAuthentication(options.authentication, known);
  const connections = { counts: newConnectionCounts(), memory: createRequestMemory(options.flow.bytesMax) };
  const backends = await createBackends(options, { ...known, ownPort: () => address.port });
  const loop = watchLoop(shutdownSignal);
  const flowParts = { plane, log, dropped: loop.dropped, storePrefix: options.store.prefix };
  const flow = startFlowControl(options.flow, flowParts, shutdownSignal);
  const { onShutdown, health } = healthOf({ options, log, logFailure }, parts);
  // An embedding process waits for a large request: two threads for each server would cost it more.
  const offloads =
    embedding === undefined ? createOffloads({ ...known, backend: opened.backend }) : undefined;
  const certificate = certificateOf(options.serving, { log, shutdownSignal });
  const counted = { connections, loop, ...backends, audit: audit?.counts, largeRequests: offloads?.counts };
  const servingFile = 'certFile' in certificate ? certificate.certFile : undefined;
  const metrics = createProcessMetrics(
    { options, build, servingFile, isOnlyServer: embedding === undefined },
    { plane, authentication, ...counted, flow: flow.report, store: { ...opened, ...measured } },
  );
  const verbs = verbContextOf(options, { plane, authentication, opened, connector: backends.connector });
  const answer = createAnswerStage({
    pages: [
      ...metrics.pages,
      ...health,
      ...otherPages(options, { opened, verbs, authentication, serverAddress, log }),
    ],
    verbs: {
      ...verbs,
      ...(offloads === undefined ? {} : { encodeElement: elementEncoderOf(offloads) }),
    },
    ...defined({ large: offloads?.large }),
    aggregation: backends.aggregation,
    serverAddress,
    build,
  });
  const { memory } = connections;
  const { identity } = parts;
  const stages = { plane, authentication, memory, loop, flow, identity, metrics, answer, embedding };
  const pipeline = pipelineOf({ options, audit }, stages);
  const listens = embedding?.listens !== false;
  const server = createServer({
    ...options.serving,
    http2: listens ? options.serving.http2 : undefined,
    isBalancer: balancersOf(options),
    certificate,
    clientAuthorities: clientAuthoritiesOf(authentication.bundles),
    pipeline,
    log,
    ...connections,
    onShutdown,
    endWatches: async (how) => plane.cache.drain(how, AbortSignal.timeout(how.spreadMs + DRAIN_GRACE_MS)),
  });
  if (listens) {
    const bound = await server.listen();
    address.port = bound.port;
    log.info({ ...bound }, 'serving over TLS');
  }
  const { bundles } = authentication;
  return { server, pipeline, port: address.port, bundles, aggregation: backends.aggregation };
}

interface StageParts extends Pick<ListenerParts, 'plane' | 'identity'> {
  readonly authentication: Authentication;
  readonly memory: RequestMemory;
  readonly loop: OverloadParts & LoopReport;
  readonly flow: Flow;
  readonly metrics: MetricsEndpoints;
  readonly answer: Stage;
  readonly embedding: Embedding | undefined;
}

function pipelineOf(
  { options, audit }: Pick<AuditedProcess, 'options' | 'audit'>,
  { plane, authentication, memory, loop, flow, identity, metrics, answer, embedding }: StageParts,
): Pipeline {
  const { browsers } = options.serving;
  return createPipeline({
    audit,
    ...defined({ preflight: browsers && createPreflightStage(browsers) }),
    authenticate: authentication.stage,
    impersonate: createImpersonationStage(plane.access.authorize),
    limitMemory: createMemoryLimitStage(memory),
    // The loop of an embedding process is late because of the process itself, which would be refused its own requests.
    ...(embedding === undefined ? { overload: createOverloadStage({ ...loop, isLong: flow.isLong }) } : {}),
    flowControl: flow.stage,
    authorize: createAuthorizationStage(plane.access.authorize),
    ...defined({ storageVersions: identity?.stage }),
    metrics,
    requestTimeoutMs: options.requests.timeoutMs,
    answer:
      embedding === undefined
        ? answer
        : async (exchange, next) => embedding.intercept(exchange, async () => answer(exchange, next)),
  });
}

function elementEncoderOf({ encodings }: Offloads): EncodeElement {
  return async (request, signal) => encodings.element(request, signal);
}

interface PageParts {
  readonly opened: OpenedStore;
  readonly verbs: VerbContext;
  readonly authentication: Authentication;
  readonly serverAddress: () => string;
  readonly log: Log;
}

/** The pages that are neither metrics nor health checks. */
function otherPages(
  { profiling, objectImport, authentication: { accountTokens } }: ServerOptions,
  { opened, verbs, authentication, serverAddress, log }: PageParts,
): readonly PageRoutes[] {
  const { keys } = authentication.accountTokens;
  return [
    ...(profiling ? [createProfilingRouter()] : []),
    createBackupRouter(opened),
    ...(objectImport ? [createImportRouter(verbs)] : []),
    ...issuerPages(accountTokens, { keys, serverAddress, log }),
  ];
}

/** Creates the health checks. Readiness fails once `onShutdown` was called. */
function healthOf(
  { options, log, logFailure }: Pick<ServerProcess, 'options' | 'log' | 'logFailure'>,
  parts: Omit<CheckedParts, 'logFailure' | 'isShuttingDown'>,
): {
  readonly health: readonly PageRoutes[];
  readonly onShutdown: () => void;
} {
  let isShuttingDown = false;
  const checks = checksOf({ ...parts, logFailure, isShuttingDown: () => isShuttingDown });
  const results = new HealthResults();
  const router = createHealthRouter({
    checks,
    log,
    livezGrace: { clock: systemClock, startedAt: systemClock.now(), graceMs: options.livezGraceMs },
    observe: (path, name, isHealthy) => {
      results.observe(path, name, isHealthy);
    },
  });
  const hasMetrics = isInForce('sliMetrics');
  return {
    health: [router, ...(hasMetrics ? [createHealthMetricsRouter(results, options.metrics)] : [])],
    onShutdown: () => {
      isShuttingDown = true;
    },
  };
}

function watchLoop(shutdownSignal: AbortSignal): LoopReport & OverloadParts {
  const lag = new LoopLag();
  lag.watch(shutdownSignal);
  return { lag, dropped: { mutating: 0, readOnly: 0 }, random: () => Math.random(), steps: STEP_TIMES };
}

function certificateOf(
  { certificate }: ServingOptions,
  { log, shutdownSignal }: { readonly log: Log; readonly shutdownSignal: AbortSignal },
): CertificateFiles | LoadedCertificate {
  if (certificate.from === 'files') return certificate;
  if (certificate.from === 'memory') return certificate.loaded;
  const own = { dir: certificate.dir, hosts: certificate.hosts, log };
  const files = ensureServingCertificate(own);
  keepServingCertificate(own, shutdownSignal);
  return files;
}

/** Undefined without load balancers that send PROXY headers. */
function balancersOf({ serving }: Pick<ServerOptions, 'serving'>): AllowsAddress | undefined {
  const { proxyProtocolNetworks: networks } = serving;
  return networks.length === 0 ? undefined : isInside(networks);
}
