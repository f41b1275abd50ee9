import { descriptorShares } from '../request/descriptors';

/** Limits of proxied connections. Times are in milliseconds. */

/** The maximum of concurrent proxied connections, and the minimum in a small process. */
const CONNECTIONS_MAX = 10_000;
const CONNECTIONS_MIN = 256;
/** Memory of a proxied request with its two connections. */
const CONNECTION_BYTES = 96 * 1_024;
const MEMORY_PART = 1 / 2;

/**
 * Returns how many connections may be open in a process that may hold so many bytes in flight; more are 429. There are
 * never more than its descriptors for them.
 */
export function connectionsMax(inFlightBytesMax: number, descriptors = descriptorShares().backends): number {
  const affordable = Math.floor((inFlightBytesMax * MEMORY_PART) / CONNECTION_BYTES);
  return Math.min(descriptors, CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, affordable));
}

/** The time limit for the headers of an answer that no shorter limit bounds. */
export const HEAD_MS_MAX = 10 * 60 * 1_000;

/** The idle timeout of a connection, the same as that of kubelets. */
export const IDLE_MS_MAX = 4 * 60 * 60 * 1_000;

/** The time limit for the answer to an upgrade request. */
export const UPGRADE_MS_MAX = 60_000;

/** The time limit to connect to pods, Services and extension API servers. */
export const DIAL_MS_MAX = 30_000;

/** The idle time before TCP keep-alive probes. */
export const TCP_KEEP_ALIVE_MS = 30_000;
