/** Limits of proxied connections. Times are in milliseconds. */

/** The maximum of concurrent proxied connections; more are refused with 429. */
export const CONNECTIONS_MAX = 10_000;

/** The idle timeout of a connection, the same as that of kubelets. */
export const IDLE_MS_MAX = 4 * 60 * 60 * 1_000;

/** The time limit for the answer to an upgrade request. */
export const UPGRADE_MS_MAX = 60_000;

/** The time limit to connect to pods, Services and extension API servers. */
export const DIAL_MS_MAX = 30_000;

/** The idle time before TCP keep-alive probes. */
export const TCP_KEEP_ALIVE_MS = 30_000;
