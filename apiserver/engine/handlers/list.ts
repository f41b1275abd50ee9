import type { Answer, Exchange } from '../request/exchange';
import { checkListOptions, planList } from '../registry/list-plan';
import { readList } from '../registry/read';
import { listAnswer } from './answers';
import type { VerbContext } from './context';
import { listQueryOf } from './query';
import { chunked, withCount } from './request-features';
import { selectionOf, selectorsOf } from './selection';
import type { Target } from './target';

/** GET of a collection. */
export async function list(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const { query, signal } = exchange;
  const answer = listAnswer(exchange, target, context.encodeElement);
  const options = listQueryOf(query);
  const selectors = await selectorsOf(query);
  checkListOptions(options);
  const selected = selectionOf(selectors, target);
  // As upstream, only the first page treats one name as one object.
  const selection = options.continue === '' ? selected : { ...selected, key: undefined };
  const plan = planList(chunked(options, context.features));
  const { endpoint } = target;
  const page = await readList(context.store, { endpoint, selection }, plan, signal);
  return answer(withCount(page, context.features));
}
