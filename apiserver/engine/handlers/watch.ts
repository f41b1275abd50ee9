import { StatusError, badRequest, serviceUnavailable } from '../../../shared/errors/status-error';
import { convertedFrames, unconvertedFrames } from '../encoding/converted-frames';
import { needsConversion } from '../encoding/converted-sources';
import { encoderOf } from '../encoding/encoder-of';
import { MEDIA_TYPE } from '../../../shared/names';
import { boolParameter } from '../request/bool-parameter';
import type { Answer, Exchange } from '../request/exchange';
import { holderOf } from '../request/holder';
import { isWebSocketRequest } from '../request/web-socket';
import type { ListQuery, ReadPlan } from '../registry/list-plan';
import { isAsFresh } from '../registry/read';
import type { WatchPlan } from '../registry/watch-plan';
import { checkWatchOptions, planWatch } from '../registry/watch-plan';
import { SlowReaderError } from '../request/slow-reader-error';
import type { VerbContext } from './context';
import { framesElsewhereOf } from './element-encoder';
import { listQueryOf } from './query';
import { selectionOf, selectorsOf } from './selection';
import type { Target } from './target';

const RETRY_AFTER_SECONDS = 1;
const AGENT_CHARACTERS_MAX = 200;

/**
 * GET with `watch`: a stream of frames, also over a WebSocket. With no version or `0` it begins with the
 * state as ADDED frames, with another version after that version. `sendInitialEvents` requests the state,
 * and a bookmark at its end, with any version.
 */
export async function watch(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const { query, headers } = exchange;
  const { grounds = [], delivered } = exchange;
  const encoder = encoderOf(exchange, target.endpoint, 'stream');
  if (exchange.upgrade && !isWebSocketRequest(headers)) {
    throw badRequest('a watch can only be upgraded to a WebSocket');
  }
  const options = listQueryOf(query);
  const selectors = await selectorsOf(query);
  checkWatchOptions(options);
  const selection = selectionOf(selectors, target);
  const plan = planWatch(options);
  const { stored } = target.endpoint;
  const converts = needsConversion(target.endpoint, encoder);
  const from = await startOf(context, plan, exchange.signal);
  if (encoder.refusal !== undefined) throw encoder.refusal;
  if (context.store.cache.refusesWatches) throw shuttingDown();
  const frames = context.store.cache.resource(stored.keyPrefix).watch(
    {
      from,
      namespace: selection.namespace,
      name: selection.name,
      fieldEquals: selection.fieldEquals,
      matches: selection.matches,
      representation: converts ? unconvertedFrames(target.endpoint, encoder) : encoder,
      frameWorker: converts
        ? undefined
        : framesElsewhereOf(exchange, { endpoint: target.endpoint, encoder }, context.encodeElement),
      apiVersion: target.endpoint.apiVersion,
      bookmarks: boolParameter(query, 'allowWatchBookmarks'),
      sendInitialEvents: plan.kind === 'state' && plan.announcesEnd,
      timeoutMs: timeoutMs(context, options),
      delivered,
      holder: holderOf(exchange.user),
      client: clientOf(exchange),
      labelSelector: query.get('labelSelector') ?? '',
      fieldSelector: query.get('fieldSelector') ?? '',
      guard: (refuse) => context.openWatches.hold(grounds, refuse),
      ended: (reason) => {
        // A client that does not read cannot be notified: its connection is cut.
        if (reason === 'slow') exchange.abort(new SlowReaderError());
      },
    },
    exchange.signal,
  );
  const { endpoint } = target;
  const shown = converts ? convertedFrames(frames, { endpoint, encoder }, exchange.signal) : frames;
  const isText = encoder.streamContentType === MEDIA_TYPE.json;
  return {
    code: 200,
    headers: { 'Content-Type': encoder.streamContentType },
    body: encoder.stream(shown),
    messages: isText ? 'lines' : 'length-prefixed',
  };
}

/** The client for log lines, truncated. */
function clientOf({ headers, user, remoteAddress }: Exchange): string {
  const agent = (headers['user-agent'] ?? 'unknown').slice(0, AGENT_CHARACTERS_MAX);
  return `${agent} (${user.name} at ${remoteAddress})`;
}

/**
 * Graceful shutdown: a watch that ended before its first event would make the client list again. 429 with
 * Retry-After makes it retry the watch, as in kube-apiserver (`--shutdown-send-retry-after`).
 */
function shuttingDown(): StatusError {
  return new StatusError('TooManyRequests', 'the server is shutting down, please try again', {
    details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
  });
}

/**
 * The revision after which the watch begins; undefined begins with the state. Waits until the cache is as
 * fresh as the plan requires.
 */
async function startOf(
  context: VerbContext,
  plan: WatchPlan,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (plan.kind === 'after') return plan.revision;
  await requireFreshness(context, plan.read, signal);
  if (plan.kind === 'state') return undefined;
  const { revision } = context.store.cache;
  // Revision 0 would replay the entire history.
  if (revision === 0) throw serviceUnavailable('the watch cache is being initialized', RETRY_AFTER_SECONDS);
  return revision;
}

async function requireFreshness(context: VerbContext, plan: ReadPlan, signal: AbortSignal): Promise<void> {
  // A watch of a cache that is being rebuilt begins afterwards.
  if (await isAsFresh(context.store, plan, [], signal)) return;
  throw serviceUnavailable('the watch cache is behind the store', RETRY_AFTER_SECONDS);
}

/**
 * The requested timeout, else a random time in [minimum, 2 × minimum), so that watches do not all end
 * together (thundering herd). It is in whole seconds, as timers of equal length share a list in Node.
 */
function timeoutMs(context: VerbContext, { timeoutSeconds = 0 }: ListQuery): number {
  if (timeoutSeconds !== 0) return Math.max(0, timeoutSeconds * 1000);
  const spread = context.store.randomInt(context.minRequestTimeoutMs);
  return context.minRequestTimeoutMs + spread - (spread % 1000);
}
