import { StatusError } from './status-error';

const MS_PER_SECOND = 1_000;

/** Returns the retry delay that the server requests, in milliseconds, or undefined. */
export function retryAfterMs(error: unknown): number | undefined {
  const seconds = error instanceof StatusError ? error.status.details?.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * MS_PER_SECOND;
}
