import { StatusError } from '../../shared/errors/status-error';
import { jsonListBody } from '../encoding/json-list';
import { negotiateAnswer } from '../encoding/negotiation';
import type { Answer, Exchange } from '../exchange/exchange';
import { deleteObject } from '../registry/delete';
import type { DeleteOptions } from '../registry/deletion';
import { planList } from '../registry/list-plan';
import { readList } from '../registry/read';
import type { Entry } from '../watch/entry';
import { jsonAnswer } from './answers';
import type { VerbContext } from './context';
import { readDeleteOptions } from './delete-options';
import { intParameter } from './query';
import { selectionOf } from './selection';
import type { Target } from './target';
import { writeRequestOf } from './target';

/** Deletions of one request that are under way at the same time. */
const DELETIONS_AT_ONCE = 16;

/** DELETE of a collection: every selected object is deleted by itself; 200 with the list of them as they were found. */
export async function removeCollection(
  context: VerbContext,
  exchange: Exchange,
  target: Target,
): Promise<Answer> {
  negotiateAnswer(exchange.headers.accept);
  const options = await readDeleteOptions(exchange);
  const { query, signal } = exchange;
  const { endpoint } = target;
  const plan = planList({
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    limit: intParameter(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
  });
  const selection = selectionOf(query, target);
  const page = await readList(context.store, { endpoint, selection }, plan, signal);
  await deleteAll(context, { exchange, target, options }, page.entries);
  const head = { kind: endpoint.row.listKind, apiVersion: endpoint.apiVersion, metadata: page.metadata };
  return jsonAnswer(
    200,
    jsonListBody(
      head,
      page.entries.map((entry) => entry.bytes),
    ),
  );
}

interface Deletion {
  readonly exchange: Exchange;
  readonly target: Target;
  readonly options: DeleteOptions;
}

async function deleteAll(context: VerbContext, deletion: Deletion, entries: readonly Entry[]): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let entry = entries[next]; entry !== undefined; entry = entries[next]) {
      next += 1;
      await deleteOne(context, deletion, entry);
    }
  };
  await Promise.all(Array.from({ length: Math.min(DELETIONS_AT_ONCE, entries.length) }, worker));
}

/** An object that is gone already is what was asked for. */
async function deleteOne(
  context: VerbContext,
  { exchange, target, options }: Deletion,
  entry: Entry,
): Promise<void> {
  const place = { ...target, namespace: entry.namespace, name: entry.name };
  try {
    await deleteObject(
      context.store,
      writeRequestOf(exchange, place, options.dryRun),
      options,
      exchange.signal,
    );
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'NotFound') throw error;
  }
}
