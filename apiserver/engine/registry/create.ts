import { StatusError, alreadyExists } from '../../../shared/errors/status-error';
import { generateName } from '../../../shared/meta/generate-name';
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
  const { isNamedByUid = false } = request.endpoint.stored.strategy.compat ?? {};
  const sent = object.metadata.name ?? '';
  const given = sent === '' && isNamedByUid ? context.newUid() : sent;
  const base = object.metadata.generateName ?? '';
  if (given !== '' || base === '') return createNamed(context, { ...request, name: given }, object, signal);
  for (let tries = 1; ; tries += 1) {
    const name = generateName(base, context.randomInt);
    try {
      return await createNamed(context, { ...request, name }, object, signal);
    } catch (error) {
      if (tries >= GENERATED_NAME_TRIES_MAX || !isNameTaken(error)) throw error;
    }
  }
}

function isNameTaken(error: unknown): boolean {
  return error instanceof StatusError && error.status.reason === 'AlreadyExists';
}

async function createNamed(
  context: WriteContext,
  request: WriteRequest,
  object: ApiObject,
  signal: AbortSignal,
): Promise<Written> {
  const { endpoint, name } = request;
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
      return intentOf(draft);
    },
    signal,
  );
}
