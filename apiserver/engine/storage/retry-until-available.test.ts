import { StatusError } from '../../../shared/errors/status-error';
import { silentLog } from '../../../shared/log/log';
import { retryUntilAvailable } from './retry-until-available';
import { StorageError } from './backend';

const MINUTE_MS = 60_000;
const never = new AbortController().signal;

/** Fails with each of `failures` in turn and then succeeds; the clock moves on by `stepMs` at each look. */
async function attempt(failures: readonly Error[], stepMs = 0): Promise<number> {
  let now = 0;
  let tries = 0;
  await retryUntilAvailable(
    async () => {
      const failure = failures[tries++];
      if (failure !== undefined) throw failure;
    },
    { log: silentLog, clock: { now: () => (now += stepMs) } },
    never,
  );
  return tries;
}

test.each([
  ['is out of reach', new StorageError('unavailable', 'no leader')],
  ['leaves the outcome of a write unknown', new StorageError('unknown-outcome', 'no answer')],
  ['made a request end as unavailable', new StatusError('ServiceUnavailable', 'not now')],
])('a step is done again when the store %s', async (_why, failure) => {
  expect(await attempt([failure])).toBe(2);
});

test('an outage of more than a minute ends the start', async () => {
  const outage = new StorageError('unavailable', 'no leader');
  await expect(attempt([outage, outage], MINUTE_MS + 1)).rejects.toBe(outage);
});

test('whatever is no outage ends the start at once', async () => {
  const wrong = new StorageError('denied', 'wrong credentials');
  await expect(attempt([wrong])).rejects.toBe(wrong);
});

test('a server that is stopped waits no longer', async () => {
  const stopped = AbortSignal.abort(new Error('stopped'));
  const step = async (): Promise<void> => {
    throw new StorageError('unavailable', 'no leader');
  };
  const start = { log: silentLog, clock: { now: () => 0 } };
  await expect(retryUntilAvailable(step, start, stopped)).rejects.toThrow('stopped');
});
