import { sleep } from '../../../../shared/concurrency/abort';
import type { ResourceCache } from '../resource-cache';
import type { Watcher } from './watcher';

/** The pause between two groups of watchers. */
const STEP_MS = 50;

export interface DrainOptions {
  /** All watches, including those that begin meanwhile, end within this time, evenly spread to avoid a thundering herd. */
  readonly spreadMs: number;
  /** Whether new watches are refused. Otherwise they are served, and end in their turn. */
  readonly refuseNew: boolean;
}

/** Ends all watches of a replica that shuts down. */
export class WatchDrain {
  readonly #caches: () => readonly ResourceCache[];
  #refusesNew = false;

  constructor(caches: () => readonly ResourceCache[]) {
    this.#caches = caches;
  }

  get refusesNew(): boolean {
    return this.#refusesNew;
  }

  /**
   * Ends every watch, the oldest first, with a bookmark if the client requested bookmarks. A client that reconnects to this replica ends
   * after the earlier watches. Resolves when no watch is open; when the signal aborts, the remaining watches end at once.
   */
  async run({ spreadMs, refuseNew }: DrainOptions, signal: AbortSignal): Promise<void> {
    this.#refusesNew ||= refuseNew;
    const endsAt = performance.now() + spreadMs;
    let due = 0;
    for (;;) {
      const open = this.#open();
      if (open.length === 0 && this.#refusesNew) return;
      const steps = signal.aborted ? 0 : Math.ceil((endsAt - performance.now()) / STEP_MS);
      due += open.length / (Math.max(steps, 0) + 1);
      const ending = open.slice(0, steps > 0 ? Math.floor(due) : open.length);
      due -= ending.length;
      for (const { cache, watcher } of ending) cache.watches.end(watcher, 'drain');
      if (steps <= 0) return;
      await sleep(Math.min(STEP_MS, Math.max(0, endsAt - performance.now())), signal).catch(() => undefined);
    }
  }

  #open(): { readonly cache: ResourceCache; readonly watcher: Watcher }[] {
    return this.#caches()
      .flatMap((cache) => cache.watches.open().map((watcher) => ({ cache, watcher })))
      .sort((a, b) => a.watcher.startedAt - b.watcher.startedAt);
  }
}
