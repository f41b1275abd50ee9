import { StatusError } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import type { OffloadCounts } from './offload-counts';
import type { ElementRequest } from '../handlers/element-encoder';
import type { Job, LaneLimits } from './lane';
import { flowOf, Lane } from './lane';
import type { OffloadThread } from './offload-thread';

export interface OffloadOptions {
  /** Starts a worker. Called on demand, and again after one has ended. */
  readonly begin: () => OffloadThread;
  readonly counts: OffloadCounts;
  /** Milliseconds that an idle worker is kept; it holds memory. */
  readonly idleMsMax?: number;
}

/** Bodies up to this size take a lane of their own: they are done in milliseconds, and must not wait for megabytes. */
const SMALL_BYTES_MAX = 64 * 1_024;
const MEBIBYTE = 1_024 * 1_024;
/** The worker has its own event loop, and a request mostly waits, so that some may run concurrently. */
const LANES = {
  small: {
    runningMax: 4,
    waitingMax: 256,
    waitingOfFlowMax: 64,
    bytesMax: 16 * MEBIBYTE,
    bytesOfFlowMax: 4 * MEBIBYTE,
  },
  large: {
    runningMax: 4,
    waitingMax: 256,
    waitingOfFlowMax: 64,
    bytesMax: 128 * MEBIBYTE,
    bytesOfFlowMax: 32 * MEBIBYTE,
  },
} as const satisfies Record<string, LaneLimits>;
const IDLE_MS_MAX = 300_000;
const RETRY_AFTER_SECONDS = 1;

interface OffloadedJob extends Job {
  readonly lane: Lane<OffloadedJob>;
  readonly body: Buffer;
  readonly resolve: (answer: Answer) => void;
}

/**
 * Runs requests that are too large for the event loop in a worker. Flows take turns in two bounded lanes, for small
 * and for large bodies, against starvation of other users.
 */
export class Offload {
  readonly #options: OffloadOptions;
  readonly #small = new Lane<OffloadedJob>(LANES.small);
  readonly #large = new Lane<OffloadedJob>(LANES.large);
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
    const bytes = body.length;
    const lane = bytes <= SMALL_BYTES_MAX ? this.#small : this.#large;
    return new Promise<Answer>((resolve, reject) => {
      const job: OffloadedJob = { exchange, bytes, flow: flowOf(exchange), lane, body, resolve, reject };
      const refused = lane.add(job);
      if (refused !== undefined) this.#refuse(refused);
      const onAbort = (): void => {
        if (lane.remove(job)) reject(exchange.signal.reason);
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

  #refuse({ reject }: OffloadedJob): void {
    this.#options.counts.refused += 1;
    reject(
      new StatusError('TooManyRequests', 'too many large requests are waiting, please try again later', {
        details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
      }),
    );
  }

  /** Starts all jobs that may run. */
  #next(): void {
    for (const lane of [this.#small, this.#large]) {
      for (let job = lane.take(); job !== undefined; job = lane.take()) void this.#run(job);
    }
    this.#watchIdleness();
  }

  async #run(job: OffloadedJob): Promise<void> {
    const { exchange, body, resolve, reject } = job;
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
    job.lane.ended(job);
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
    if (this.#small.running + this.#large.running + this.#elements > 0 || this.#thread === undefined) return;
    const { idleMsMax = IDLE_MS_MAX } = this.#options;
    this.#idle = setTimeout(() => void this.close(), idleMsMax).unref();
  }
}
