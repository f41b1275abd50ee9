import { sleep } from '../../shared/concurrency/abort';
import type { ResourceCache } from './resource-cache';

/** The pause between two groups of watchers. */
const STEP_MS = 50;

/** See `ClusterCache.drain`. When the signal aborts, those that are left end at once. */
export async function drainWatchers(
  caches: () => readonly ResourceCache[],
  durationMs: number,
  signal: AbortSignal,
): Promise<void> {
  const first = caches().flatMap((cache) => cache.openWatchers().map((watcher) => ({ cache, watcher })));
  const steps = Math.max(1, Math.ceil(durationMs / STEP_MS));
  for (let step = 1; step < steps && !signal.aborted; step += 1) {
    const upTo = Math.floor((first.length * step) / steps);
    for (const { cache, watcher } of first.slice(Math.floor((first.length * (step - 1)) / steps), upTo)) {
      cache.end(watcher, 'drain');
    }
    await sleep(STEP_MS, signal).catch(() => undefined);
  }
  for (const cache of caches()) for (const watcher of cache.openWatchers()) cache.end(watcher, 'drain');
}
