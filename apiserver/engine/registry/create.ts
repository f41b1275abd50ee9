import { StatusError, alreadyExists } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import { ask, intentOf, newWriteAttempt } from './write-attempt';
import { isTerminating } from './metadata';
import type { Written } from './write';
import { writeOptimistically } from './write';
import type { WriteContext } from './write-context';
import { runWriteSteps } from './write-pipeline';
import type { WriteRequest } from './write-request';
import { writeTarget } from './write-target';

const GENERATED_NAME_TRIES_MAX = 8;

/** Creates the object, which is in the endpoint's version. Refuses with AlreadyExists, Invalid, or whatever admission says. */
export async function createObject(
  context: WriteContext,
  request: WriteRequest,
  object: ApiObject,
  signal: AbortSignal,
): Promise<Written> {
  const { name = '' } = object.metadata;
  const named = { ...request, name };
  if (name !== '') return createOnce(context, named, object, signal);
  for (let tries = 1; ; tries += 1) {
    try {
      return await createOnce(context, named, object, signal);
    } catch (error) {
      if (tries >= GENERATED_NAME_TRIES_MAX || !isNameTaken(error)) throw error;
    }
  }
}

function isNameTaken(error: unknown): boolean {
  return error instanceof StatusError && error.status.reason === 'AlreadyExists';
}

/** The write pipeline generates a missing name, and mutating webhooks may choose another one. */
async function createOnce(
  context: WriteContext,
  request: WriteRequest,
  object: ApiObject,
  signal: AbortSignal,
): Promise<Written> {
  const { endpoint } = request;
  let { name } = request;
  const asked = ask(context, request, { change: () => object, uid: context.newUid() });
  return writeOptimistically(
    writeTarget(context, request, { assumeAbsent: true }),
    async (current) => {
      if (current !== undefined) {
        const why = isTerminating(current.object.metadata) ? 'object is being deleted: ' : '';
        throw alreadyExists(endpoint.row, name, why);
      }
      const draft = newWriteAttempt(asked, 'CREATE', undefined);
      await runWriteSteps('create', draft, signal);
      ({ name } = draft);
      const intent = intentOf(draft);
      if (name === request.name) return intent;
      return { ...intent, target: writeTarget(context, { ...request, name }, { assumeAbsent: true }) };
    },
    signal,
  );
}
