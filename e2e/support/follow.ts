import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, WatchEvent } from './client';

export interface FollowOptions {
  /** Tried in turn: when the connection to one breaks, the watch resumes at the next from the last version seen. */
  readonly clients: readonly ApiClient[];
  /** The collection, without a query. */
  readonly path: string;
  readonly from: string;
  readonly onEvent: (event: WatchEvent) => void;
}

/**
 * Watches as a careful client does, until `signal` aborts. Rejects on an event of type ERROR (such as 410): history that was promised
 * must be there.
 */
export async function follow(options: FollowOptions, signal: AbortSignal): Promise<void> {
  let resourceVersion = options.from;
  for (let turn = 0; !signal.aborted; turn++) {
    const client = options.clients[turn % options.clients.length];
    if (client === undefined) throw new Error('Nothing to watch.');
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
