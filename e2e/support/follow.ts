import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, WatchEvent } from './client';

export interface FollowOptions {
  /** When the connection to one client breaks, the watch resumes at the next from the last version seen. */
  readonly clients: readonly ApiClient[];
  /** The collection, without a query. */
  readonly path: string;
  readonly from: string;
  readonly onEvent: (event: WatchEvent) => void;
}

/**
 * Watches with resumption until `signal` aborts. Rejects on an ERROR event (such as 410), because the history must still exist.
 */
export async function follow(options: FollowOptions, signal: AbortSignal): Promise<void> {
  let resourceVersion = options.from;
  for (let turn = 0; !signal.aborted; turn++) {
    const client = options.clients[turn % options.clients.length];
    if (client === undefined) throw new Error('no client to watch with');
    try {
      for await (const event of client.watch(
        `${options.path}?watch=true&resourceVersion=${resourceVersion}`,
        signal,
      )) {
        if (event.type === 'ERROR') throw new WatchRefused(JSON.stringify(event.object));
        resourceVersion = event.object.metadata?.resourceVersion ?? resourceVersion;
        options.onEvent(event);
      }
    } catch (error) {
      if (error instanceof WatchRefused) throw error;
    }
    if (!signal.aborted) await delay(RECONNECT_DELAY_MS);
  }
}

class WatchRefused extends Error {}

const RECONNECT_DELAY_MS = 100;
