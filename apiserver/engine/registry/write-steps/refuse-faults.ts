import { Pace } from '../../../../shared/concurrency/pace';
import { invalidObject } from '../../../../shared/errors/field-error';
import type { WriteAttempt } from '../write-attempt';
import { kindInErrors } from '../resource';

/**
 * Rejects with Invalid (422) if there are validation errors. Formatting a thousand errors takes as long as
 * finding them, and so does encoding the response: the event loop gets a turn before and after.
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
