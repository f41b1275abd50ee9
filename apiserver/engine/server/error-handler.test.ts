import { StatusError } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { silentLog } from '../../../shared/log/log';
import { ClientGoneError } from '../request/initial-values';
import { newExchange } from '../request/testing/new-exchange';
import type { StorageErrorCode } from '../storage/backend';
import { STORAGE_ERROR_CODES, StorageError } from '../storage/backend';
import { answerOfError } from './error-handler';

function outcome(error: unknown, signal = new AbortController().signal) {
  const logged: [string, object][] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => logged.push([`warn: ${message}`, fields]),
    error: (fields, message) => logged.push([`error: ${message}`, fields]),
  };
  const exchange = newExchange({ signal });
  const answer = answerOfError(error, exchange, log);
  const status: unknown =
    answer !== undefined && Buffer.isBuffer(answer.body) ? JSON.parse(answer.body.toString()) : undefined;
  return { answer, status, logged, exchange };
}

test('a StatusError is answered as it is, kept on the exchange, and not logged when it is the client’s', () => {
  const error = new StatusError('NotFound', 'pods "a" not found', { details: { name: 'a', kind: 'pods' } });
  const { answer, status, logged, exchange } = outcome(error);
  expect(answer).toMatchObject({ code: 404, headers: { 'Content-Type': 'application/json' } });
  expect(status).toEqual(error.status);
  expect(exchange.error).toBe(error);
  expect(logged).toEqual([]);
});

test.each<[StorageErrorCode, number, string, string | undefined]>([
  ['unavailable', 503, 'ServiceUnavailable', '1'],
  ['closed', 503, 'ServiceUnavailable', '1'],
  ['reset', 503, 'ServiceUnavailable', '1'],
  ['unknown-outcome', 504, 'Timeout', undefined],
  ['future', 504, 'Timeout', '1'],
  ['compacted', 410, 'Expired', undefined],
  ['too-large', 413, 'RequestEntityTooLarge', undefined],
  ['denied', 500, 'InternalError', undefined],
  ['corrupt', 500, 'InternalError', undefined],
])('the store’s %s is %d %s, with Retry-After %s', (code, http, reason, retryAfter) => {
  const { answer, status } = outcome(new StorageError(code, 'the store says why'));
  expect(status).toMatchObject({
    code: http,
    reason,
    message: expect.stringContaining('the store says why') as string,
  });
  expect(answer?.headers['Retry-After']).toBe(retryAfter);
});

test('a full store is a 500 without a reason and without Retry-After, as in v1.21', () => {
  const { answer, status } = outcome(new StorageError('full', 'etcdserver: mvcc: database space exceeded'));
  expect(status).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'etcdserver: mvcc: database space exceeded',
    code: 500,
  });
  expect(answer?.headers).not.toHaveProperty('Retry-After');
});

test('every code of the store has an answer', () => {
  for (const code of STORAGE_ERROR_CODES) expect(outcome(new StorageError(code, '')).answer).toBeDefined();
});

test('an unexpected error is a 500 and is logged with the error', () => {
  const error = new TypeError('x is not a function');
  const { status, logged } = outcome(error);
  expect(status).toMatchObject({
    code: 500,
    reason: 'InternalError',
    message: 'Internal error occurred: x is not a function',
  });
  expect(logged).toEqual([
    ['error: unexpected error while handling a request', expect.objectContaining({ error })],
  ]);
});

test('a client that disconnected gets no answer', () => {
  const gone = AbortSignal.abort(new ClientGoneError());
  expect(outcome(new DOMException('aborted', 'AbortError'), gone).answer).toBeUndefined();
  expect(outcome(new TypeError('torn'), gone).answer).toBeUndefined();
  expect(outcome(new ClientGoneError()).answer).toBeUndefined();
});

test.each([
  ['the reason itself', (reason: unknown) => reason],
  ['an AbortError', () => new DOMException('aborted', 'AbortError')],
])('%s after the deadline is 504', (_what, errorOf) => {
  const signal = AbortSignal.abort(new DOMException('too late', 'TimeoutError'));
  expect(outcome(errorOf(signal.reason), signal).status).toMatchObject({
    code: 504,
    reason: 'Timeout',
    message: 'Timeout: request did not complete within the allotted timeout',
  });
});

test('an abort with a StatusError answers with it', () => {
  const signal = AbortSignal.abort(new StatusError('ServiceUnavailable', 'leaving'));
  expect(outcome(new DOMException('aborted', 'AbortError'), signal).status).toMatchObject({
    code: 503,
    message: 'leaving',
  });
});

test('a defect after the deadline is still a defect', () => {
  const signal = AbortSignal.abort(new DOMException('too late', 'TimeoutError'));
  expect(outcome(new TypeError('broken'), signal).status).toMatchObject({ code: 500 });
});
