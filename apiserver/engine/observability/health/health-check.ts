import type { Clock } from '../../../../shared/concurrency/clock';

export const HEALTH_PATHS = ['healthz', 'livez', 'readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

/** A health check. */
export interface HealthCheck {
  /** Shown in the verbose answer, and the last part of the path of the check. It may contain slashes. */
  readonly name: string;
  readonly paths: readonly HealthPath[];
  /** True for a startup check: `/livez` ignores its failure during `--livez-grace-period`. */
  readonly isStartup?: boolean;
  /** Returns undefined if healthy, else the problem. A rejection is a failure too. */
  readonly check: (signal: AbortSignal) => Promise<string | undefined>;
}

/** Passes as long as the process runs. */
export const ping: HealthCheck = {
  name: 'ping',
  paths: HEALTH_PATHS,
  check: async () => Promise.resolve(undefined),
};

/** Fails if the last log line could not be written. */
export function logCheck(lastError: () => Error | undefined): HealthCheck {
  return { name: 'log', paths: HEALTH_PATHS, check: async () => Promise.resolve(lastError()?.message) };
}

/** Fails once the shutdown has started, so that load balancers send no more clients. */
export function shutdownCheck(isShuttingDown: () => boolean): HealthCheck {
  return {
    name: 'shutdown',
    paths: ['readyz'],
    check: async () => Promise.resolve(isShuttingDown() ? 'process is shutting down' : undefined),
  };
}

export interface LivezGrace {
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly graceMs: number;
}

/** Returns the checks of one path, in order. During the grace period, startup checks on `/livez` always pass. */
export function checksOf(
  path: HealthPath,
  checks: readonly HealthCheck[],
  grace: LivezGrace,
): readonly HealthCheck[] {
  const isForgiving = path === 'livez' && grace.clock.now() < grace.startedAt + grace.graceMs;
  return checks
    .filter((check) => check.paths.includes(path))
    .map((check) => (isForgiving && check.isStartup === true ? { ...check, check: ping.check } : check));
}
