import { setMaxListeners } from 'node:events';
import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { StatusError } from '../../../shared/errors/status-error';
import type { Answer, Exchange } from '../request/exchange';
import type { LoopBounds } from '../request/loop-bounds';
import { TooLargeHereError, keepStoredWithin } from '../request/loop-bounds';
import { deleteObject } from '../registry/delete';
import type { DeleteOptions } from '../registry/deletion';
import { checkListOptions, planList } from '../registry/list-plan';
import { readList } from '../registry/read';
import type { Entry } from '../watch-cache/state/entry';
import { convertedBefore, listAnswer } from './answers';
import type { VerbContext } from './context';
import { readDeleteOptions } from './delete-options';
import { listQueryOf } from './query';
import { chunked, withCount } from './request-features';
import { selectionOf, selectorsOf } from './selection';
import type { Target } from './target';
import { writeRequestOf } from './target';

/** Concurrent deletions of one request. */
const DELETIONS_AT_ONCE = 16;

/**
 * DELETE of a collection: every selected object is deleted by itself; 200 with the list of them as they were
 * found.
 */
export async function removeCollection(
  context: VerbContext,
  exchange: Exchange,
  target: Target,
): Promise<Answer> {
  const answer = listAnswer(exchange, target);
  const { query, signal } = exchange;
  const { endpoint } = target;
  const listOptions = listQueryOf(query);
  const selectors = await selectorsOf(query);
  checkListOptions(listOptions);
  const selection = selectionOf(selectors, target);
  const options = await readDeleteOptions(exchange, target);
  const plan = planList(chunked(listOptions, context.features));
  const page = await readList(context.store, { endpoint, selection }, plan, signal);
  // Before the first deletion: a request that is retried on a worker must not have had any effect.
  for (const { bytes } of page.entries) keepStoredWithin(exchange.bounds, bytes.length);
  const found = await convertedBefore(exchange, target, page);
  const hasMore = page.metadata.continue !== undefined;
  const deletion = { exchange, target, options, hasMore };
  const isLeft = await deleteAll(context, deletion, page.entries);
  const answered = await answer(withCount(found, context.features));
  if (isLeft) throw new TooLargeHereError('the rest of a collection', answered);
  return answered;
}

interface Deletion {
  readonly exchange: Exchange;
  readonly target: Target;
  readonly options: DeleteOptions;
  /** Whether the collection has objects after these: a worker that repeats the request would delete some of them. */
  readonly hasMore: boolean;
}

/**
 * Deletes the largest object first, within the bounds of the request: if its admission takes too long for the event loop, a worker can
 * still delete the whole collection. Returns whether objects are left that only a worker can delete. Throws the first error once all
 * running deletions have ended; no deletion starts after it.
 */
async function deleteAll(
  context: VerbContext,
  deletion: Deletion,
  entries: readonly Entry[],
): Promise<boolean> {
  const [first, ...others] = entries;
  if (first === undefined) return false;
  const { bounds, signal } = deletion.exchange;
  const largest = others.reduce((a, b) => (b.bytes.length > a.bytes.length ? b : a), first);
  await deleteOne(context, deletion, largest, bounds);
  const rest = entries.filter((entry) => entry !== largest);
  // Each running deletion listens to the signal; Node would report a leak.
  setMaxListeners(0, signal);
  const progress = { hasFailed: false, isLeft: false };
  await forEachLimited(untilFailed(rest, progress), DELETIONS_AT_ONCE, async (entry) => {
    try {
      await deleteOne(context, deletion, entry, deletion.hasMore ? undefined : bounds);
    } catch (error) {
      if (error instanceof TooLargeHereError) progress.isLeft = true;
      else {
        progress.hasFailed = true;
        throw error;
      }
    }
  });
  return progress.isLeft;
}

function* untilFailed(
  entries: readonly Entry[],
  progress: { readonly hasFailed: boolean },
): IterableIterator<Entry> {
  for (const entry of entries) {
    if (progress.hasFailed) return;
    yield entry;
  }
}

/** An object that is gone already counts as deleted. */
async function deleteOne(
  context: VerbContext,
  { exchange, target, options }: Deletion,
  entry: Entry,
  bounds: LoopBounds | undefined,
): Promise<void> {
  const place = { ...target, namespace: entry.namespace, name: entry.name };
  try {
    await deleteObject(
      context.store,
      { ...writeRequestOf(exchange, place, options.dryRun), bounds },
      options,
      exchange.signal,
    );
  } catch (error) {
    if (!(error instanceof StatusError) || error.status.reason !== 'NotFound') throw error;
  }
}
