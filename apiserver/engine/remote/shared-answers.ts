import type { KeyObject } from 'node:crypto';
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { xchacha20poly1305 } from '@noble/ciphers/chacha';
import type { Clock } from '../../../shared/concurrency/clock';
import { monotonicClock } from '../../../shared/concurrency/monotonic-clock';
import type { Rate } from '../../../shared/concurrency/token-bucket';
import { TokenBucket } from '../../../shared/concurrency/token-bucket';

/** Where replicas keep answers for each other. Whoever reads or writes there is trusted with nothing. */
export interface AnswerStore {
  /** Undefined for a name that is not known. Rejects when there is no store. */
  get(name: string): Promise<Buffer | undefined>;
  /** Keeps the bytes for so long. Rejects when there is no store. */
  set(name: string, bytes: Buffer, ttlMs: number): Promise<void>;
}

export interface SharedAnswersOptions {
  readonly store: AnswerStore;
  /** That all replicas have and the store has not. */
  readonly secret: KeyObject;
  /** What is asked about, of whom: answers of one purpose are unknown to another. */
  readonly purpose: string;
  readonly clock: Clock;
  /** For durations; by default that of the process. */
  readonly monotonic?: Clock;
  /** How long a request waits for the store; 5 ms if not given. */
  readonly lookMsMax?: number;
}

/** Whose tokens are whose, and who may do what. */
export type AnswerPurpose = 'tokens' | 'access';

/** The answers of one purpose. */
export type AnswersOf = (purpose: AnswerPurpose) => SharedAnswers;

/** An answer that some replica was given. */
export interface SharedAnswer {
  readonly verdict: unknown;
  /** When it was given, in milliseconds since the epoch by the clock of that replica. */
  readonly atMs: number;
}

const LOOK_MS_MAX = 5;
/** After a look that was in vain because the store is slow or away, nobody looks for so long. */
const AVOIDED_MS = 1_000;
/** Looks that the store has not answered; one that is stuck must not gather more. */
const LOOKS_MAX = 256;
/** A larger answer is not kept, so that what one replica writes is bounded with the next. */
const BYTES_MAX = 4_096;
/** That one replica writes, good answers apart from others: made-up questions must not keep those out. */
const WRITES: Rate = { perSecond: 50, burst: 500 };

/**
 * Answers of a remote service that replicas tell each other over a store that they do not trust. The name of an answer is a keyed hash of its
 * question, and what is kept is encrypted and bound to that name: the store learns neither tokens nor users, cannot make up an answer or pass one
 * for that to another question, and whoever writes there can at most show again what was answered a short time ago.
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

  /** Undefined when nobody has an answer, or the store has none within a few milliseconds; never rejects. */
  async find(question: string): Promise<SharedAnswer | undefined> {
    const { store, lookMsMax = LOOK_MS_MAX } = this.#options;
    if (this.#monotonic.now() < this.#avoidedUntilMs || this.#looks >= LOOKS_MAX) return undefined;
    const name = this.#nameOf(question);
    this.#looks += 1;
    const look = store.get(name).finally(() => {
      this.#looks -= 1;
    });
    const sealed = await withinMs(look, lookMsMax);
    if (sealed === 'in vain') {
      this.#avoidedUntilMs = this.#monotonic.now() + AVOIDED_MS;
      return undefined;
    }
    return sealed === undefined ? undefined : this.#open(name, sealed);
  }

  /** Tells the others, if there is a store; nobody waits for it. */
  tell(question: string, verdict: unknown, how: { readonly isGood: boolean; readonly ttlMs: number }): void {
    const plain = Buffer.from(
      JSON.stringify({ verdict, atMs: this.#options.clock.now() } satisfies SharedAnswer),
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

  /** Undefined for what was not sealed for this name by a replica with the same secret. */
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
/** Of what is kept: replicas of versions that keep something else do not understand each other. */
const FORM = 'webhook-answers/1';

function derivedKey({ secret, purpose }: SharedAnswersOptions, use: 'name' | 'seal'): Uint8Array {
  return new Uint8Array(
    hkdfSync('sha256', secret, new Uint8Array(0), `${FORM} ${use} ${purpose}`, KEY_BYTES),
  );
}

/** What the promise gives; `in vain` when it rejects, or takes longer. */
async function withinMs<T>(promise: Promise<T>, ms: number): Promise<T | 'in vain'> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, 'in vain');
    const settle = (outcome: T | 'in vain'): void => {
      clearTimeout(timer);
      resolve(outcome);
    };
    promise.then(settle, () => settle('in vain'));
  });
}
