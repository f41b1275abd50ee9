import { sleep } from '../../../../shared/concurrency/abort';
import type { ResourceCache } from '../resource-cache';
import type { Watcher } from './watcher';

/** The pause between two groups of watchers. */
const STEP_MS = 50;

export interface DrainOptions {
  /** All watches that are open or begin meanwhile end within this time, evenly spread. */
  readonly spreadMs: number;
  /** Whether watches that begin from now on are refused. Without it they are served, and end in their turn. */
  readonly refuseNew: boolean;
}

/** Ends all watches of a replica that is about to go. */
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
   * Ends every watch with a bookmark, if it asked for bookmarks, the oldest first, so that the clients do not all come back elsewhere
   * at once. One that comes back here, because nobody has told its way in yet, ends after those that were there before. Resolves when
   * none is open any more; when the signal aborts, those that are left end at once.
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
