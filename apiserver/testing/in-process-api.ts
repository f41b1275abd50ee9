import type { IncomingHttpHeaders } from 'node:http';
import { signToken } from '../../shared/certs/json-web-token';
import { newKeyPem } from '../../shared/certs/testing/new-key-pem';
import { signingKeyOf } from '../../shared/certs/token-key';
import { ACCOUNT_TOKEN, USER_GROUP } from '../../shared/names';
import { systemClock } from '../../shared/concurrency/clock';
import { StatusError } from '../../shared/errors/status-error';
import { silentLog } from '../../shared/log/log';
import type { Answer, Exchange } from '../exchange/exchange';
import { createFirstNamespaces } from '../bootstrap/namespaces';
import { authorizerOf } from '../authz/modes';
import { rulesWithoutRules } from '../authz/rules';
import type { AdmissionOptions, ControlPlane, ServiceRanges } from '../control-plane';
import { DEFAULT_ADMISSION, createControlPlane } from '../control-plane';
import { createInsight } from '../insight/insight';
import { createJourney } from '../journey';
import type { OperationServices } from '../registry/virtual/operation';
import type { RuntimeConfig } from '../registry/runtime-config';
import type { KindSettings } from '../registry/strategy';
import type { Backend } from '../storage/backend';
import { MemoryBackend } from '../watch/testing/memory-backend';

export interface Reply {
  readonly code: number;
  readonly headers: Answer['headers'];
  readonly text: string;
  /** The parsed body; undefined when it is no JSON. */
  // eslint-disable-next-line typescript/no-explicit-any
  readonly json: any;
  /** What the request was warned of. */
  readonly warnings: readonly string[];
}

export interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is instead of `body`. */
  readonly text?: string;
  readonly headers?: IncomingHttpHeaders;
  /** As if it had come in through the door for upgrades. */
  readonly upgrade?: boolean;
  readonly signal?: AbortSignal;
}

/** A server without its doors: requests go through the whole journey, in memory. */
export interface InProcessApi {
  readonly plane: ControlPlane;
  readonly backend: Backend;
  call(method: string, url: string, options?: CallOptions): Promise<Reply>;
  /** Frames of a watch, parsed, until the reader stops. */
  watch(url: string, signal: AbortSignal): AsyncGenerator<{ type: string; object: Record<string, unknown> }>;
  close(): Promise<void>;
}

/** Signs the tokens of service accounts of every server of the process. */
export const TOKEN_KEY = signingKeyOf(newKeyPem().privateKey);

/** A server on which everybody may do everything. It gives tokens and knows nobody by them. */
const OPEN_TO_ALL: OperationServices = {
  reviewToken: async () => Promise.resolve({ isKnown: false, why: 'invalid bearer token' }),
  apiAudiences: [ACCOUNT_TOKEN.issuer],
  accountTokens: {
    sign: async (claims) => signToken(TOKEN_KEY, claims),
    issuer: ACCOUNT_TOKEN.issuer,
    maxExpirationSeconds: undefined,
    extendsExpiration: true,
  },
  authorize: authorizerOf(['AlwaysAllow']),
  rulesOf: async (user, namespace, signal) =>
    rulesWithoutRules(authorizerOf(['AlwaysAllow']), { user, namespace }, signal),
  components: [],
};

/** Without the plugins that need controllers beside the server: one makes accounts, the other lets go what is not in use. */
const NO_CONTROLLERS: Partial<AdmissionOptions> = {
  disable: ['ServiceAccount', 'StorageObjectInUseProtection'],
};

export async function startInProcessApi(
  backend: Backend = new MemoryBackend(),
  {
    services = {},
    ranges,
    runtimeConfig,
    kindSettings,
    serverSideApply = true,
    admission = NO_CONTROLLERS,
  }: {
    readonly services?: Partial<OperationServices>;
    readonly ranges?: ServiceRanges;
    readonly runtimeConfig?: RuntimeConfig;
    readonly kindSettings?: KindSettings;
    readonly serverSideApply?: boolean;
    readonly admission?: Partial<AdmissionOptions>;
  } = {},
): Promise<InProcessApi> {
  const life = new AbortController();
  const plane = createControlPlane({
    backend,
    prefix: '/registry',
    clock: systemClock,
    log: silentLog,
    eventTtlSeconds: 3600,
    serverSideApply,
    admission: { ...DEFAULT_ADMISSION, ...admission },
    authorize: services.authorize ?? OPEN_TO_ALL.authorize,
    ...(ranges === undefined ? {} : { services: ranges }),
    ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
    ...(kindSettings === undefined ? {} : { kindSettings }),
  });
  await plane.cache.start(life.signal);
  await createFirstNamespaces(plane.store, plane.registry(), life.signal);
  const journey = createJourney({
    authenticate: async (exchange, next) => {
      exchange.user = { name: 'tester', uid: '', groups: [USER_GROUP.masters], extra: {} };
      await next();
    },
    authorize: async (_exchange, next) => {
      await next();
    },
    health: async () => Promise.resolve(undefined),
    insight: createInsight({
      registry: plane.registry,
      cache: plane.cache,
      admission: plane.admissionMetrics,
      process: false,
    }),
    verbs: {
      registry: plane.registry,
      store: plane.store,
      services: { ...OPEN_TO_ALL, ...services },
      minRequestTimeoutMs: 1_800_000,
    },
    requestTimeoutMs: 10_000,
    serverAddress: () => '127.0.0.1:6443',
    build: { version: '0.0.0', commit: '', date: '' },
  });

  const answer = async (exchange: Exchange): Promise<Answer> => {
    try {
      await journey(exchange);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const { status } = error;
      return { code: status.code, headers: {}, body: Buffer.from(JSON.stringify(status)) };
    }
    if (exchange.answer === undefined) throw new Error('the journey set no answer');
    return exchange.answer;
  };

  return {
    plane,
    backend,
    async call(method, url, options = {}) {
      const exchange = exchangeOf(method, url, options);
      const { code, headers, body } = await answer(exchange);
      const text = (await collect(body)).toString('utf8');
      return { code, headers, text, json: parse(text), warnings: exchange.warnings };
    },
    async *watch(url, signal) {
      const { body } = await answer(exchangeOf('GET', url, { signal }));
      if (Buffer.isBuffer(body)) throw new Error(`no stream: ${body.toString('utf8')}`);
      for await (const batch of body) {
        for (const line of batch.toString('utf8').split('\n')) {
          if (line !== '') yield JSON.parse(line) as { type: string; object: Record<string, unknown> };
        }
      }
    },
    async close() {
      life.abort(new Error('the test is over'));
      await backend.close();
    },
  };
}

function exchangeOf(method: string, url: string, options: CallOptions): Exchange {
  const at = url.indexOf('?');
  const text = options.text ?? (options.body === undefined ? '' : JSON.stringify(options.body));
  const defaults: IncomingHttpHeaders =
    method === 'PATCH'
      ? { 'content-type': 'application/merge-patch+json' }
      : { 'content-type': 'application/json' };
  return {
    id: 'test',
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)),
    headers: { ...defaults, ...options.headers },
    remoteAddress: '127.0.0.1',
    upgrade: options.upgrade ?? false,
    receivedAt: Date.now(),
    signal: options.signal ?? new AbortController().signal,
    readBody: async () => Promise.resolve(Buffer.from(text)),
    warnings: [],
    answer: undefined,
    abort: () => undefined,
  } as unknown as Exchange;
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
