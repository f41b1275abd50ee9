import { notFound } from '../../../shared/errors/status-error';
import type { AdmittedView, Change, UpdateOptions } from './write-attempt';
import { ask, intentOf, newWriteAttempt } from './write-attempt';
import { uidConflict } from './storage-error';
import type { Written } from './write';
import { writeOptimistically } from './write';
import type { WriteContext } from './write-context';
import { runWriteSteps } from './write-pipeline';
import type { WriteRequest } from './write-request';
import { writeTarget } from './write-target';

export interface Update {
  readonly change: Change;
  readonly options: UpdateOptions;
  /** Absent where admission sees the object itself. */
  readonly view?: AdmittedView;
  /** The uid of the object that the client means. Absent: any. */
  readonly knownUid?: string;
}

/**
 * Replaces the object, or the part of it that the subresource shows. Refuses with NotFound, Conflict (a resourceVersion or uid in
 * the new object that is not the current one's), Invalid, or whatever admission says. The last finalizer's removal from a
 * terminating object removes the object.
 */
export async function updateObject(
  context: WriteContext,
  request: WriteRequest,
  update: Update,
  signal: AbortSignal,
): Promise<Written> {
  const asked = ask(context, request, { ...update, uid: context.newUid() });
  return writeOptimistically(
    writeTarget(context, request, { assumeAbsent: false }),
    async (current) => {
      if (current === undefined) refuseOfNothing(context, request, update);
      const isNew = current === undefined;
      const draft = newWriteAttempt(asked, isNew ? 'CREATE' : 'UPDATE', current?.object);
      await runWriteSteps(isNew ? 'create' : 'update', draft, signal);
      return intentOf(draft);
    },
    signal,
  );
}

/** Throws NotFound if an update cannot create the object, and Conflict if the client has sent a uid. */
function refuseOfNothing(
  context: WriteContext,
  request: WriteRequest,
  { options, knownUid = '' }: Update,
): void {
  const { endpoint, name } = request;
  if (knownUid !== '') {
    throw uidConflict(context, request, { asked: knownUid, found: undefined });
  }
  if (!mayCreate(request, options)) throw notFound(endpoint.row, name);
}

function mayCreate({ endpoint, subresource }: WriteRequest, { creates }: UpdateOptions): boolean {
  const { createsOnUpdate = false, compat } = endpoint.stored.strategy;
  if (creates === 'never') return false;
  if (subresource !== '') return subresource === 'status' && compat?.statusCreates === true;
  return creates === 'always' || createsOnUpdate;
}
