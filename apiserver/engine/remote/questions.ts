import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { untilAborted } from '../../../shared/concurrency/abort';
import type { Clock } from '../../../shared/concurrency/clock';
import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import type { Log } from '../../../shared/log/log';
import type { AnswersOf, SharedAnswers } from './shared-answers';

export interface QuestionsOptions<Question, Result> {
  /** Calls the service. Rejects if there is no answer, or a malformed one. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Result>;
  /** Good results have a cache of their own, so that a flood of invalid requests does not evict them. */
  readonly isGood: (result: Result) => boolean;
  /** How long a result is cached, in milliseconds; 0: not at all. */
  readonly ttlMsOf: (result: Result) => number;
  /** Whether the result of a request may be cached; by default each is. */
  readonly isRemembered?: (question: Question) => boolean;
  /** Results shared with other replicas; absent: none. */
  readonly shared?: {
    readonly answers: SharedAnswers;
    /** Parses a shared result; undefined if malformed. */
    readonly parse: (value: unknown) => Result | undefined;
  };
  /** Reports failed calls, at most once a second, with their number since the last report. */
  readonly onTrouble: (trouble: { readonly error: string; readonly questions: number }) => void;
  /** Counts cache hits and misses. */
  readonly counts?: {
    hit(): void;
    miss<T>(ask: () => Promise<T>, isGood: (result: T) => boolean): Promise<T>;
  };
  readonly clock: Clock;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** What callers of remote services need from the server. */
export type RemoteOptions = Pick<QuestionsOptions<unknown, unknown>, 'clock' | 'shutdownSignal'> & {
  readonly log: Log;
  /** Absent: results are not shared with other replicas. */
  readonly answersOf?: AnswersOf | undefined;
};

/** The size of each cache, in results of about 1 KB. */
export const REMEMBERED_MAX = 4_096;
/** Larger results are not cached; a user with all groups is far below. */
const REMEMBERED_CHARS_MAX = 65_536;
/** The maximum of concurrent calls. More are rejected, so that a hanging service does not accumulate waiting requests (bulkhead). */
export const QUESTIONS_MAX = 256;
/** The limit for requests with a recent good result is higher, so that a flood of invalid requests does not starve them. */
const QUESTIONS_OF_KNOWN_MAX = 2 * QUESTIONS_MAX;
/** The time limit of a call with all retries. */
const QUESTION_MS_MAX = 30_000;
/** The interval between reports of failed calls. */
const TROUBLE_INTERVAL_MS = 1_000;

interface Remembered<Result> {
  readonly result: Result;
  readonly atMs: number;
  readonly ttlMs: number;
}

interface Asked<Question> {
  /** The digest of the text. */
  readonly key: string;
  readonly text: string;
  readonly question: Question;
}

/** Calls of a remote service with single-flight and caching: concurrent equal requests share one call, and results are cached. */
export class Questions<Question, Result> {
  readonly #options: QuestionsOptions<Question, Result>;
  /** Linked to the server's signal, without a limit of listeners. */
  readonly #shutdownSignal: AbortSignal;
  /** By the digest of the request, so that no secret stays in memory. */
  readonly #good = new LRUCache<string, Remembered<Result>>({ max: REMEMBERED_MAX });
  readonly #others = new LRUCache<string, Remembered<Result>>({ max: REMEMBERED_MAX });
  readonly #asking = new Map<string, Promise<Result>>();
  #reportedAtMs = -Infinity;
  #unreported = 0;

  constructor(options: QuestionsOptions<Question, Result>) {
    this.#options = options;
    this.#shutdownSignal = linkedAbort(options.shutdownSignal).signal;
  }

  /** Returns a cached or new result. Rejects with the error of `ask`, with an Error when too many calls are pending, or with the signal's reason. */
  async result(question: Question, signal: AbortSignal): Promise<Result> {
    const text = JSON.stringify(question);
    const key = createHash('sha256').update(text).digest('base64');
    const known = this.#good.get(key) ?? this.#others.get(key);
    if (known !== undefined && this.#isValid(known)) {
      this.#options.counts?.hit();
      return known.result;
    }
    // An aborted request must not abort the call that others share.
    return untilAborted(this.#asking.get(key) ?? this.#begin({ key, text, question }), signal);
  }

  /** Returns false also when the clock was set back, because the age is unknown then. */
  #isValid({ atMs, ttlMs }: Remembered<Result>): boolean {
    const ageMs = this.#options.clock.now() - atMs;
    return ageMs >= 0 && ageMs < ttlMs;
  }

  #begin(asked: Asked<Question>): Promise<Result> {
    const { key } = asked;
    const asking = this.#find(asked).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    // All requests that share the call may have been aborted.
    asking.catch(() => undefined);
    return asking;
  }

  /** Uses a valid result of another replica, or else calls the service. */
  async #find(asked: Asked<Question>): Promise<Result> {
    const { shared, counts, isRemembered } = this.#options;
    if (shared === undefined || isRemembered?.(asked.question) === false) return this.#ask(asked);
    const found = await shared.answers.find(asked.text);
    const result = found === undefined ? undefined : shared.parse(found.result);
    if (found === undefined || result === undefined) return this.#ask(asked);
    const remembered = { result, atMs: found.atMs, ttlMs: this.#options.ttlMsOf(result) };
    if (!this.#isValid(remembered)) return this.#ask(asked);
    counts?.hit();
    this.#keep(asked.key, remembered);
    return result;
  }

  async #ask({ key, text, question }: Asked<Question>): Promise<Result> {
    const { ask } = this.#options;
    const { signal, abort, unlink } = linkedAbort(this.#shutdownSignal);
    const timer = setTimeout(() => {
      abort(new Error(`no answer within ${String(QUESTION_MS_MAX)} ms`));
    }, QUESTION_MS_MAX).unref();
    try {
      const questionsMax = this.#good.has(key) ? QUESTIONS_OF_KNOWN_MAX : QUESTIONS_MAX;
      if (this.#asking.size >= questionsMax) throw new Error('too many pending calls of the webhook');
      const { counts, isGood } = this.#options;
      const asked = async (): Promise<Result> => ask(question, signal);
      const result = counts === undefined ? await asked() : await counts.miss(asked, isGood);
      if (this.#options.isRemembered?.(question) !== false) this.#remember({ key, text }, result);
      return result;
    } catch (error) {
      this.#report(error);
      throw error;
    } finally {
      clearTimeout(timer);
      unlink();
    }
  }

  #remember({ key, text }: Omit<Asked<Question>, 'question'>, result: Result): void {
    const { ttlMsOf, isGood, clock, shared } = this.#options;
    // The previous result is outdated in any case.
    this.#good.delete(key);
    this.#others.delete(key);
    const ttlMs = ttlMsOf(result);
    if (ttlMs === 0 || JSON.stringify(result).length > REMEMBERED_CHARS_MAX) return;
    this.#keep(key, { result, atMs: clock.now(), ttlMs });
    shared?.answers.share(text, result, { isGood: isGood(result), ttlMs });
  }

  #keep(key: string, remembered: Remembered<Result>): void {
    const results = this.#options.isGood(remembered.result) ? this.#good : this.#others;
    results.set(key, remembered);
  }

  #report(error: unknown): void {
    const { clock, onTrouble, shutdownSignal } = this.#options;
    if (shutdownSignal.aborted) return;
    this.#unreported += 1;
    if (clock.now() - this.#reportedAtMs < TROUBLE_INTERVAL_MS) return;
    this.#reportedAtMs = clock.now();
    onTrouble({ error: String(error), questions: this.#unreported });
    this.#unreported = 0;
  }
}
