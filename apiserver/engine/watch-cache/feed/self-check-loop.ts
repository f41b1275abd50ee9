import { TIMER_MAX_MS } from '../../../../shared/concurrency/timer-max';
import type { CacheServices } from '../context';
import type { ResourceCache } from '../resource-cache';
import { checkResource } from './self-check';

export interface SelfCheckTarget {
  readonly services: CacheServices;
  readonly resources: () => readonly ResourceCache[];
  readonly rebuild: (keyPrefix: string, why: string) => void;
}

/** Checks every resource once every `checkIntervalMs` until the signal aborts; never when that is 0. Never rejects. */
export async function keepChecking(target: SelfCheckTarget, signal: AbortSignal): Promise<void> {
  const { checkIntervalMs } = target.services.limits;
  if (checkIntervalMs === 0) return;
  while (!signal.aborted) {
    await pause(checkIntervalMs, signal);
    if (!signal.aborted) await checkAll(target, signal);
  }
}

/** Checks every resource once. A resource that differs from the store is counted, logged and rebuilt. */
export async function checkAll(target: SelfCheckTarget, signal: AbortSignal): Promise<void> {
  const { counters, log } = target.services;
  for (const cache of target.resources()) {
    if (signal.aborted) return;
    const { name: resource, keyPrefix } = cache.resource;
    try {
      const result = await checkResource(cache, signal);
      counters.checks[result.outcome] += 1;
      if (result.outcome !== 'different') continue;
      log.error({ resource, ...result.first }, 'watch cache of a resource is inconsistent with the store');
      target.rebuild(keyPrefix, `it differs from the store at ${result.first.key}`);
    } catch (error) {
      if (signal.aborted) return;
      counters.checks.skipped += 1;
      log.warn({ resource, error }, 'consistency check of the watch cache failed to run');
    }
  }
}

/** Returns early when the signal aborts. The timer does not keep the process alive. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, TIMER_MAX_MS)).unref();
    signal.addEventListener('abort', done, { once: true });
  });
}
