import { closeWhenAccessRevoked } from '../engine/proxy/close-when-access-revoked';
import type { Answer, Exchange, Stage } from '../engine/request/exchange';
import { mentionsYaml } from '../engine/request/mentions-yaml';
import type { VerbContext } from '../engine/handlers/context';
import { answerResource } from '../engine/handlers/dispatch';
import { READ_VERBS } from '../engine/handlers/target';
import { LOOP_BOUNDS, LOOP_BOUNDS_OF_YAML, TooLargeHereError } from '../engine/request/loop-bounds';
import type { PagesParts } from './pages';
import { createPages } from './pages';

export interface AnswerParts extends PagesParts {
  /** Answers requests that are too large for the event loop in a worker; absent: there is no limit. */
  readonly large?: { answer(exchange: Exchange): Promise<Answer> };
}

/**
 * Creates the last stage of the pipeline, which sets `answer`. Requests for resources go straight to their verb. All others go through the
 * Express routers of the pages (ADR 72). Paths of extension API servers are forwarded.
 */
export function createAnswerStage(parts: AnswerParts): Stage {
  const aggregator = parts.aggregation?.aggregator;
  const answerPage = createPages(parts);
  return async (exchange) => {
    const service = aggregator?.serviceFor(exchange.path);
    if (aggregator !== undefined && service !== undefined) {
      const aggregated = await aggregator.answer(exchange, service);
      closeWhenAccessRevoked(parts.verbs, exchange, aggregated);
      exchange.answer = aggregated;
      return;
    }
    // Upstream routes no path that begins with two slashes.
    exchange.answer =
      exchange.info.isResourceRequest && !exchange.path.startsWith('//')
        ? await answerWithinBounds(parts, exchange)
        : await answerPage(exchange);
  };
}

/**
 * Waits until the cache has all writes up to now. After a write in a worker, the next request to this server must see it, and so must
 * webhooks and roles.
 */
async function catchUp(
  { store: { cache, cacheWaitMs: timeoutMs } }: VerbContext,
  { signal }: Exchange,
): Promise<void> {
  // The write is stored, even if the store fails now.
  await cache.freshen({ of: [], timeoutMs, refill: 'wait' }, signal).catch(() => undefined);
}

/** Answers on the event loop, where nearly every request ends. One that proves too large starts again in a worker. */
function answerWithinBounds(
  { verbs, large }: Pick<AnswerParts, 'verbs' | 'large'>,
  exchange: Exchange,
): Promise<Answer> {
  if (large === undefined) return answerResource(verbs, exchange);
  exchange.bounds = mentionsYaml(exchange.headers.accept) ? LOOP_BOUNDS_OF_YAML : LOOP_BOUNDS;
  return answerResource(verbs, exchange).catch(async (error: unknown) => {
    if (!(error instanceof TooLargeHereError)) throw error;
    const answer = await large.answer(exchange);
    if (!READ_VERBS.has(exchange.info.verb)) await catchUp(verbs, exchange);
    if (error.answer === undefined) return answer;
    // A stream without a reader would keep its place in the worker.
    if (!Buffer.isBuffer(answer.body)) await answer.body[Symbol.asyncIterator]().return?.();
    return error.answer;
  });
}
