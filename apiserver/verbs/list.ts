import { negotiateAnswer } from '../encoding/negotiation';
import { jsonListBody } from '../encoding/json-list';
import type { Answer, Exchange } from '../exchange/exchange';
import { planList } from '../registry/list-plan';
import { readList } from '../registry/read';
import { jsonAnswer } from './answers';
import type { VerbContext } from './context';
import { intParameter } from './query';
import { selectionOf } from './selection';
import type { Target } from './target';

/** GET of a collection. */
export async function list(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const { query, signal } = exchange;
  negotiateAnswer(exchange.headers.accept);
  const selection = selectionOf(query, target);
  const plan = planList({
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: intParameter(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
  });
  const { endpoint } = target;
  const page = await readList(context.store, { endpoint, selection }, plan, signal);
  const head = { kind: endpoint.row.listKind, apiVersion: endpoint.apiVersion, metadata: page.metadata };
  return jsonAnswer(
    200,
    jsonListBody(
      head,
      page.entries.map((entry) => entry.bytes),
    ),
  );
}
