import { Pace } from '../../../../shared/concurrency/pace';
import { invalidObject } from '../../../../shared/errors/field-error';
import type { WriteAttempt } from '../write-attempt';
import { kindInErrors } from '../resource';

/**
 * Rejects with Invalid (422) where something is wrong with the object. To tell a thousand faults takes as long as to find them, and so does
 * to write what is told: it comes after a turn of the loop, and before one.
 */
export function refuseFaults(draft: WriteAttempt): Promise<void> | undefined {
  return draft.faults.length === 0 ? undefined : refuse(draft);
}

async function refuse({ asked: { request }, faults }: WriteAttempt): Promise<void> {
  const pace = new Pace();
  const refusal = invalidObject(kindInErrors(request.endpoint.stored), request.name, faults);
  if (pace.isDueAfter('write_refuse_faults')) await pace.rest();
  throw refusal;
}
