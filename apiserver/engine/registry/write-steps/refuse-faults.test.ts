import type { FieldError } from '../../../../shared/errors/field-error';
import { endpointOf } from '../../../kubernetes/admission/testing/plugin-bench';
import type { WriteAttempt } from '../write-attempt';
import { refuseFaults } from './refuse-faults';

const draftOf = (faults: readonly FieldError[]): WriteAttempt =>
  ({
    asked: { request: { endpoint: endpointOf('v1/endpoints'), name: 'e' } },
    faults,
  }) as unknown as WriteAttempt;

/** One that takes longer to be told than a request may hold the loop in one go. */
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

test('an object without faults is let through at once', () => {
  expect(refuseFaults(draftOf([]))).toBeUndefined();
});

test('faults that take long to be told leave the loop a turn before they are written', async () => {
  const order: string[] = [];
  const refused = Promise.resolve(refuseFaults(draftOf([longFault()]))).catch((error: unknown) => {
    order.push(String(error));
  });
  // Behind what is done in this turn, and in front of the next one.
  setImmediate(() => order.push('a turn of others'));
  await refused;
  expect(order).toEqual([
    'a turn of others',
    expect.stringContaining('Endpoints "e" is invalid: subsets: no'),
  ]);
});
