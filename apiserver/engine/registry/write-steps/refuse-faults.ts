import { isInForce } from '../../../../shared/api/changes';
import { Pace } from '../../../../shared/concurrency/pace';
import { invalidObject } from '../../../../shared/errors/field-error';
import type { WriteAttempt } from '../write-attempt';
import { kindInErrors } from '../resource';
import { writeInfo } from '../write-context';

/**
 * Rejects with Invalid (422) if there are validation errors. Formatting a thousand errors takes as long as
 * finding them, and so does encoding the response: the event loop gets a turn before and after.
 */
export function refuseFaults(draft: WriteAttempt): Promise<void> | undefined {
  return draft.faults.length === 0 ? undefined : refuse(draft);
}

/** Adds the kind's warnings about a valid object to the response. */
export function warnOfObject({ asked, object, current, operation, sent }: WriteAttempt): void {
  const { context, request } = asked;
  const { warn, subresource, endpoint } = request;
  const { strategy } = endpoint.stored;
  const warnings = subresource === '' ? strategy.warnings : strategy.subresources?.[subresource]?.warnings;
  if (warn === undefined || warnings === undefined || !WARNS) return;
  const previous = operation === 'CREATE' ? undefined : current;
  for (const text of warnings(object, previous, { ...writeInfo(context, request), sent })) warn(text);
}

const WARNS = isInForce('warningsOfObjects');

async function refuse({ asked: { request }, object, faults }: WriteAttempt): Promise<void> {
  const pace = new Pace();
  const refusal = invalidObject(kindInErrors(request.endpoint.stored), object.metadata.name ?? '', faults);
  if (pace.isDueAfter('write_refuse_faults')) await pace.rest();
  throw refusal;
}

/** Lets the kind prepare expensive rules without blocking the event loop. */
// An async function would make a promise for each write of kinds that prepare nothing.
// eslint-disable-next-line typescript/promise-function-async -- see above
export function prepareRules({ asked, object, current }: WriteAttempt): Promise<void> | undefined {
  const { strategy } = asked.request.endpoint.stored;
  return strategy.prepareRules?.(object, current, writeInfo(asked.context, asked.request));
}
