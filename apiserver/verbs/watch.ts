import { MEDIA_TYPE } from '../../shared/names';
import { serviceUnavailable } from '../../shared/errors/status-error';
import { negotiateAnswer } from '../encoding/negotiation';
import type { Answer, Exchange } from '../exchange/exchange';
import { parseRevision } from '../registry/list-plan';
import { awaitFreshness } from '../registry/read';
import type { VerbContext } from './context';
import { boolParameter, intParameter } from './query';
import { selectionOf } from './selection';
import type { Target } from './target';
import { representationOf } from './target';

const RETRY_AFTER_SECONDS = 1;

/** GET with `watch`: a stream of frames. An unset version and `0` begin with the state as ADDED frames, another one behind it. */
export async function watch(context: VerbContext, exchange: Exchange, target: Target): Promise<Answer> {
  const { query, signal, headers } = exchange;
  negotiateAnswer(headers.accept);
  const selection = selectionOf(query, target);
  const version = query.get('resourceVersion') ?? '';
  const revision = version === '' ? 0 : parseRevision(version);
  if (version === '' && !(await awaitFreshness(context.store, { kind: 'most recent' }, signal))) {
    throw serviceUnavailable('the watch cache is behind the store', RETRY_AFTER_SECONDS);
  }
  const { stored } = target.endpoint;
  const frames = context.store.cache.resource(stored.keyPrefix).watch(
    {
      from: revision === 0 ? undefined : revision,
      namespace: selection.namespace,
      name: selection.name,
      fieldEquals: selection.fieldEquals,
      matches: selection.matches,
      representation: representationOf(target.endpoint),
      bookmarks: boolParameter(query, 'allowWatchBookmarks'),
      timeoutMs: timeoutMs(context, query),
      client: `${headers['user-agent'] ?? 'unknown'} (${exchange.user.name} at ${exchange.remoteAddress})`,
    },
    signal,
  );
  return { code: 200, headers: { 'Content-Type': MEDIA_TYPE.json }, body: frames };
}

/** What the client asks for, else a random time in [minimum, 2 × minimum), so that watches do not all end together. */
function timeoutMs(context: VerbContext, query: URLSearchParams): number {
  const seconds = intParameter(query, 'timeoutSeconds') ?? 0;
  if (seconds > 0) return seconds * 1000;
  return context.minRequestTimeoutMs + context.store.randomInt(context.minRequestTimeoutMs);
}
