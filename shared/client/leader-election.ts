import { RESOURCE } from '../api/resource-names';
import type { Lease } from '../api/types/coordination-v1';
import { sleep } from '../concurrency/abort';
import type { Clock } from '../concurrency/clock';
import { systemClock } from '../concurrency/clock';
import { pause } from '../concurrency/pause';
import { linkedAbort } from '../concurrency/linked-abort';
import { monotonicClock } from '../concurrency/monotonic-clock';
import type { Log } from '../log/log';
import { silentLog } from '../log/log';
import type { Client } from './client';
import type { LeaseRef } from './lease-record';
import { claimedLease, newLease, releasedLease } from './lease-record';
import { hasCode } from './status';

/** A candidate for a Lease, and its times. */
export interface LeaderElectionOptions {
  readonly client: Client;
  readonly lease: LeaseRef;
  /** Identifies the candidate: unique per process. */
  readonly identity: string;
  /** How long the others wait for a silent leader, in milliseconds; 15,000 if not given. Above the renew deadline. */
  readonly leaseDurationMs?: number;
  /** How long a leader tries to renew, in milliseconds; 10,000 if not given. */
  readonly renewDeadlineMs?: number;
  /** Between two tries, in milliseconds; 2,000 if not given. */
  readonly retryPeriodMs?: number;
  /**
   * How long the work may take to end after its signal aborts, in milliseconds; then the lease is left to expire. Defaults to the time
   * between the renew deadline and the end of the lease.
   */
  readonly stopTimeoutMs?: number;
  readonly log?: Log;
  /** For durations; monotonic. */
  readonly clock?: Clock;
  /** For the times written into the Lease, which decide nothing. */
  readonly wallClock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** `stopped`: the signal aborted. `lost`: the lease could not be renewed. `ended`: the work returned by itself. */
export type LeadershipEnd = 'stopped' | 'lost' | 'ended';

const LEASE_DURATION_MS = 15_000;
const RENEW_DEADLINE_MS = 10_000;
const RETRY_PERIOD_MS = 2_000;
const RELEASE_TRIES_MAX = 3;
/** Jitter: candidates wait up to this factor of the retry period, so that they do not try in step. */
const JITTER = 1.2;

/**
 * Waits for the lease, then runs `lead` while it is renewed. At most one process leads: a leader counts from before it sends a
 * renewal and stops after the renew deadline, the others count from when they saw the renewal and wait for the whole lease; the
 * machines' wall clocks are never compared. The signal given to `lead` aborts when leading ends, and the lease is released only
 * after `lead` has returned. Throws what `lead` throws. One election per call.
 */
export async function runWithLeadership(
  options: LeaderElectionOptions,
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<LeadershipEnd> {
  const elector = new Elector(options);
  if (!(await elector.acquire(signal))) return 'stopped';
  return elector.lead(lead, signal);
}

class Elector {
  readonly #client: Client;
  readonly #ref: LeaseRef;
  readonly #identity: string;
  readonly #leaseDurationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryPeriodMs: number;
  readonly #stopTimeoutMs: number;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #wallClock: Clock;
  readonly #random: () => number;
  #seen: { readonly version: string; readonly holder: string; readonly untilMs: number } | undefined;
  /** When the last successful renewal was sent. */
  #renewedMs = 0;

  constructor(options: LeaderElectionOptions) {
    this.#client = options.client;
    this.#ref = options.lease;
    this.#identity = options.identity;
    this.#leaseDurationMs = options.leaseDurationMs ?? LEASE_DURATION_MS;
    this.#renewDeadlineMs = options.renewDeadlineMs ?? RENEW_DEADLINE_MS;
    this.#retryPeriodMs = options.retryPeriodMs ?? RETRY_PERIOD_MS;
    this.#stopTimeoutMs = options.stopTimeoutMs ?? this.#leaseDurationMs - this.#renewDeadlineMs;
    this.#log = (options.log ?? silentLog).child({ lease: `${this.#ref.namespace}/${this.#ref.name}` });
    this.#clock = options.clock ?? monotonicClock;
    this.#wallClock = options.wallClock ?? systemClock;
    this.#random = options.random ?? Math.random;
    checkTimings(this.#leaseDurationMs, this.#renewDeadlineMs, this.#retryPeriodMs);
  }

  /** Resolves to true once the lease is held, to false if the signal aborts first. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    this.#log.info({ identity: this.#identity }, 'waiting for the leader election lease');
    while (!signal.aborted) {
      if (await this.#tryClaim(signal, this.#renewDeadlineMs / 2)) {
        this.#log.info({ identity: this.#identity }, 'became the leader');
        return true;
      }
      await pause(this.#retryPeriodMs * (1 + this.#random() * JITTER), signal);
    }
    return false;
  }

  async lead(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<LeadershipEnd> {
    const leading = linkedAbort(signal);
    let isLost = false;
    const renew = async (): Promise<void> => {
      await this.#renew(leading.signal);
      if (leading.signal.aborted) return;
      isLost = true;
      leading.abort(new Error('leader election lease lost'));
    };
    const renewing = renew();
    const working = work(leading.signal);
    let hasStopped = false;
    try {
      hasStopped = await this.#untilStopped(working, leading.signal);
    } finally {
      const wasStopped = leading.signal.aborted;
      leading.abort(new Error('the work has ended'));
      leading.unlink();
      await renewing;
      if (!isLost && (hasStopped || !wasStopped)) await this.#release();
    }
    if (isLost) return 'lost';
    return signal.aborted ? 'stopped' : 'ended';
  }

  /** Reports whether the work returned by itself or in time after its signal aborted. */
  async #untilStopped(working: Promise<void>, leading: AbortSignal): Promise<boolean> {
    const giveUp = new AbortController();
    const late = new Promise<false>((resolve) => {
      const wait = (): void => {
        sleep(this.#stopTimeoutMs, giveUp.signal).then(
          () => resolve(false),
          () => undefined,
        );
      };
      leading.addEventListener('abort', wait, { once: true });
      if (leading.aborted) wait();
    });
    try {
      const hasStopped = await Promise.race([
        working.then(
          () => true,
          (error: unknown) => {
            // An error thrown because of the abort is no failure.
            if (leading.aborted) return true;
            throw error;
          },
        ),
        late,
      ]);
      if (!hasStopped) this.#log.warn({}, 'work did not stop in time; the lease is left to expire');
      return hasStopped;
    } finally {
      giveUp.abort();
    }
  }

  /** Renews until the signal aborts or the deadline has passed without a success. */
  async #renew(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const deadlineMs = this.#renewedMs + this.#renewDeadlineMs;
      await pause(Math.min(this.#retryPeriodMs, Math.max(0, deadlineMs - this.#clock.now())), signal);
      if (signal.aborted) return;
      const leftMs = deadlineMs - this.#clock.now();
      if (leftMs > 0) await this.#tryClaim(signal, leftMs);
      if (signal.aborted) return;
      // Also when another holds it: a leader that sees that has been silent for too long.
      if (this.#clock.now() >= this.#renewedMs + this.#renewDeadlineMs || this.#isHeldByAnother()) {
        this.#log.error({ identity: this.#identity }, 'leader election lease lost');
        return;
      }
    }
  }

  #isHeldByAnother(): boolean {
    return this.#seen !== undefined && this.#seen.holder !== '' && this.#seen.holder !== this.#identity;
  }

  /** Tries once to get or renew the lease; returns false if another holds it or anything fails. `withinMs` bounds all of it. */
  async #tryClaim(signal: AbortSignal, withinMs: number): Promise<boolean> {
    const sentMs = this.#clock.now();
    const call = { signal, timeoutMs: withinMs / 2 };
    const claim = {
      identity: this.#identity,
      leaseDurationMs: this.#leaseDurationMs,
      nowMs: this.#wallClock.now(),
    };
    try {
      const current = await this.#find(call);
      if (current !== undefined) {
        this.#observe(current);
        if (this.#isHeldByAnother() && this.#clock.now() < (this.#seen?.untilMs ?? 0)) return false;
      }
      const written =
        current === undefined
          ? await this.#client.create<Lease>(RESOURCE.leases, newLease(this.#ref, claim), call)
          : await this.#client.update<Lease>(RESOURCE.leases, claimedLease(current, claim), call);
      this.#observe(written);
      this.#renewedMs = sentMs;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const fields = { error: messageOf(error) };
      if (hasCode(error, 409)) this.#log.debug(fields, 'another candidate acquired the lease');
      else this.#log.warn(fields, 'failed to acquire or renew the lease');
      return false;
    }
  }

  async #find(call: {
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
  }): Promise<Lease | undefined> {
    try {
      return await this.#client.get<Lease>(RESOURCE.leases, this.#ref, call);
    } catch (error) {
      if (hasCode(error, 404)) return undefined;
      throw error;
    }
  }

  /** A changed record restarts its holder's time by this process's own clock. */
  #observe(lease: Lease): void {
    const version = lease.metadata.resourceVersion ?? '';
    if (this.#seen?.version === version) return;
    const { holderIdentity, leaseDurationSeconds } = lease.spec ?? {};
    const durationMs =
      (leaseDurationSeconds ?? 0) > 0 ? (leaseDurationSeconds ?? 0) * 1000 : this.#leaseDurationMs;
    const holder = holderIdentity ?? '';
    if (holder !== (this.#seen?.holder ?? '')) this.#log.info({ holder }, 'new leader elected');
    this.#seen = { version, holder, untilMs: this.#clock.now() + durationMs };
  }

  async #release(): Promise<void> {
    const call = { signal: AbortSignal.timeout(this.#renewDeadlineMs), timeoutMs: this.#renewDeadlineMs / 2 };
    for (let tries = 1; tries <= RELEASE_TRIES_MAX; tries += 1) {
      try {
        const current = await this.#find(call);
        if (current?.spec?.holderIdentity !== this.#identity) return;
        await this.#client.update(RESOURCE.leases, releasedLease(current, this.#wallClock.now()), call);
        this.#log.info({ identity: this.#identity }, 'lease released');
        return;
      } catch (error) {
        // A renewal in flight when leadership ended may have conflicted.
        if (hasCode(error, 409)) continue;
        // The others then wait for it to expire.
        this.#log.warn({ error: messageOf(error) }, 'failed to release the lease');
        return;
      }
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function checkTimings(leaseDurationMs: number, renewDeadlineMs: number, retryPeriodMs: number): void {
  if (leaseDurationMs <= renewDeadlineMs) {
    throw new RangeError('the lease duration must be longer than the renew deadline');
  }
  if (renewDeadlineMs <= retryPeriodMs * JITTER) {
    throw new RangeError(`the renew deadline must be longer than ${String(JITTER)} times the retry period`);
  }
}
