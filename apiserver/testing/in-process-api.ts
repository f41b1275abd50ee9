import type { IncomingHttpHeaders } from 'node:http';
import { signToken } from '../../shared/tokens/json-web-token';
import { newKeyPem } from '../../shared/certs/testing/new-key-pem';
import { signingKeyOf } from '../../shared/tokens/token-key';
import { ACCOUNT_TOKEN, USER_GROUP } from '../../shared/names';
import { systemClock } from '../../shared/concurrency/clock';
import { defined } from '../../shared/defined';
import { StatusError } from '../../shared/errors/status-error';
import { silentLog } from '../../shared/log/log';
import { PATIENCE_MS } from '../../shared/testing/eventually';
import type { AccessControl } from '../engine/request/access';
import type { Answer, Exchange } from '../engine/request/exchange';
import type { TestExchange } from '../engine/request/testing/new-exchange';
import { newExchange } from '../engine/request/testing/new-exchange';
import { createImpersonationStage } from '../engine/impersonation/impersonation';
import type { AggregationParts } from '../compose/aggregation';
import { createAggregation } from '../compose/aggregation';
import { newAvailabilityCounts } from '../kubernetes/aggregation/availability';
import { createFirstNamespaces } from '../kubernetes/bootstrap/namespaces';
import { createAuthorizationStage } from '../engine/authz/authorize';
import type { Mode } from '../compose/authorization-modes';
import { createAuthorization } from '../compose/authorization';
import type { VerbContext } from '../engine/handlers/context';
import type { RequestFeatures } from '../engine/handlers/request-features';
import { ALL_FEATURES } from '../engine/handlers/request-features';
import type { AdmissionOptions, ControlPlane, ControlPlaneOptions } from '../compose/control-plane';
import { DEFAULT_ADMISSION, createControlPlane } from '../compose/control-plane';
import type { ServiceRanges } from '../compose/service-allocation';
import { createMetricsEndpoints } from '../compose/metrics/metrics-endpoints';
import { statusAnswer, statusErrorOf } from '../engine/server/error-handler';
import { createPageRouter } from '../engine/server/page-router';
import { createMemoryLimitStage, createRequestMemory } from '../engine/server/held-bytes';
import type { AnswerParts } from '../compose/answer-stage';
import { createAnswerStage } from '../compose/answer-stage';
import { createPipeline } from '../engine/pipeline';
import { newConnectCounts } from '../engine/proxy/connect-counts';
import type { OperationServices } from '../engine/registry/operation';
import type { RuntimeConfig } from '../engine/registry/runtime-config';
import type { KindSettings } from '../engine/registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../engine/registry/strategy';
import type { Backend } from '../engine/storage/backend';
import { StorageError } from '../engine/storage/backend';
import type { CacheLimits } from '../engine/watch-cache/limits';
import { parseAddressRanges, parsePortRange } from '../kubernetes/kinds/service-allocation/value-range';
import { FaultyMemoryBackend } from '../engine/storage/testing/faulty-memory-backend';

export interface Reply {
  readonly code: number;
  readonly headers: Answer['headers'];
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  // eslint-disable-next-line typescript/no-explicit-any
  readonly json: any;
  /** The warnings of the response. */
  readonly warnings: readonly string[];
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent unchanged instead of `body`. */
  readonly text?: string | Buffer;
  readonly headers?: IncomingHttpHeaders;
  /** Whether the request asks for a protocol upgrade. */
  readonly upgrade?: boolean;
  readonly signal?: AbortSignal;
}

/** A server without listeners: requests run through the whole pipeline in memory. */
export interface InProcessApi {
  readonly plane: ControlPlane;
  readonly backend: Backend;
  /** The context of the verbs. */
  readonly verbs: VerbContext;
  call(method: string, url: string, options?: CallOptions): Promise<Reply>;
  /** Yields the parsed frames of a watch until the caller stops. */
  watch(
    url: string,
    signal: AbortSignal,
    headers?: IncomingHttpHeaders,
  ): AsyncGenerator<{ type: string; object: Record<string, unknown> }>;
  close(): Promise<void>;
}

/** Signs the service account tokens of every server in the process. */
export const TOKEN_KEY = signingKeyOf(newKeyPem().privateKey);

/** Services that issue tokens and authenticate none. */
const SERVICES: Omit<OperationServices, keyof AccessControl> = {
  reviewToken: async () => Promise.resolve({ isKnown: false, why: 'invalid bearer token' }),
  apiAudiences: [ACCOUNT_TOKEN.issuer],
  accountTokens: {
    sign: async (claims) => signToken(TOKEN_KEY, claims),
    issuer: ACCOUNT_TOKEN.issuer,
    maxExpirationSeconds: undefined,
    extendsExpiration: true,
  },
  components: [],
};

/** Disables the plugins that need controllers to create service accounts and to remove finalizers. */
const NO_CONTROLLERS: Partial<AdmissionOptions> = {
  disable: ['ServiceAccount', 'StorageObjectInUseProtection'],
};

function newAggregationParts(): Omit<AggregationParts, 'plane' | 'log'> {
  return {
    counts: newConnectCounts(),
    availability: newAvailabilityCounts(),
    client: () => ({}),
    byEndpoints: false,
    discovers: false,
  };
}

/** Parses the networks of Services, separated by a comma, and the ports of nodes. */
export function serviceRanges(networks: string, ports = '30000-32767'): ServiceRanges {
  const parsed = parseAddressRanges(networks);
  const nodePorts = parsePortRange(ports);
  if (!parsed.ok || nodePorts === undefined) throw new Error('malformed range');
  const { addresses, secondaryAddresses } = parsed;
  return { addresses, secondaryAddresses, nodePorts };
}

export async function startInProcessApi(
  backend: Backend = new FaultyMemoryBackend(),
  {
    services = {},
    authorizationModes = ['AlwaysAllow'],
    ranges,
    runtimeConfig,
    kindSettings,
    serverSideApply = true,
    subresourceOwners = false,
    features = {},
    admission = NO_CONTROLLERS,
    definitionsLive = true,
    limits = {},
    cacheWaitMs = PATIENCE_MS,
    large,
    fills,
    encrypted,
    connector,
    aggregated,
  }: {
    readonly services?: Partial<OperationServices>;
    /** The authorization of impersonated users; the caller itself is a superuser. */
    readonly authorizationModes?: readonly Mode[];
    readonly ranges?: ServiceRanges;
    readonly runtimeConfig?: RuntimeConfig;
    readonly kindSettings?: KindSettings;
    readonly serverSideApply?: boolean;
    readonly subresourceOwners?: boolean;
    readonly features?: Partial<RequestFeatures>;
    readonly admission?: Partial<AdmissionOptions>;
    /** False: the controllers of custom resource definitions do not run. */
    readonly definitionsLive?: boolean;
    readonly limits?: Partial<CacheLimits>;
    readonly cacheWaitMs?: number;
    /** Runs offloaded requests; by default no request is offloaded. */
    readonly large?: AnswerParts['large'];
    readonly fills?: ControlPlaneOptions['fills'];
    readonly encrypted?: ControlPlaneOptions['encrypted'];
    /** Connects to other servers; by default there is no connector. */
    readonly connector?: VerbContext['connector'];
    /** The credentials for extension API servers; by default there is no aggregation. */
    readonly aggregated?: Partial<Omit<AggregationParts, 'plane' | 'log'>>;
  } = {},
): Promise<InProcessApi> {
  const shutdown = new AbortController();
  const plane = createControlPlane({
    backend,
    prefix: '/registry',
    clock: systemClock,
    log: silentLog,
    eventTtlSeconds: 3600,
    serverSideApply,
    subresourceOwners,
    admission: { ...DEFAULT_ADMISSION, ...admission },
    cacheWaitMs,
    limits: { readIndexTimeoutMs: PATIENCE_MS, ...limits },
    accessControl: (policies, sources) => ({
      ...createAuthorization(
        {
          authorizationModes,
          authorizationPolicies: undefined,
          authorizationWebhook: undefined,
          kindSettings: kindSettings ?? DEFAULT_KIND_SETTINGS,
        },
        { clock: systemClock, log: silentLog, shutdownSignal: shutdown.signal },
      )(policies, sources),
      ...services,
    }),
    ...defined({ services: ranges, runtimeConfig, kindSettings, fills, encrypted }),
  });
  await plane.cache.start(shutdown.signal);
  await plane.custom.start(shutdown.signal);
  if (definitionsLive) void plane.definitions.run(shutdown.signal);
  void plane.openWatches.run(shutdown.signal);
  await createFirstNamespaces(plane.store, plane.registry(), shutdown.signal);
  await plane.serviceAddresses?.ensureDefault(shutdown.signal);
  void plane.serviceAddresses?.run(shutdown.signal);
  const verbs: VerbContext = {
    registry: plane.registry,
    confirmRegistry: async (signal) => plane.custom.confirm(signal),
    store: plane.store,
    features: { ...ALL_FEATURES, ...features },
    services: { ...SERVICES, ...plane.access, ...services },
    openWatches: plane.openWatches,
    ...defined({ connector }),
    minRequestTimeoutMs: 1_800_000,
  };
  const aggregation =
    aggregated && createAggregation({ ...newAggregationParts(), ...aggregated, plane, log: silentLog });
  void aggregation?.run(shutdown.signal);
  const build = { version: '0.0.0', commit: '', treeState: '', date: '' };
  const metrics = createMetricsEndpoints({
    registry: plane.registry,
    cache: plane.cache,
    statusOf: statusErrorOf,
    admission: plane.admissionMetrics,
    webhooks: plane.webhookMetrics,
    clientRequests: plane.requests,
    graphTimes: plane.graphTimes,
    processMetrics: false,
    build,
  });
  const pipeline = createPipeline({
    authenticate: async (exchange, next) => {
      exchange.user = { name: 'tester', uid: '', groups: [USER_GROUP.masters], extra: {} };
      await next();
    },
    impersonate: createImpersonationStage(plane.access.authorize),
    limitMemory: createMemoryLimitStage(createRequestMemory()),
    authorize: createAuthorizationStage(plane.access.authorize),
    metrics,
    requestTimeoutMs: PATIENCE_MS,
    answer: createAnswerStage({
      pages: [...metrics.pages, { router: createPageRouter(), paths: ['/healthz', '/readyz/shutdown'] }],
      verbs,
      ...defined({ large, aggregation }),
      serverAddress: () => '127.0.0.1:6443',
      build,
    }),
  });

  const answer = async (exchange: Exchange): Promise<Answer> => {
    try {
      await pipeline(exchange);
    } catch (error) {
      // Unexpected errors propagate to the test.
      if (!(error instanceof StatusError) && !(error instanceof StorageError)) throw error;
      return statusAnswer(statusErrorOf(error, exchange), exchange);
    }
    if (exchange.answer === undefined) throw new Error('the pipeline set no answer');
    return exchange.answer;
  };

  return {
    plane,
    backend,
    verbs,
    async call(method, url, options = {}) {
      const exchange = exchangeOf(method, url, options);
      const { code, headers, body } = await answer(exchange);
      const text = (await collect(body).finally(exchange.end)).toString('utf8');
      return { code, headers, text, json: parse(text), warnings: exchange.warnings };
    },
    async *watch(url, signal, headers = {}) {
      const exchange = exchangeOf('GET', url, { signal, headers });
      const { body } = await answer(exchange);
      if (Buffer.isBuffer(body)) throw new Error(`no stream: ${body.toString('utf8')}`);
      try {
        for await (const batch of body) {
          for (const line of batch.toString('utf8').split('\n')) {
            if (line !== '') yield JSON.parse(line) as { type: string; object: Record<string, unknown> };
          }
        }
      } finally {
        exchange.end();
      }
    },
    async close() {
      shutdown.abort(new Error('the test is over'));
      await backend.close();
    },
  };
}

function exchangeOf(method: string, url: string, options: CallOptions): TestExchange {
  const at = url.indexOf('?');
  const text = options.text ?? (options.body === undefined ? '' : JSON.stringify(options.body));
  const defaults: IncomingHttpHeaders =
    method === 'PATCH'
      ? { 'content-type': 'application/merge-patch+json' }
      : { 'content-type': 'application/json' };
  const exchange = newExchange({
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)),
    search: at < 0 ? '' : url.slice(at + 1),
    headers: { ...defaults, 'content-length': String(Buffer.byteLength(text)), ...options.headers },
    upgrade: options.upgrade ?? false,
    receivedAt: Date.now(),
    readBody: async () => Promise.resolve(Buffer.from(text)),
  });
  const { signal } = options;
  signal?.addEventListener('abort', () => {
    exchange.abort(signal.reason as Error);
  });
  if (signal?.aborted === true) exchange.abort(signal.reason as Error);
  return exchange;
}

async function collect(body: Answer['body']): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
