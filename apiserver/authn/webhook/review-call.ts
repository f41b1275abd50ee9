import { createConnection } from '../../../shared/client/connection';
import { ConnectionError } from '../../../shared/client/connection-error';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import type { RawAnswer } from '../../../shared/client/options';
import { sleep } from '../../../shared/concurrency/abort';
import { optionalRecord, record } from '../../registry/validation/accessors';

/** The versions of questions; the answer has to be of the same. */
export const REVIEW_VERSIONS = ['v1beta1', 'v1'] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

export interface RemoteReviewOptions {
  /** A kubeconfig whose server is the address to ask at. */
  readonly configFile: string;
  readonly version: ReviewVersion;
  /** How long to wait before the first repetition, in milliseconds; each further wait is half as long again. */
  readonly initialBackoffMs?: number;
  readonly tryTimeoutMs?: number;
}

export interface ReviewCallOptions extends Omit<RemoteReviewOptions, 'version'> {
  /** Who is asked, as errors name it: `the token webhook`. */
  readonly who: string;
  readonly apiVersion: string;
  readonly kind: string;
}

type Json = Readonly<Record<string, unknown>>;

/** Sends a review, and gives the status of the answer. Rejects with an Error when there is no answer, or one that cannot be understood. */
export type ReviewCall = (
  review: { readonly spec: object; readonly status: object },
  signal: AbortSignal,
) => Promise<Json>;

const INITIAL_BACKOFF_MS = 500;
const BACKOFF_FACTOR = 1.5;
const BACKOFF_JITTER = 0.2;
const TRIES_MAX = 5;
const TRY_TIMEOUT_MS = 30_000;
const SOCKETS_MAX = 32;
const ANSWER_BYTES_MAX = 1024 * 1024;
const USER_AGENT = 'orch-apiserver';
/** Internal error, gateway timeout, too many requests: it may go better the next time. */
const PASSING_CODES: ReadonlySet<number> = new Set([429, 500, 504]);

/** Throws KubeconfigError for a file that cannot be used. */
export function createReviewCall(options: ReviewCallOptions): ReviewCall {
  const { configFile, kind, apiVersion } = options;
  const { initialBackoffMs = INITIAL_BACKOFF_MS, tryTimeoutMs = TRY_TIMEOUT_MS } = options;
  const { client } = loadKubeconfig({ path: configFile });
  const connection = createConnection({
    ...client,
    userAgent: USER_AGENT,
    timeoutMs: tryTimeoutMs,
    socketsMax: SOCKETS_MAX,
    answerBytesMax: ANSWER_BYTES_MAX,
  });
  return async ({ spec, status }, signal) => {
    const body = JSON.stringify({ kind, apiVersion, metadata: { creationTimestamp: null }, spec, status });
    for (let tries = 1, waitMs = initialBackoffMs; ; tries += 1, waitMs *= BACKOFF_FACTOR) {
      const answer = await answerOrReset(
        connection.send({ method: 'POST', path: '', body: Buffer.from(body), signal }),
      );
      if (answer !== undefined && answer.code >= 200 && answer.code < 300) return statusOf(answer, options);
      if (tries >= TRIES_MAX || (answer !== undefined && !isPassing(answer))) throw refused(answer, options);
      await sleep(waitMs * (1 + Math.random() * BACKOFF_JITTER), signal);
    }
  };
}

/** Undefined when the other side cut the connection. */
async function answerOrReset(sending: Promise<RawAnswer>): Promise<RawAnswer | undefined> {
  try {
    return await sending;
  } catch (error) {
    if (error instanceof ConnectionError && error.code === 'ECONNRESET') return undefined;
    throw error;
  }
}

function isPassing({ code, headers }: RawAnswer): boolean {
  return PASSING_CODES.has(code) || headers['retry-after'] !== undefined;
}

function refused(answer: RawAnswer | undefined, { who }: ReviewCallOptions): Error {
  const what = answer === undefined ? 'cut the connection' : `answered ${String(answer.code)}`;
  return new Error(`${who} ${what}`);
}

function statusOf({ body }: RawAnswer, { who, apiVersion, kind }: ReviewCallOptions): Json {
  const review = parse(body, who);
  if (review['apiVersion'] !== apiVersion || review['kind'] !== kind) {
    throw new Error(`${who} did not answer with a ${kind} of ${apiVersion}`);
  }
  return record(review['status']);
}

function parse(body: Buffer, who: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new Error(`${who} did not answer with JSON`, { cause: error });
  }
  const review = optionalRecord(value);
  if (review === undefined) throw new Error(`${who} did not answer with an object`);
  return review;
}
