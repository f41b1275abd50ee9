import type { KeyObject } from 'node:crypto';
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { xchacha20poly1305 } from '@noble/ciphers/chacha';
import type { Clock } from '../../../shared/concurrency/clock';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';

/** A store in which replicas share results. It is not trusted. */
export interface AnswerStore {
  /** Returns undefined for an unknown name. Rejects when the store is unreachable. */
  get(name: string): Promise<Buffer | undefined>;
  /** Stores the bytes for `ttlMs`. Rejects when the store is unreachable. */
  set(name: string, bytes: Buffer, ttlMs: number): Promise<void>;
}

export interface SharedAnswersOptions {
  readonly store: AnswerStore;
  /** A secret that all replicas have and the store does not. */
  readonly secret: KeyObject;
  /** Separates the results of different services and uses. */
  readonly purpose: string;
  readonly clock: Clock;
  /** The clock for durations; by default that of the process. */
  readonly monotonic?: Clock;
  /** The time limit of a lookup in milliseconds; 5 if not given. */
  readonly lookMsMax?: number;
}

/** Token reviews and access reviews. */
export type AnswerPurpose = 'tokens' | 'access';

/** Returns the shared results of one purpose. */
export type AnswersOf = (purpose: AnswerPurpose) => SharedAnswers;

/** A result that another replica received. */
export interface SharedAnswer {
  readonly result: unknown;
  /** When it was received, in milliseconds since the epoch by the clock of that replica. */
  readonly atMs: number;
}

const LOOK_MS_MAX = 5;
/** The pause after a failed or slow lookup, during which the store is not used. */
const AVOIDED_MS = 1_000;
/** The maximum of pending lookups, so that a stuck store does not accumulate more. */
const LOOKS_MAX = 256;
/** Larger results are not shared, which bounds the write rate together with the next limit. */
const BYTES_MAX = 4_096;
/** The write rate limit of one replica, separate for good results, so that a flood of invalid requests does not exhaust it. */
const WRITES: Rate = { perSecond: 50, burst: 500 };

/**
 * Webhook results that replicas share over an untrusted store. The name of a result is a keyed hash of its request, and the result is encrypted
 * and bound to that name. The store learns neither tokens nor users and cannot forge a result or move it to another request; at most it can
 * replay a recent one.
 */
export class SharedAnswers {
  readonly #options: SharedAnswersOptions;
  readonly #nameKey: Uint8Array;
  readonly #sealKey: Uint8Array;
  readonly #writes: Readonly<Record<'good' | 'other', TokenBucket>>;
  readonly #monotonic: Clock;
  #avoidedUntilMs = -Infinity;
  #looks = 0;

  constructor(options: SharedAnswersOptions) {
    this.#options = options;
    this.#nameKey = derivedKey(options, 'name');
    this.#sealKey = derivedKey(options, 'seal');
    this.#monotonic = options.monotonic ?? monotonicClock;
    const newBucket = (): TokenBucket => new TokenBucket(WRITES, this.#monotonic);
    this.#writes = { good: newBucket(), other: newBucket() };
  }

  /** Returns undefined if there is no result, or the lookup takes too long. Never rejects. */
  async find(question: string): Promise<SharedAnswer | undefined> {
    const { store, lookMsMax = LOOK_MS_MAX } = this.#options;
    if (this.#monotonic.now() < this.#avoidedUntilMs || this.#looks >= LOOKS_MAX) return undefined;
    const name = this.#nameOf(question);
    this.#looks += 1;
    const look = store.get(name).finally(() => {
      this.#looks -= 1;
    });
    const sealed = await withinMs(look, lookMsMax);
    if (sealed === 'failed') {
      this.#avoidedUntilMs = this.#monotonic.now() + AVOIDED_MS;
      return undefined;
    }
    return sealed === undefined ? undefined : this.#open(name, sealed);
  }

  /** Shares a result in the background. Errors are ignored. */
  share(question: string, result: unknown, how: { readonly isGood: boolean; readonly ttlMs: number }): void {
    const plain = Buffer.from(
      JSON.stringify({ result, atMs: this.#options.clock.now() } satisfies SharedAnswer),
    );
    if (plain.length > BYTES_MAX || this.#writes[how.isGood ? 'good' : 'other'].take() > 0) return;
    const name = this.#nameOf(question);
    this.#options.store.set(name, this.#seal(name, plain), how.ttlMs).catch(() => undefined);
  }

  #nameOf(question: string): string {
    return createHmac('sha256', this.#nameKey).update(question).digest('base64url');
  }

  #seal(name: string, plain: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    return Buffer.concat([nonce, this.#cipher(name, nonce).encrypt(plain)]);
  }

  /** Returns undefined for bytes that no replica with the same secret sealed for this name. */
  #open(name: string, sealed: Buffer): SharedAnswer | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES || sealed.length > BYTES_MAX + NONCE_BYTES + TAG_BYTES) {
      return undefined;
    }
    let plain: Uint8Array;
    try {
      plain = this.#cipher(name, sealed.subarray(0, NONCE_BYTES)).decrypt(sealed.subarray(NONCE_BYTES));
    } catch {
      return undefined;
    }
    return JSON.parse(Buffer.from(plain).toString('utf8')) as SharedAnswer;
  }

  #cipher(name: string, nonce: Uint8Array): ReturnType<typeof xchacha20poly1305> {
    return xchacha20poly1305(this.#sealKey, nonce, Buffer.from(name));
  }
}

const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** The format version: replicas with different formats ignore each other's results. */
const FORM = 'webhook-answers/1';

function derivedKey({ secret, purpose }: SharedAnswersOptions, use: 'name' | 'seal'): Uint8Array {
  return new Uint8Array(
    hkdfSync('sha256', secret, new Uint8Array(0), `${FORM} ${use} ${purpose}`, KEY_BYTES),
  );
}

/** Resolves with the value, or with `failed` when the promise rejects or takes longer. */
async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | 'failed'> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, 'failed');
    const settle = (outcome: T | 'failed'): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    promise.then(settle, () => settle('failed'));
  });
}
