import type { Connection } from '../../../../shared/client/connection';
import { createConnection } from '../../../../shared/client/connection';
import { ConnectionError } from '../../../../shared/client/connection-error';
import type { RawAnswer, RawRequest } from '../../../../shared/client/options';
import type { Clock } from '../../../../shared/concurrency/clock';
import { untilAborted } from '../../../../shared/concurrency/abort';
import { linkedAbort } from '../../../../shared/concurrency/linked-abort';
import type { Log } from '../../../../shared/log/log';
import type { ClientRequests } from '../../../../shared/metrics/rest-client';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { Target } from './address';
import { targetOf, urlOfService } from './address';
import { Bulkhead, BulkheadFullError } from './bulkhead';
import type { FailureReason } from './call-failure';
import { CallFailure, reasonOf } from './call-failure';
import { refusedText, unansweredText } from '../../../engine/remote/call-text';
import type { Attempt, Outage } from './circuit-breaker';
import { CircuitBreaker } from './circuit-breaker';
import type { CredentialsFor } from './credentials';
import type { CalledWebhook } from './webhook';

export interface CallLimits {
  /** Number of consecutive failures that open the circuit breaker; 0 disables it. */
  readonly failuresMax: number;
  /** Interval of probes during an outage, in milliseconds. */
  readonly pauseMs: number;
  /** Concurrent calls of one webhook. */
  readonly callsMax: number;
  /** Calls that may wait. */
  readonly waitingMax: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = {
  failuresMax: 5,
  pauseMs: 1_000,
  callsMax: 256,
  waitingMax: 1_024,
};

export interface CallerOptions {
  readonly credentials: CredentialsFor;
  readonly limits: CallLimits;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts the calls of this server. */
  readonly requests: ClientRequests;
}

export interface Call {
  readonly body: Buffer;
  /** The holder of the request, see `holderOf`; absent: the server itself. */
  readonly holder?: string;
  /** Resolves Services. */
  readonly cluster: Pick<ClusterReader, 'get'>;
}

/** The state of one webhook, to find the one that delays or bypasses requests. */
export interface WebhookReport {
  readonly hook: CalledWebhook;
  readonly calls: number;
  readonly waiting: number;
  readonly outage: Outage | undefined;
  /** When the last outage ended or the webhook was first called, in milliseconds since the epoch. */
  readonly closedAtMs: number;
  /** In an outage: time until the next probe, in milliseconds. */
  readonly untilProbeMs: number;
  /** Failed calls since the webhook was first called. */
  readonly failures: ReadonlyMap<FailureReason, number>;
  readonly lastFailure: LastFailure | undefined;
}

export interface LastFailure {
  readonly atMs: number;
  readonly reason: FailureReason;
  readonly error: string;
}

/** State of one webhook while its call parameters stay the same. */
interface WebhookState {
  hook: CalledWebhook;
  readonly breaker: CircuitBreaker;
  readonly bulkhead: Bulkhead;
  readonly failures: Map<FailureReason, number>;
  lastFailure: LastFailure | undefined;
  /** By target: the address of a Service may change. */
  connection: { readonly to: string; readonly connection: Connection } | undefined;
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const IDLE_SOCKETS_MAX = 16;
const USER_AGENT = 'orch-apiserver-admission';
const SECOND_MS = 1_000;
/** How long a request with failurePolicy Ignore waits for the webhook during an outage. */
const OUTAGE_TRY_MS = 1_000;

/** Calls webhooks over HTTPS. Each has a bulkhead and a circuit breaker, so that a slow one delays only its own callers. */
export class WebhookCaller {
  readonly #options: CallerOptions;
  readonly #states = new Map<string, WebhookState>();

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /**
   * Returns the body of the answer. Throws CallFailure or the signal's reason. In an outage a webhook with `Fail` gets only probes; one
   * with `Ignore` is called with a short timeout each time, so that no request is bypassed because of other requests.
   */
  async call(hook: CalledWebhook, call: Call, signal: AbortSignal): Promise<Buffer> {
    const state = this.#stateOf(hook);
    this.#refuseInOutage(state, hook);
    await enterBulkhead(state, { hook, holder: call.holder }, signal);
    const attempt = state.breaker.attempt(this.#options.clock.now());
    const { outage, isProbe } = attempt;
    const attempted = { ...call, hook, attempt, timeoutMs: hook.timeoutMs };
    if (outage === undefined) return this.#ask(state, attempted, signal);
    if (hook.failsOpen) return this.#askShortly(state, attempted, signal);
    if (isProbe) return this.#ask(state, attempted, signal);
    state.bulkhead.leave();
    throw outageFailure(hook, outage);
  }

  /** Records that a request got no usable answer, by whatever cause. */
  note(hook: CalledWebhook, reason: FailureReason, error: string): void {
    const state = this.#states.get(hook.callKey);
    if (state === undefined) return;
    state.failures.set(reason, (state.failures.get(reason) ?? 0) + 1);
    state.lastFailure = { atMs: this.#options.clock.now(), reason, error };
  }

  /** Drops the state of all other webhooks. */
  retain(hooks: readonly Pick<CalledWebhook, 'callKey'>[]): void {
    const kept = new Set(hooks.map(({ callKey }) => callKey));
    for (const [key, state] of this.#states) {
      if (kept.has(key)) continue;
      this.#states.delete(key);
      state.connection?.connection.close();
    }
  }

  reports(): readonly WebhookReport[] {
    const now = this.#options.clock.now();
    return [...this.#states.values()].map(({ hook, bulkhead, breaker, failures, lastFailure }) => ({
      hook,
      calls: bulkhead.calls,
      waiting: bulkhead.waiting,
      outage: breaker.outage,
      closedAtMs: breaker.closedAtMs,
      untilProbeMs: breaker.untilProbeMs(now),
      failures,
      lastFailure,
    }));
  }

  #stateOf(hook: CalledWebhook): WebhookState {
    const known = this.#states.get(hook.callKey);
    if (known !== undefined) {
      // Its failurePolicy may have changed.
      known.hook = hook;
      return known;
    }
    const { limits, clock } = this.#options;
    const state = {
      hook,
      breaker: new CircuitBreaker(limits, clock.now()),
      bulkhead: new Bulkhead(limits),
      failures: new Map<FailureReason, number>(),
      lastFailure: undefined,
      connection: undefined,
    };
    this.#states.set(hook.callKey, state);
    return state;
  }

  /** Checked before queueing, and not for a due probe. */
  #refuseInOutage({ breaker }: WebhookState, hook: CalledWebhook): void {
    const { outage } = breaker;
    if (outage === undefined || hook.failsOpen) return;
    if (breaker.untilProbeMs(this.#options.clock.now()) > 0) throw outageFailure(hook, outage);
  }

  /**
   * For failurePolicy Ignore in an outage. A probe gets the full timeout, so that a slow webhook is found alive; its request continues
   * like the others.
   */
  async #askShortly(state: WebhookState, call: AttemptedCall, signal: AbortSignal): Promise<Buffer> {
    const { hook, attempt } = call;
    const timeoutMs = Math.min(OUTAGE_TRY_MS, hook.timeoutMs);
    if (!attempt.isProbe) return this.#ask(state, { ...call, timeoutMs }, signal);
    const answer = this.#ask(state, call, NEVER);
    // The caller may be gone when it ends.
    answer.catch(() => undefined);
    return inTime({ hook, timeoutMs, signal }, async (shortly) => untilAborted(answer, shortly));
  }

  /** Releases the slot of the bulkhead. */
  async #ask(state: WebhookState, call: AttemptedCall, signal: AbortSignal): Promise<Buffer> {
    const { hook, attempt, timeoutMs } = call;
    try {
      return await inTime({ hook, timeoutMs, signal }, async (limited) => this.#send(state, call, limited));
    } finally {
      if (signal.aborted) state.breaker.abandoned(attempt);
      state.bulkhead.leave();
    }
  }

  async #send(
    state: WebhookState,
    { hook, attempt, timeoutMs, ...call }: AttemptedCall,
    signal: AbortSignal,
  ): Promise<Buffer> {
    const target = resolved(hook, call, timeoutMs);
    const path = target.path + queryOf(timeoutMs);
    const { host, port } = target.connectTo ?? target;
    const place = { url: target.origin + path, dialled: `${host}:${String(port)}` };
    let answer: RawAnswer;
    try {
      answer = await this.#sendTwice(state, target, {
        method: 'POST',
        path,
        body: call.body,
        signal,
        timeoutMs,
      });
    } catch (error) {
      // An aborted caller says nothing about the webhook.
      if (signal.aborted && !(signal.reason instanceof CallFailure)) throw error;
      const isLate = error instanceof CallFailure;
      const why = isLate
        ? `Post ${JSON.stringify(place.url)}: context deadline exceeded`
        : unansweredText(error, place);
      const reason = isLate ? error.reason : reasonOf(error);
      // A response that is too large is still a response.
      if (reason === 'answer') this.#answered(state);
      else this.#failed(state, attempt, why);
      throw new CallFailure(hook, why, { reason, cause: error });
    }
    this.#answered(state);
    const refused = refusedText(answer);
    if (refused !== undefined) throw new CallFailure(hook, refused, { reason: 'answer' });
    return answer.body;
  }

  /**
   * The peer may close an idle connection just as it is used. Then the others are probably stale, too, and the call is repeated on a new
   * one. Webhooks must tolerate a repeated call anyway, as a write may be attempted twice.
   */
  async #sendTwice(state: WebhookState, target: Target, request: RawRequest): Promise<RawAnswer> {
    const connection = this.#connectionTo(state, target);
    try {
      return await connection.send(request);
    } catch (error) {
      if (!(error instanceof ConnectionError) || !CUT.has(error.code)) throw error;
      connection.close();
      if (state.connection?.connection === connection) state.connection = undefined;
      return this.#connectionTo(state, target).send(request);
    }
  }

  #connectionTo(state: WebhookState, target: Target): Connection {
    const { origin, host, port, connectTo } = target;
    const to = `${origin} ${connectTo?.host ?? ''}`;
    if (state.connection?.to === to) return state.connection.connection;
    state.connection?.connection.close();
    const { authorities } = state.hook;
    const { limits, credentials, requests } = this.#options;
    const connection = createConnection({
      ...credentials(host, port),
      server: origin,
      observe: requests.observerOf(origin),
      allows: requests.allows,
      ...(authorities === '' ? {} : { ca: authorities }),
      ...(connectTo === undefined ? {} : { connectTo, tlsServerName: host }),
      userAgent: USER_AGENT,
      socketsMax: limits.callsMax,
      idleSocketsMax: IDLE_SOCKETS_MAX,
      answerBytesMax: ANSWER_BYTES_MAX,
    });
    state.connection = { to, connection };
    return connection;
  }

  #failed({ hook, breaker, bulkhead }: WebhookState, attempt: Attempt, why: string): void {
    const { clock, log } = this.#options;
    if (!breaker.failed(attempt, why, clock.now())) return;
    const { outage } = breaker;
    if (outage === undefined) return;
    log.error(
      {
        type: hook.type,
        configuration: hook.configuration,
        webhook: hook.name,
        error: why,
        failures: outage.failures,
      },
      hook.failsOpen
        ? `circuit breaker of ${kindOf(hook)} webhook opened: requests wait for it for a short time only`
        : `circuit breaker of ${kindOf(hook)} webhook opened: it is called only to probe whether it answers again`,
    );
    if (!hook.failsOpen) bulkhead.clear(outageFailure(hook, outage));
  }

  #answered({ hook, breaker }: WebhookState): void {
    if (!breaker.answered(this.#options.clock.now())) return;
    this.#options.log.info(
      { type: hook.type, configuration: hook.configuration, webhook: hook.name },
      `circuit breaker of ${kindOf(hook)} webhook closed: it answers again`,
    );
  }
}

function kindOf({ type }: CalledWebhook): string {
  return type === 'conversion' ? 'a conversion' : 'an admission';
}

/** Admission webhooks get their timeout as a query parameter. */
function queryOf(timeoutMs: number): string {
  return `?timeout=${String(Math.max(1, Math.ceil(timeoutMs / SECOND_MS)))}s`;
}

interface AttemptedCall extends Call {
  readonly hook: CalledWebhook;
  readonly attempt: Attempt;
  readonly timeoutMs: number;
}

const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

function resolved(hook: CalledWebhook, { cluster }: Call, timeoutMs: number): Target {
  try {
    return targetOf(hook.address, cluster);
  } catch (error) {
    const { message } = error as Error;
    const url = urlOfService(hook.address);
    // Upstream resolves the Service when it connects.
    const why = url === undefined ? message : `Post ${JSON.stringify(url + queryOf(timeoutMs))}: ${message}`;
    throw new CallFailure(hook, why, { reason: 'address', cause: error });
  }
}

const NEVER = new AbortController().signal;

/** Runs the work under a signal that aborts with a CallFailure after the time, or with its parent. */
async function inTime<T>(
  {
    hook,
    timeoutMs,
    signal,
  }: { readonly hook: CalledWebhook; readonly timeoutMs: number; readonly signal: AbortSignal },
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const limited = linkedAbort(signal);
  const timer = setTimeout(() => {
    limited.abort(new CallFailure(hook, 'context deadline exceeded', { reason: 'timeout' }));
  }, timeoutMs).unref();
  try {
    return await work(limited.signal);
  } finally {
    clearTimeout(timer);
    limited.unlink();
  }
}

/** Waits at most as long as a call may take; the call then has its own time, so the webhook is not blamed for the queue. */
async function enterBulkhead(
  { bulkhead }: WebhookState,
  { hook, holder }: { readonly hook: CalledWebhook; readonly holder: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  try {
    await inTime({ hook, timeoutMs: hook.timeoutMs, signal }, async (limited) =>
      bulkhead.enter(limited, holder),
    );
  } catch (error) {
    if (signal.aborted || (error instanceof CallFailure && error.reason === 'outage')) throw error;
    const why = error instanceof BulkheadFullError ? error.message : 'others kept it busy all the time';
    throw new CallFailure(hook, `too many calls: ${why}`, { reason: 'overload', cause: error });
  }
}

function outageFailure(hook: CalledWebhook, { sinceMs, failures, why }: Outage): CallFailure {
  const since = new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const text = `it has not answered since ${since} and is not asked until it answers again (${String(failures)} calls in a row failed, the last one with: ${why})`;
  return new CallFailure(hook, text, { reason: 'outage' });
}
