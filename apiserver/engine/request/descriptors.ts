import { readFileSync } from 'node:fs';

/** Descriptors for the store, worker threads, logs and certificate files, so that connections never take them. */
const RESERVE = 512;
/** In a process with few descriptors. */
const RESERVE_PART = 1 / 4;
/** The part of the others that connections of clients may take; the rest is for connections to other servers. */
const CLIENTS_PART = 3 / 4;

/** How many descriptors the connections of a process may take. */
export interface DescriptorShares {
  readonly clients: number;
  readonly backends: number;
}

/**
 * Divides the descriptors that the process may open.
 *
 * @param openFilesMax the limit of the process (`ulimit -n`); Infinity: unknown or none
 */
export function descriptorShares(openFilesMax = readOpenFilesMax()): DescriptorShares {
  const free = openFilesMax - Math.min(RESERVE, openFilesMax * RESERVE_PART);
  return { clients: Math.floor(free * CLIENTS_PART), backends: Math.floor(free * (1 - CLIENTS_PART)) };
}

/** Reads the soft limit, which Node raises to the hard one when it starts. Infinity where the system has no `/proc`. */
function readOpenFilesMax(): number {
  let text = '';
  try {
    text = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return Infinity;
  }
  const [, limit] = /^Max open files\s+(\d+)/mu.exec(text) ?? [];
  return limit === undefined ? Infinity : Number(limit);
}
