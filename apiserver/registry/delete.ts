import { notFound } from '../../shared/errors/status-error';
import type { DeleteOptions } from './deletion';
import { ask, intentOf, newDraft } from './draft';
import type { Written } from './write';
import { writeOptimistically } from './write';
import type { WriteContext } from './write-context';
import { travel } from './write-journey';
import type { WriteRequest } from './write-request';
import { writeTarget } from './write-target';

/**
 * Deletes the object, or marks it terminating when finalizers, a grace period or its content hold it. `Written.kind` says which:
 * `deleted`, `updated`, or `none` when it was terminating already. Refuses with NotFound, Conflict (preconditions), or whatever
 * admission says.
 */
export async function deleteObject(
  context: WriteContext,
  request: WriteRequest,
  options: DeleteOptions,
  signal: AbortSignal,
): Promise<Written> {
  const { endpoint, name } = request;
  const asked = ask(context, { ...request, deleteOptions: options });
  return writeOptimistically(
    writeTarget(context, request, { assumeAbsent: false }),
    async (current) => {
      if (current === undefined) throw notFound(endpoint.row, name);
      const draft = newDraft(asked, 'DELETE', current.object);
      await travel('delete', draft, signal);
      return intentOf(draft);
    },
    signal,
  );
}
