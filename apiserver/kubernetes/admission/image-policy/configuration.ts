import { loadKubeconfig } from '../../../../shared/client/kubeconfig';
import { isJsonObject } from '../../../../shared/object/clone';
import { fieldsOf, integer, text } from '../../../../shared/object/accessors';

export interface ImagePolicyConfiguration {
  /** A kubeconfig with the address of the webhook as its server. */
  readonly kubeConfigFile: string;
  /** How long an allowed answer is cached; 0 disables the cache. */
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  /** Wait before the first retry. */
  readonly retryBackoffMs: number;
  /** Whether pods are admitted while the webhook does not answer. */
  readonly defaultAllow: boolean;
}

/** Returns why the configuration is invalid, or undefined. */
export function imagePolicyProblem(configuration: unknown): string | undefined {
  try {
    loadKubeconfig({ path: imagePolicyConfiguration(configuration).kubeConfigFile });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Parses the configuration. Throws an Error if it is invalid. */
export function imagePolicyConfiguration(configuration: unknown): ImagePolicyConfiguration {
  if (!isJsonObject(configuration)) throw new Error('no config specified');
  const given = fieldsOf<Written>(fieldsOf<{ imagePolicy: Written }>(configuration).imagePolicy);
  return {
    kubeConfigFile: text(given.kubeConfigFile),
    retryBackoffMs: duration(given.retryBackoff, BACKOFF),
    allowTtlMs: duration(given.allowTTL, ALLOW_TTL),
    denyTtlMs: duration(given.denyTTL, DENY_TTL),
    defaultAllow: given.defaultAllow === true,
  };
}

/** As in the file: `retryBackoff` in milliseconds, the others in seconds. */
interface Written {
  readonly kubeConfigFile: string;
  readonly retryBackoff: number;
  readonly allowTTL: number;
  readonly denyTTL: number;
  readonly defaultAllow: boolean;
}

/** The value that disables a time. */
const DISABLED = -1;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

interface Duration {
  readonly name: string;
  readonly unitMs: number;
  readonly leastMs: number;
  readonly mostMs: number;
  readonly defaultMs: number;
}

const TTL = { unitMs: SECOND_MS, leastMs: SECOND_MS, mostMs: 30 * MINUTE_MS };
const BACKOFF: Duration = {
  name: 'retryBackoff',
  unitMs: 1,
  leastMs: 1,
  mostMs: 5 * MINUTE_MS,
  defaultMs: 500,
};
const ALLOW_TTL: Duration = { ...TTL, name: 'allowTTL', defaultMs: 5 * MINUTE_MS };
const DENY_TTL: Duration = { ...TTL, name: 'denyTTL', defaultMs: 30 * SECOND_MS };

function duration(given: unknown, { name, unitMs, leastMs, mostMs, defaultMs }: Duration): number {
  const value = Number(integer(given) ?? 0);
  if (value === DISABLED) return 0;
  if (value === 0) return defaultMs;
  const ms = value * unitMs;
  if (ms >= leastMs && ms <= mostMs) return ms;
  const inUnits = (bound: number): string => `${String(bound / unitMs)} ${unitMs === 1 ? 'ms' : 's'}`;
  throw new Error(
    `${name}: valid value is between ${inUnits(leastMs)} and ${inUnits(mostMs)}, got ${inUnits(ms)}`,
  );
}
