import { notFound } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import type { DeleteOptions } from './deletion';
import { isFinished } from './deletion';
import { ask, intentOf, newWriteAttempt } from './write-attempt';
import type { Strategy } from './strategy';
import type { Written, WriteTarget } from './write';
import { writeOptimistically } from './write';
import type { WriteContext } from './write-context';
import { runWriteSteps } from './write-pipeline';
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
  const target = writeTarget(context, request, { assumeAbsent: false });
  const asked = ask(context, { ...request, deleteOptions: options });
  const written = await writeOptimistically(
    target,
    async (current) => {
      if (current === undefined) throw notFound(endpoint.row, name);
      const draft = newWriteAttempt(asked, 'DELETE', current.object);
      await runWriteSteps('delete', draft, signal);
      return intentOf(draft);
    },
    signal,
  );
  const { strategy } = endpoint.stored;
  const isGraceful = strategy.graceSeconds !== undefined;
  if (!isGraceful || written.kind === 'deleted' || !isFinished(written.object, strategy)) return written;
  if (!request.dryRun) await removeMarked(target, written.object, strategy, signal);
  return { ...written, kind: 'deleted' };
}

/**
 * Watchers have seen the object terminating. It is removed now, unless another writer was faster or
 * something holds it.
 */
async function removeMarked(
  target: WriteTarget,
  marked: ApiObject,
  strategy: Strategy,
  signal: AbortSignal,
): Promise<void> {
  await writeOptimistically(
    target,
    async (current) => {
      const isThere = current?.object.metadata.uid === marked.metadata.uid;
      const goes = current !== undefined && isThere && isFinished(current.object, strategy);
      return Promise.resolve({ kind: goes ? 'delete' : 'none', object: current?.object ?? marked });
    },
    signal,
  );
}
