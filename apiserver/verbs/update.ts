import type { Answer, Exchange } from '../exchange/exchange';
import { updateObject } from '../registry/update';
import { bodyMediaType } from '../http/encoding/request-body';
import { objectAnswers } from './answers';
import { readBodyObject } from './body';
import type { VerbContext } from './context';
import { checkIdentity } from './place';
import { writeOptions } from './query';
import type { Target } from './target';
import { writeRequestOf } from './target';

/** PUT on an object or a subresource: 200 with the object as stored, 201 when the PUT created it. */
export async function update(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const answers = objectAnswers(exchange, target);
  // Before anything else is wrong with the request.
  bodyMediaType(exchange.headers['content-type']);
  const dryRun = writeOptions(exchange.query, 'UpdateOptions');
  const object = checkIdentity(await readBodyObject(exchange, target.endpoint), target);
  const request = writeRequestOf(exchange, target, dryRun);
  const { uid: knownUid = '' } = object.metadata;
  const write = { change: () => object, options: { creates: 'kind' } as const, knownUid };
  const written = await updateObject(context.store, request, write, exchange.signal);
  return answers.written(written.kind === 'created' ? 201 : 200, written);
}
