import type { FieldError } from '../../../../shared/errors/field-error';
import { endpointOf } from '../../../kubernetes/admission/testing/plugin-bench';
import type { WriteAttempt } from '../write-attempt';
import { refuseFaults } from './refuse-faults';

const draftOf = (faults: readonly FieldError[]): WriteAttempt =>
  ({
    asked: { request: { endpoint: endpointOf('v1/endpoints') } },
    object: { metadata: { name: 'e' } },
    faults,
  }) as unknown as WriteAttempt;

/** An error whose message takes longer to format than a request may block the event loop. */
function longFault(): FieldError {
  return {
    reason: 'FieldValueInvalid',
    field: 'subsets',
    get message() {
      const began = performance.now();
      while (performance.now() - began < 5);
      return 'no';
    },
  };
}

test('a valid object passes at once', () => {
  expect(refuseFaults(draftOf([]))).toBeUndefined();
});

test('errors that take long to format leave the event loop a turn before the response', async () => {
  const order: string[] = [];
  const refused = Promise.resolve(refuseFaults(draftOf([longFault()]))).catch((error: unknown) => {
    order.push(String(error));
  });
  // After the current turn, and before the next one.
  setImmediate(() => order.push('a turn of others'));
  await refused;
  expect(order).toEqual([
    'a turn of others',
    expect.stringContaining('Endpoints "e" is invalid: subsets: no'),
  ]);
});
