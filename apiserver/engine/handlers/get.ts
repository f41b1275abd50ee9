import { badRequest, notFound } from '../../../shared/errors/status-error';
import { boolParameter } from '../request/bool-parameter';
import type { Answer, Exchange } from '../request/exchange';
import { planGet } from '../registry/list-plan';
import { readObject } from '../registry/read';
import { refuseImpossiblePlace } from '../request/store-place';
import { objectAnswers } from './answers';
import type { VerbContext } from './context';
import type { Target } from './target';

/**
 * GET of one object, or of a subresource that shows the whole object. Throws BadRequest for an export, which
 * v1.14 deprecated.
 */
export async function get(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const answers = objectAnswers(exchange, target);
  if (boolParameter(exchange.query, 'export')) {
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
  }
  const plan = planGet(exchange.query.get('resourceVersion') ?? '');
  refuseImpossiblePlace(target);
  const entry = await readObject(context.store, target, plan, exchange.signal);
  if (entry === undefined) throw notFound(target.endpoint.row, target.name);
  return answers.object(entry);
}
