import { StatusError, alreadyExists } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import type { WriteSpec } from './write-attempt';
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
  for (let tries = 1; ; tries += 1) {
    const asked = ask(context, { ...request, name }, { change: () => object, uid: context.newUid() });
    const written = await createOnce(asked, tries === GENERATED_NAME_TRIES_MAX, signal);
    if (written !== undefined) return written;
  }
}

/**
 * The write pipeline generates a missing name, and mutating webhooks may choose another one. Returns undefined if a generated name is taken, unless
 * this is the last try. Source: needsNameGeneration of registry.Store, which is asked after mutating admission.
 */
async function createOnce(
  asked: WriteSpec,
  isLastTry: boolean,
  signal: AbortSignal,
): Promise<Written | undefined> {
  const { context, request } = asked;
  let draft = newWriteAttempt(asked, 'CREATE', undefined);
  try {
    return await writeOptimistically(
      writeTarget(context, request, { assumeAbsent: true }),
      async (current) => {
        if (current !== undefined) {
          const why = isTerminating(current.object.metadata) ? 'object is being deleted: ' : '';
          throw alreadyExists(request.endpoint.row, draft.name, why);
        }
        draft = newWriteAttempt(asked, 'CREATE', undefined);
        await runWriteSteps('create', draft, signal);
        const { name } = draft;
        const intent = intentOf(draft);
        if (name === request.name) return intent;
        return { ...intent, target: writeTarget(context, { ...request, name }, { assumeAbsent: true }) };
      },
      signal,
    );
  } catch (error) {
    if (draft.isNameGenerated && !isLastTry && isNameTaken(error)) return undefined;
    throw error;
  }
}

function isNameTaken(error: unknown): boolean {
  return error instanceof StatusError && error.status.reason === 'AlreadyExists';
}
