import { StatusError } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import type { Change } from '../registry/write-attempt';
import { updateObject } from '../registry/update';
import { objectAnswers } from './answers';
import { readBodyObject } from './body';
import type { VerbContext } from './context';
import { checkIdentity, refusalOf } from './place';
import { writeOptions } from './query';
import type { Target } from './target';
import { writeRequestOf } from './target';

/** PUT on an object or a subresource: 200 with the object as stored, 201 when the PUT created it. */
export async function update(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const answers = objectAnswers(exchange, target);
  const dryRun = writeOptions(exchange.query, 'UpdateOptions');
  const { change, knownUid } = await readChange(exchange, target);
  const request = writeRequestOf(exchange, target, dryRun);
  const write = { change, options: { creates: 'kind' } as const, knownUid };
  const written = await updateObject(context.store, request, write, exchange.signal);
  return answers.written(written.kind === 'created' ? 201 : 200, written);
}

/** The change of a PUT. As upstream, the kind of a custom resource is validated only if the object exists. */
async function readChange(
  exchange: Exchange,
  target: Target,
): Promise<{ readonly change: Change; readonly knownUid: string }> {
  try {
    const object = checkIdentity(await readBodyObject(exchange, target.endpoint), target);
    const { uid: knownUid = '' } = object.metadata;
    return { change: () => object, knownUid };
  } catch (error) {
    const isValidated = error instanceof StatusError && error.status.reason === 'Invalid';
    if (target.endpoint.custom === undefined || !isValidated) throw error;
    return { change: refusalOf(target, error), knownUid: '' };
  }
}
