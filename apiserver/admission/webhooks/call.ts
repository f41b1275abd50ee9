import type { Connection } from '../../../shared/client/connection';
import { createConnection } from '../../../shared/client/connection';
import { ConnectionError } from '../../../shared/client/connection-error';
import type { RawAnswer } from '../../../shared/client/options';
import type { Clock } from '../../../shared/concurrency/clock';
import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Log } from '../../../shared/log/log';
import type { ClusterReader } from '../cluster-reader';
import type { Target } from './address';
import { targetOf } from './address';
import { refusedText, unansweredText } from './call-text';
import type { Outage } from './circuit-breaker';
import { CircuitBreaker } from './circuit-breaker';
import type { CredentialsFor } from './credentials';
import { Bulkhead } from './bulkhead';
import type { Webhook } from './webhook';

export interface CallLimits {
  /** So many calls of a webhook in a row without an answer begin an outage, in which it is not asked; 0: it is always asked. */
  readonly failuresMax: number;
  /** How often it is tried whether an outage is over, in milliseconds. */
  readonly pauseMs: number;
  /** Calls of one webhook at a time. */
  readonly callsMax: number;
  /** Calls that may wait behind them. */
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
}

/** A webhook could not be asked, or did not answer as it should: its failurePolicy says what comes of that. */
export class CallFailure extends Error {
  constructor({ name }: Pick<Webhook, 'name'>, why: string, cause?: unknown) {
    super(`failed calling webhook ${JSON.stringify(name)}: ${why}`, { cause });
    this.name = 'CallFailure';
  }
}

export interface Call {
  readonly body: Buffer;
  /** Services are found there. */
  readonly cluster: Pick<ClusterReader, 'get'>;
}

/** The state of the calls of one webhook, to find the one that slows requests down. */
export interface WebhookReport {
  readonly hook: Webhook;
  readonly calls: number;
  readonly waiting: number;
  readonly outage: Outage | undefined;
}

/** What is kept of one webhook for as long as it is called in the same way. */
interface WebhookState {
  readonly hook: Webhook;
  readonly breaker: CircuitBreaker;
  readonly bulkhead: Bulkhead;
  /** By where it leads: a Service may get another address. */
  connection: { readonly to: string; readonly connection: Connection } | undefined;
}

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const IDLE_SOCKETS_MAX = 16;
const USER_AGENT = 'orch-apiserver-admission';
const SECOND_MS = 1_000;
/** A webhook that keeps requests waiting for so long until they are given up does not answer. */
const PATIENCE_MS = 2_000;

/** Calls webhooks over HTTPS. Each has a bulkhead and a circuit breaker, so that a slow one slows down its own callers only. */
export class WebhookCaller {
  readonly #options: CallerOptions;
  readonly #states = new Map<string, WebhookState>();

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  /** The body of the answer. Throws CallFailure, or the signal's reason. */
  async call(hook: Webhook, call: Call, signal: AbortSignal): Promise<Buffer> {
    const state = this.#stateOf(hook);
    const entered = state.breaker.enter(this.#options.clock.now());
    if (typeof entered !== 'string') throw outageFailure(hook, entered);
    const inTime = linkedAbort(signal);
    const timer = setTimeout(() => {
      inTime.abort(new CallFailure(hook, 'context deadline exceeded'));
    }, hook.timeoutMs).unref();
    const until = monotonicClock.now() + hook.timeoutMs;
    try {
      await enterBulkhead(state, inTime.signal);
      try {
        return await this.#ask(state, { ...call, remainingMs: until - monotonicClock.now() }, inTime.signal);
      } finally {
        state.bulkhead.leave();
      }
    } finally {
      clearTimeout(timer);
      inTime.unlink();
      if (entered === 'try') state.breaker.endTry();
    }
  }

  /** Forgets all webhooks but these. */
  retain(hooks: readonly Webhook[]): void {
    const kept = new Set(hooks.map(({ callKey }) => callKey));
    for (const [key, state] of this.#states) {
      if (kept.has(key)) continue;
      this.#states.delete(key);
      state.connection?.connection.close();
    }
  }

  reports(): readonly WebhookReport[] {
    return [...this.#states.values()].map(({ hook, bulkhead, breaker }) => ({
      hook,
      calls: bulkhead.calls,
      waiting: bulkhead.waiting,
      outage: breaker.outage,
    }));
  }

  #stateOf(hook: Webhook): WebhookState {
    const known = this.#states.get(hook.callKey);
    if (known !== undefined) return known;
    const { limits } = this.#options;
    const state = {
      hook,
      breaker: new CircuitBreaker(limits),
      bulkhead: new Bulkhead(limits),
      connection: undefined,
    };
    this.#states.set(hook.callKey, state);
    return state;
  }

  async #ask(
    state: WebhookState,
    call: Call & { readonly remainingMs: number },
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { hook } = state;
    const target = resolved(hook, call);
    const connection = this.#connectionTo(state, target);
    const timeout = Math.max(1, Math.ceil(call.remainingMs / SECOND_MS));
    const path = `${target.path}?timeout=${String(timeout)}s`;
    const { host, port } = target.connectTo ?? target;
    const place = { url: target.origin + path, dialled: `${host}:${String(port)}` };
    const request = {
      method: 'POST',
      path,
      body: call.body,
      signal,
      timeoutMs: Math.max(1, call.remainingMs),
    };
    const startedAt = monotonicClock.now();
    let answer: RawAnswer;
    try {
      answer = await sendTwice(connection, request);
    } catch (error) {
      if (signal.aborted && !(signal.reason instanceof CallFailure)) {
        // Whoever asked has gone; that tells of the webhook only when it has had its time.
        if (monotonicClock.now() - startedAt >= PATIENCE_MS)
          this.#unanswered(state, 'the request was given up');
        throw error;
      }
      const isLate = error instanceof CallFailure;
      const why = isLate
        ? `Post ${JSON.stringify(place.url)}: context deadline exceeded`
        : unansweredText(error, place);
      // One that says too much does answer.
      if (error instanceof ConnectionError && error.code === 'EMSGSIZE') this.#answered(state);
      else this.#unanswered(state, why);
      throw new CallFailure(hook, why, error);
    }
    this.#answered(state);
    const refused = refusedText(answer);
    if (refused !== undefined) throw new CallFailure(hook, refused);
    return answer.body;
  }

  #connectionTo(state: WebhookState, target: Target): Connection {
    const { origin, host, port, connectTo } = target;
    const to = `${origin} ${connectTo?.host ?? ''}`;
    if (state.connection?.to === to) return state.connection.connection;
    state.connection?.connection.close();
    const { authorities } = state.hook;
    const { limits, credentials } = this.#options;
    const connection = createConnection({
      ...credentials(host, port),
      server: origin,
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

  #unanswered({ hook, breaker, bulkhead }: WebhookState, why: string): void {
    const { clock, log } = this.#options;
    if (!breaker.unanswered(why, clock.now())) return;
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
      'circuit breaker of an admission webhook opened: it is called only to probe whether it answers again',
    );
    bulkhead.clear(outageFailure(hook, outage));
  }

  #answered({ hook, breaker }: WebhookState): void {
    if (!breaker.answered()) return;
    this.#options.log.info(
      { type: hook.type, configuration: hook.configuration, webhook: hook.name },
      'circuit breaker of an admission webhook closed: it answers again',
    );
  }
}

/**
 * An idle connection may be closed by the other side at the very moment it is used. Webhooks have to bear being asked twice, as the same
 * write may be attempted twice.
 */
async function sendTwice(
  connection: Connection,
  request: Parameters<Connection['send']>[0],
): Promise<RawAnswer> {
  try {
    return await connection.send(request);
  } catch (error) {
    if (!(error instanceof ConnectionError) || !CUT.has(error.code)) throw error;
    return connection.send(request);
  }
}

const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

function resolved(hook: Webhook, { cluster }: Call): Target {
  try {
    return targetOf(hook.address, cluster);
  } catch (error) {
    throw new CallFailure(hook, (error as Error).message, error);
  }
}

async function enterBulkhead({ hook, bulkhead }: WebhookState, signal: AbortSignal): Promise<void> {
  try {
    await bulkhead.enter(signal);
  } catch (error) {
    if (signal.aborted || error instanceof CallFailure) throw error;
    throw new CallFailure(hook, `too many calls: ${(error as Error).message}`, error);
  }
}

function outageFailure(hook: Webhook, { sinceMs, failures, why }: Outage): CallFailure {
  const since = new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z');
  const text = `it has not answered since ${since} and is not asked until it answers again (${String(failures)} calls in a row failed, the last one with: ${why})`;
  return new CallFailure(hook, text);
}
