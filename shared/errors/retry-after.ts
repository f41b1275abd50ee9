import { StatusError } from './status-error';

const MS_PER_SECOND = 1_000;

/** How long the server asks to wait before the next try, in milliseconds, if it asks. */
export function retryAfterMs(error: unknown): number | undefined {
  const seconds = error instanceof StatusError ? error.status.details?.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * MS_PER_SECOND;
}
