import { ConnectionError } from '../../../shared/client/connection-error';
import type { RawAnswer } from '../../../shared/client/options';
import { sleep } from '../../../shared/concurrency/abort';
import { fieldsOf, optionalRecord } from '../../../shared/object/accessors';
import type { Unchecked } from '../../../shared/object/values';
import type { RemoteServiceOptions } from './remote-service';
import { TRIES_MAX, backoffMs, connectTo, isSuccess } from './remote-service';

/** The API versions of reviews; an answer must have the version of its request. */
export const REVIEW_VERSIONS = ['v1beta1', 'v1'] as const;
export type ReviewVersion = (typeof REVIEW_VERSIONS)[number];

export interface RemoteReviewOptions extends Omit<RemoteServiceOptions, 'socketsMax'> {
  readonly version: ReviewVersion;
  /** The backoff before the first retry, in milliseconds; 500 if not given. */
  readonly initialBackoffMs?: number;
}

export interface ReviewCallOptions extends Omit<RemoteReviewOptions, 'version'> {
  /** The name of the service in errors: `the token webhook`. */
  readonly who: string;
  readonly apiVersion: string;
  readonly kind: string;
}

interface Review {
  readonly kind: string;
  readonly apiVersion: string;
  readonly status: object;
}

/** Sends a review and returns the status of the answer. Rejects with an Error if there is no answer, or a malformed one. */
export type ReviewCall<Status extends object> = (
  review: { readonly spec: object; readonly status: object },
  signal: AbortSignal,
) => Promise<Unchecked<Status>>;

const INITIAL_BACKOFF_MS = 500;
const SOCKETS_MAX = 32;
/** Status codes that are retried: too many requests, internal error, gateway timeout. */
const RETRIED_CODES: ReadonlySet<number> = new Set([429, 500, 504]);

/** Creates a call with retries and backoff. Throws KubeconfigError for a file that cannot be used. */
export function createReviewCall<Status extends object>(options: ReviewCallOptions): ReviewCall<Status> {
  const { kind, apiVersion, initialBackoffMs = INITIAL_BACKOFF_MS } = options;
  const connection = connectTo({ ...options, socketsMax: SOCKETS_MAX });
  return async ({ spec, status }, signal) => {
    const body = JSON.stringify({ kind, apiVersion, metadata: { creationTimestamp: null }, spec, status });
    for (let tries = 1; ; tries += 1) {
      const answer = await answerOrReset(
        connection.send({ method: 'POST', path: '', body: Buffer.from(body), signal }),
      );
      if (answer !== undefined && isSuccess(answer)) return statusOf(answer, options);
      if (tries >= TRIES_MAX || (answer !== undefined && !isRetried(answer))) throw refused(answer, options);
      await sleep(backoffMs(initialBackoffMs, tries), signal);
    }
  };
}

/** Returns undefined when the connection was reset. */
async function answerOrReset(sending: Promise<RawAnswer>): Promise<RawAnswer | undefined> {
  try {
    return await sending;
  } catch (error) {
    if (error instanceof ConnectionError && error.code === 'ECONNRESET') return undefined;
    throw error;
  }
}

function isRetried({ code, headers }: RawAnswer): boolean {
  return RETRIED_CODES.has(code) || headers['retry-after'] !== undefined;
}

function refused(answer: RawAnswer | undefined, { who }: ReviewCallOptions): Error {
  const what = answer === undefined ? 'reset the connection' : `answered ${String(answer.code)}`;
  return new Error(`${who} ${what}`);
}

function statusOf<Status extends object>(
  { body }: RawAnswer,
  { who, apiVersion, kind }: ReviewCallOptions,
): Unchecked<Status> {
  const review = parse(body, who);
  // As upstream, an answer without a kind or version has those of the request.
  if ((review.apiVersion || apiVersion) !== apiVersion || (review.kind || kind) !== kind) {
    throw new Error(`${who} did not answer with a ${kind} of ${apiVersion}`);
  }
  const status = review.status ?? {};
  if (optionalRecord(status) === undefined) throw new Error(`${who} answered with a malformed status`);
  return fieldsOf<Status>(status);
}

function parse(body: Buffer, who: string): Unchecked<Review> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new Error(`${who} did not answer with JSON`, { cause: error });
  }
  if (optionalRecord(value) === undefined) throw new Error(`${who} did not answer with an object`);
  return fieldsOf<Review>(value);
}
