import { systemClock } from '../../shared/concurrency/clock';
import type { HealthCheck } from '../engine/observability/health/health-check';
import { logCheck, ping, shutdownCheck } from '../engine/observability/health/health-check';
import { sharedCheck } from '../engine/observability/health/shared-check';
import type { OpenedStore } from '../engine/storage/open';
import type { ControlPlane } from './control-plane';

export interface CheckedParts {
  readonly plane: ControlPlane;
  readonly opened: OpenedStore;
  /** Check that the store can be read. */
  readonly storeChecks: readonly HealthCheck[];
  /** Check that the required objects exist. */
  readonly contentChecks: readonly HealthCheck[];
  /** Returns why the last log line could not be written. */
  readonly logFailure: () => Error | undefined;
  readonly isShuttingDown: () => boolean;
}

/** Returns the health checks of a server's components. */
export function checksOf(parts: CheckedParts): readonly HealthCheck[] {
  const { plane, opened, storeChecks, contentChecks, logFailure, isShuttingDown } = parts;
  return [
    ping,
    logCheck(logFailure),
    storeCheck(opened),
    ...storeChecks,
    cacheCheck(plane),
    customCheck(plane),
    syncedCheck(plane),
    ...contentChecks,
    shutdownCheck(isShuttingDown),
  ];
}

function storeCheck({ backend, names }: OpenedStore): HealthCheck {
  const check: HealthCheck = {
    name: names.check,
    paths: ['healthz', 'livez', 'readyz'],
    check: async (signal) => {
      await backend.currentRevision(signal);
      return undefined;
    },
  };
  return sharedCheck(check, systemClock);
}

function cacheCheck({ cache }: ControlPlane): HealthCheck {
  return {
    name: 'watch-cache',
    paths: ['readyz'],
    isStartup: true,
    check: async () => Promise.resolve(cache.notReadyReason()),
  };
}

function customCheck({ custom }: ControlPlane): HealthCheck {
  return {
    name: 'custom-resources',
    paths: ['readyz'],
    isStartup: true,
    check: async () => Promise.resolve(custom.notReadyReason()),
  };
}

/** The name in v1.21 of the check that all initial reads are complete. */
function syncedCheck({ cache, custom }: ControlPlane): HealthCheck {
  return {
    name: 'informer-sync',
    paths: ['readyz'],
    isStartup: true,
    check: async () => Promise.resolve(cache.notReadyReason() ?? custom.notReadyReason()),
  };
}
