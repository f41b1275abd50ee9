import type { FieldError } from '../../../shared/errors/field-error';
import type { Draft } from '../draft';
import type { WriteInfo } from '../strategy';

/** What is wrong with the object as it was sent, in the version of the request, and does not show in the version that is kept. */
export function problemsAsSent({ asked: { request }, sent }: Draft, info: WriteInfo): readonly FieldError[] {
  if (request.subresource !== '') return [];
  return request.endpoint.stored.strategy.validateSent?.(sent, info) ?? [];
}
