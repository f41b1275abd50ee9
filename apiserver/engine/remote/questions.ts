import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { untilAborted } from '../../../shared/concurrency/abort';
import type { Clock } from '../../../shared/concurrency/clock';
import { linkedAbort } from '../../../shared/concurrency/linked-abort';
import type { Log } from '../../../shared/log/log';
import type { AnswersOf, SharedAnswers } from './shared-answers';

export interface QuestionsOptions<Question, Verdict> {
  /** Rejects when there is no answer, or one that cannot be understood. */
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Verdict>;
  /** Good verdicts are kept apart from the others, so that questions that somebody makes up do not push them out. */
  readonly isGood: (verdict: Verdict) => boolean;
  /** How long a verdict stands; 0 for one that is not remembered. */
  readonly ttlMsOf: (verdict: Verdict) => number;
  /** Whether what was said of the question may be remembered; by default of each. */
  readonly isRemembered?: (question: Question) => boolean;
  /** What other replicas were told; absent: each asks for itself. */
  readonly shared?: {
    readonly answers: SharedAnswers;
    /** Undefined for what is no verdict. */
    readonly parse: (value: unknown) => Verdict | undefined;
  };
  /** Trouble with the service, at most once a second, and how many questions it concerned. */
  readonly onTrouble: (trouble: { readonly error: string; readonly questions: number }) => void;
  /** Told of what was known, and of what had to be asked. */
  readonly counts?: {
    hit(): void;
    miss<T>(ask: () => Promise<T>, isGood: (verdict: T) => boolean): Promise<T>;
  };
  readonly clock: Clock;
  /** Aborts when the server is stopped. */
  readonly shutdownSignal: AbortSignal;
}

/** What whoever asks a remote service needs of the process. */
export type RemoteOptions = Pick<QuestionsOptions<unknown, unknown>, 'clock' | 'shutdownSignal'> & {
  readonly log: Log;
  /** Absent: replicas tell each other nothing. */
  readonly answersOf?: AnswersOf | undefined;
};

/** Verdicts of one kind, good or not, that are remembered: about 1 KB each. */
export const REMEMBERED_MAX = 4_096;
/** Far above what a user of whom a service tells all groups takes; a larger one is asked for again each time. */
const REMEMBERED_CHARS_MAX = 65_536;
/** Questions under way at once; what is beyond is refused, so that a service that hangs does not fill this server with waiting requests. */
export const QUESTIONS_MAX = 256;
/** For what was good a while ago there is more room: whoever makes up questions must not keep those out. */
const QUESTIONS_OF_KNOWN_MAX = 2 * QUESTIONS_MAX;
/** How long a question may take, with all repetitions. */
const QUESTION_MS_MAX = 30_000;
/** Trouble with the service is told this often. */
const TROUBLE_INTERVAL_MS = 1_000;

interface Remembered<Verdict> {
  readonly verdict: Verdict;
  readonly atMs: number;
  readonly ttlMs: number;
}

interface Asked<Question> {
  /** A digest of the text. */
  readonly key: string;
  readonly text: string;
  readonly question: Question;
}

/** Questions to a remote service: equal ones are one, and what was said stands for a while. */
export class Questions<Question, Verdict> {
  readonly #options: QuestionsOptions<Question, Verdict>;
  /** That of the server, fit for as many questions as there may be. */
  readonly #shutdownSignal: AbortSignal;
  /** By the digest of the question, so that no secret stays in memory. */
  readonly #good = new LRUCache<string, Remembered<Verdict>>({ max: REMEMBERED_MAX });
  readonly #others = new LRUCache<string, Remembered<Verdict>>({ max: REMEMBERED_MAX });
  readonly #asking = new Map<string, Promise<Verdict>>();
  #toldAtMs = -Infinity;
  #untold = 0;

  constructor(options: QuestionsOptions<Question, Verdict>) {
    this.#options = options;
    this.#shutdownSignal = linkedAbort(options.shutdownSignal).signal;
  }

  /** Rejects with what `ask` rejects with, with an Error where too many wait, or with the signal's reason. */
  async verdict(question: Question, signal: AbortSignal): Promise<Verdict> {
    const text = JSON.stringify(question);
    const key = createHash('sha256').update(text).digest('base64');
    const known = this.#good.get(key) ?? this.#others.get(key);
    if (known !== undefined && this.#stands(known)) {
      this.#options.counts?.hit();
      return known.verdict;
    }
    // A request that is given up must not take the answer from the others.
    return untilAborted(this.#asking.get(key) ?? this.#begin({ key, text, question }), signal);
  }

  /** Not where the clock was set back meanwhile: then nobody knows for how long it would stand. */
  #stands({ atMs, ttlMs }: Remembered<Verdict>): boolean {
    const ageMs = this.#options.clock.now() - atMs;
    return ageMs >= 0 && ageMs < ttlMs;
  }

  #begin(asked: Asked<Question>): Promise<Verdict> {
    const { key } = asked;
    const asking = this.#find(asked).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    // Nobody may be left to hear how it ends.
    asking.catch(() => undefined);
    return asking;
  }

  /** What another replica was told, if that stands; else what the service says. */
  async #find(asked: Asked<Question>): Promise<Verdict> {
    const { shared, counts, isRemembered } = this.#options;
    if (shared === undefined || isRemembered?.(asked.question) === false) return this.#ask(asked);
    const found = await shared.answers.find(asked.text);
    const verdict = found === undefined ? undefined : shared.parse(found.verdict);
    if (found === undefined || verdict === undefined) return this.#ask(asked);
    const remembered = { verdict, atMs: found.atMs, ttlMs: this.#options.ttlMsOf(verdict) };
    if (!this.#stands(remembered)) return this.#ask(asked);
    counts?.hit();
    this.#keep(asked.key, remembered);
    return verdict;
  }

  async #ask({ key, text, question }: Asked<Question>): Promise<Verdict> {
    const { ask } = this.#options;
    const { signal, abort, unlink } = linkedAbort(this.#shutdownSignal);
    const timer = setTimeout(() => {
      abort(new Error(`there was no answer within ${String(QUESTION_MS_MAX)} ms`));
    }, QUESTION_MS_MAX).unref();
    try {
      const questionsMax = this.#good.has(key) ? QUESTIONS_OF_KNOWN_MAX : QUESTIONS_MAX;
      if (this.#asking.size >= questionsMax) throw new Error('too many questions wait for the webhook');
      const { counts, isGood } = this.#options;
      const asked = async (): Promise<Verdict> => ask(question, signal);
      const verdict = counts === undefined ? await asked() : await counts.miss(asked, isGood);
      if (this.#options.isRemembered?.(question) !== false) this.#remember({ key, text }, verdict);
      return verdict;
    } catch (error) {
      this.#tell(error);
      throw error;
    } finally {
      clearTimeout(timer);
      unlink();
    }
  }

  #remember({ key, text }: Omit<Asked<Question>, 'question'>, verdict: Verdict): void {
    const { ttlMsOf, isGood, clock, shared } = this.#options;
    // What was said before is outdated in any case.
    this.#good.delete(key);
    this.#others.delete(key);
    const ttlMs = ttlMsOf(verdict);
    if (ttlMs === 0 || JSON.stringify(verdict).length > REMEMBERED_CHARS_MAX) return;
    this.#keep(key, { verdict, atMs: clock.now(), ttlMs });
    shared?.answers.tell(text, verdict, { isGood: isGood(verdict), ttlMs });
  }

  #keep(key: string, remembered: Remembered<Verdict>): void {
    const verdicts = this.#options.isGood(remembered.verdict) ? this.#good : this.#others;
    verdicts.set(key, remembered);
  }

  #tell(error: unknown): void {
    const { clock, onTrouble, shutdownSignal } = this.#options;
    if (shutdownSignal.aborted) return;
    this.#untold += 1;
    if (clock.now() - this.#toldAtMs < TROUBLE_INTERVAL_MS) return;
    this.#toldAtMs = clock.now();
    onTrouble({ error: String(error), questions: this.#untold });
    this.#untold = 0;
  }
}
