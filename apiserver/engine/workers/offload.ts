import { StatusError } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import type { OffloadCounts } from './offload-counts';
import type { ElementRequest } from '../handlers/element-encoder';
import type { OffloadThread } from './offload-thread';

export interface OffloadOptions {
  /** Begins a thread. It is asked for when it is needed, and again after one has gone. */
  readonly begin: () => OffloadThread;
  readonly counts: OffloadCounts;
  /** How long a thread without work is kept, in milliseconds; it holds memory. */
  readonly idleMsMax?: number;
}

/** Requests that the thread works at, from different users: it has one loop of its own, and most of a request's time is waiting. */
const RUNNING_MAX = 4;
/** Requests that wait for the thread: of all, and of one user. */
const WAITING_MAX = 256;
const WAITING_OF_USER_MAX = 16;
/** Bytes of the bodies that wait: of all, and of one user. */
const WAITING_BYTES_MAX = 128 * 1_024 * 1_024;
const WAITING_BYTES_OF_USER_MAX = 32 * 1_024 * 1_024;
const IDLE_MS_MAX = 300_000;
const RETRY_AFTER_SECONDS = 1;

interface Job {
  readonly exchange: Exchange;
  readonly body: Buffer;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Has requests that are too large for the loop that serves everybody carried out by a thread. At most one of a user is under way at a time, so
 * that nobody who sends many holds up the others; the rest wait in order, in a queue with a bound.
 */
export class Offload {
  readonly #options: OffloadOptions;
  readonly #waiting: Job[] = [];
  readonly #running = new Map<string, Job>();
  /** Elements of lists that are being written. */
  #elements = 0;
  #thread: OffloadThread | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: OffloadOptions) {
    this.#options = options;
  }

  /**
   * The answer of the request, which has to be authenticated and authorized. Throws TooManyRequests (429) where too much waits, what the
   * request is refused with, and StorageError `unknown-outcome` when the thread is lost meanwhile.
   */
  async answer(exchange: Exchange): Promise<Answer> {
    const body = await exchange.readBody();
    exchange.signal.throwIfAborted();
    this.#refuseTooMany(exchange.user.name, body.length);
    return new Promise<Answer>((resolve, reject) => {
      const job: Job = { exchange, body, resolve, reject };
      this.#waiting.push(job);
      const onAbort = (): void => {
        this.#leave(job);
      };
      exchange.signal.addEventListener('abort', onAbort, { once: true });
      this.#next();
    });
  }

  /** Has an element of a list written; see {@link OffloadThread.element}. */
  async element(request: ElementRequest, signal: AbortSignal): Promise<Buffer> {
    this.#elements += 1;
    try {
      return await this.#beginThread().element(request, signal);
    } finally {
      this.#elements -= 1;
      this.#watchIdleness();
    }
  }

  /** Ends the thread; what is under way fails. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
  }

  #refuseTooMany(user: string, bytes: number): void {
    const own = this.#waiting.filter(({ exchange }) => exchange.user.name === user);
    const isTooMuch = (jobs: readonly Job[], max: number, bytesMax: number): boolean =>
      jobs.length >= max || jobs.reduce((sum, { body }) => sum + body.length, bytes) > bytesMax;
    const isRefused =
      isTooMuch(own, WAITING_OF_USER_MAX, WAITING_BYTES_OF_USER_MAX) ||
      isTooMuch(this.#waiting, WAITING_MAX, WAITING_BYTES_MAX);
    if (!isRefused) return;
    this.#options.counts.refused += 1;
    throw new StatusError('TooManyRequests', 'too many large requests are waiting, please try again later', {
      details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
    });
  }

  /** Nobody waits for a job that has not begun. */
  #leave(job: Job): void {
    const at = this.#waiting.indexOf(job);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    job.reject(job.exchange.signal.reason);
  }

  /** Begins what may begin. */
  #next(): void {
    while (this.#running.size < RUNNING_MAX) {
      const at = this.#waiting.findIndex(({ exchange }) => !this.#running.has(exchange.user.name));
      const [job] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (job === undefined) break;
      void this.#run(job);
    }
    this.#watchIdleness();
  }

  async #run(job: Job): Promise<void> {
    const { exchange, body, resolve, reject } = job;
    const user = exchange.user.name;
    this.#running.set(user, job);
    this.#options.counts.begun += 1;
    try {
      const { answer, over } = this.#beginThread().answer(exchange, body);
      answer.then(resolve, reject);
      // Whoever has left keeps the place until the thread is done with the request: nobody gets more of it by leaving.
      await over;
    } catch (error) {
      // There is no thread to be had.
      reject(error);
    }
    this.#running.delete(user);
    this.#next();
  }

  #beginThread(): OffloadThread {
    if (this.#thread?.isOver === true) this.#thread = undefined;
    if (this.#thread === undefined) {
      this.#options.counts.threads += 1;
      this.#thread = this.#options.begin();
    }
    return this.#thread;
  }

  #watchIdleness(): void {
    clearTimeout(this.#idle);
    if (this.#running.size + this.#elements > 0 || this.#thread === undefined) return;
    const { idleMsMax = IDLE_MS_MAX } = this.#options;
    this.#idle = setTimeout(() => void this.close(), idleMsMax).unref();
  }
}
