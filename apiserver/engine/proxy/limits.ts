/** The bounds of connections that lead through this server to others. Times in milliseconds. */

/** How many there may be at a time, each with its client's; more are 429. */
export const CONNECTIONS_MAX = 10_000;

/** How long nothing may come over a connection in either direction: as long as a node agent waits. */
export const IDLE_MS_MAX = 4 * 60 * 60 * 1_000;

/** How long the other server may take until it answers a request to upgrade. */
export const UPGRADE_MS_MAX = 60_000;

/** The time to connect to what is no agent of a node. */
export const DIAL_MS_MAX = 30_000;

/** How long nothing comes over a connection before TCP asks whether its other end is still there. */
export const TCP_KEEP_ALIVE_MS = 30_000;
