import { StatusError } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import type { OffloadCounts } from './offload-counts';
import type { ElementRequest } from '../handlers/element-encoder';
import type { OffloadThread } from './offload-thread';

export interface OffloadOptions {
  /** Starts a worker. Called on demand, and again after one has ended. */
  readonly begin: () => OffloadThread;
  readonly counts: OffloadCounts;
  /** Milliseconds that an idle worker is kept; it holds memory. */
  readonly idleMsMax?: number;
}

/** Concurrent requests of different users: the worker has its own event loop, and a request mostly waits. */
const RUNNING_MAX = 4;
/** Queued requests: of all users, and of one. */
const WAITING_MAX = 256;
const WAITING_OF_USER_MAX = 16;
/** Bytes of queued bodies: of all users, and of one. */
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
 * Runs requests that are too large for the event loop in a worker. One request per user runs at a time, against
 * starvation of other users; the rest wait in a bounded queue.
 */
export class Offload {
  readonly #options: OffloadOptions;
  readonly #waiting: Job[] = [];
  readonly #running = new Map<string, Job>();
  /** Elements of lists that are being encoded. */
  #elements = 0;
  #thread: OffloadThread | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: OffloadOptions) {
    this.#options = options;
  }

  /**
   * Answers an authenticated and authorized request. Throws TooManyRequests (429) if the queue is full, the error of
   * the request, and StorageError `unknown-outcome` if the worker is lost.
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

  /** Encodes an element of a list; see {@link OffloadThread.element}. */
  async element(request: ElementRequest, signal: AbortSignal): Promise<Buffer> {
    this.#elements += 1;
    try {
      return await this.#beginThread().element(request, signal);
    } finally {
      this.#elements -= 1;
      this.#watchIdleness();
    }
  }

  /** Terminates the worker; running requests fail. */
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

  /** Removes an aborted job from the queue. */
  #leave(job: Job): void {
    const at = this.#waiting.indexOf(job);
    if (at < 0) return;
    this.#waiting.splice(at, 1);
    job.reject(job.exchange.signal.reason);
  }

  /** Starts all jobs that may run. */
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
      // An aborted request keeps its slot until the worker is done with it, so that a user gains nothing by
      // disconnecting.
      await over;
    } catch (error) {
      // The worker could not be started.
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
