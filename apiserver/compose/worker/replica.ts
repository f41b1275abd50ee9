import { queryOf } from '../../engine/request/query-of';
import { setMaxListeners } from 'node:events';
import { systemClock } from '../../../shared/concurrency/clock';
import { defined } from '../../../shared/defined';
import type { Log } from '../../../shared/log/log';
import { encoderOf } from '../../engine/encoding/encoder-of';
import { statusErrorOf } from '../../engine/server/error-handler';
import { createAuthentication } from '../authentication';
import type { ServerOptions } from '../options/server-options';
import { planeOfOptions, verbContextOf } from '../create-plane';
import type { Backend } from '../../engine/storage/backend';
import { storeNames } from '../../engine/storage/open';
import { converting } from '../../engine/registry/conversion-needed';
import { answerResource } from '../../engine/handlers/dispatch';
import { measuresOf, takeMeasured } from './measured';
import type { RequestServices } from '../../engine/workers/serve-requests';

export interface ReplicaParts {
  readonly backend: Backend;
  readonly log: Log;
}

/**
 * Starts a replica within this process. It handles requests for resources as any replica, and does no background work. The inputs of
 * plugins and access control are cached; everything else is read from the store. Resolves when it can answer.
 */
export async function startReplica(options: ServerOptions, parts: ReplicaParts): Promise<RequestServices> {
  const { backend, log } = parts;
  const shutdown = new AbortController();
  setMaxListeners(0, shutdown.signal);
  const plane = planeOfOptions(
    { ...options, watchCache: { ...options.watchCache, checkIntervalMs: 0 } },
    { backend, clock: systemClock, log, shutdownSignal: shutdown.signal, fills: 'on demand' },
  );
  const authentication = createAuthentication(options.authentication, {
    plane,
    clock: systemClock,
    log,
    shutdownSignal: shutdown.signal,
  });
  await plane.cache.start(shutdown.signal);
  await plane.custom.start(shutdown.signal);
  await plane.cache.whenWantedReady(shutdown.signal);
  const opened = { backend, names: storeNames(options.store) };
  const verbs = verbContextOf(options, { plane, authentication, opened });
  return {
    answer: async (exchange) => answerResource(verbs, exchange),
    element: ({ event, group, version, resource, accept, search, bytes, fields, isShown }) => {
      const endpoint = plane.registry().endpoint(group, version, resource);
      if (endpoint === undefined) throw new Error(`${resource} are not served`);
      const links = verbs.features.selfLinks ? ({ showsLinks: true } as const) : {};
      const asked = { headers: defined({ accept }), query: queryOf(search), ...links };
      const shown = isShown ? { isShown } : {};
      const source = { bytes, transient: true, ...defined({ fields }), ...shown } as const;
      const encoder = encoderOf(asked, endpoint, event === undefined ? 'list' : 'stream');
      return converting(
        () => (event === undefined ? encoder.element(source) : encoder.frame(event, source)),
        shutdown.signal,
      );
    },
    takeMeasured: () => takeMeasured(measuresOf(plane)),
    statusOf: statusErrorOf,
  };
}
