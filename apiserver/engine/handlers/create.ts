import type { Answer, Exchange } from '../request/exchange';
import { createObject } from '../registry/create';
import { bodyMediaType } from '../encoding/request-body';
import { objectAnswers } from './answers';
import { readBodyObject } from './body';
import type { VerbContext } from './context';
import { placeInNamespace } from './place';
import { writeOptions } from './query';
import type { Target } from './target';
import { writeRequestOf } from './target';

/** POST on a collection: 201 with the object as stored. */
export async function create(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const answers = objectAnswers(exchange, target);
  // The media type is checked first.
  bodyMediaType(exchange.headers['content-type']);
  const dryRun = writeOptions(exchange.query, 'CreateOptions');
  const object = placeInNamespace(await readBodyObject(exchange, target.endpoint), target);
  const request = writeRequestOf(exchange, target, dryRun);
  const written = await createObject(context.store, request, object, exchange.signal);
  return answers.written(201, written);
}
