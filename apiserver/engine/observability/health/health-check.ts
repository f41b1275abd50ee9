import type { Clock } from '../../../../shared/concurrency/clock';

export const HEALTH_PATHS = ['healthz', 'livez', 'readyz'] as const;
export type HealthPath = (typeof HEALTH_PATHS)[number];

/** One thing that has to be in order. */
export interface HealthCheck {
  /** Shown in the verbose answer, and the last part of the path of the single check. It may hold slashes. */
  readonly name: string;
  readonly paths: readonly HealthPath[];
  /** True for a part of the start: while `--livez-grace-period` lasts, /livez takes its failure for health. */
  readonly isStartup?: boolean;
  /** Undefined when all is well, else what is wrong. A rejection counts as failure too. */
  readonly check: (signal: AbortSignal) => Promise<string | undefined>;
}

/** Answers as long as the process does. */
export const ping: HealthCheck = {
  name: 'ping',
  paths: HEALTH_PATHS,
  check: async () => Promise.resolve(undefined),
};

/** Fails when the log's last line could not be written. */
export function logCheck(lastError: () => Error | undefined): HealthCheck {
  return { name: 'log', paths: HEALTH_PATHS, check: async () => Promise.resolve(lastError()?.message) };
}

/** Fails from the moment the process was asked to stop, so that load balancers send nobody here any more. */
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

/** The checks of one path, in order, with those of the start forgiven on /livez while the grace lasts. */
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
