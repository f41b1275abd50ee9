import type { Exchange } from '../request/exchange';
import { holderOf, isSystemUser } from '../request/holder';

/** A request that waits for the worker, or runs there. */
export interface Job {
  readonly exchange: Exchange;
  readonly bytes: number;
  /** The key of {@link flowOf}. */
  readonly flow: string;
  readonly reject: (error: unknown) => void;
}

export interface LaneLimits {
  /** Concurrent jobs, each of another flow. */
  readonly runningMax: number;
  /** Waiting jobs and their bytes: of all flows, and of one. */
  readonly waitingMax: number;
  readonly waitingOfFlowMax: number;
  readonly bytesMax: number;
  readonly bytesOfFlowMax: number;
}

/**
 * Returns the flow of a request: its holder, so that a tenant gains nothing by more accounts. The controllers of the
 * control plane do not wait for each other.
 */
export function flowOf({ user }: Pick<Exchange, 'user'>): string {
  return isSystemUser(user) ? user.name : holderOf(user);
}

/**
 * A queue of jobs in which flows take turns, one running job each (round-robin). A full queue drops the newest job of
 * the flow that has the most, never a job of a flow with less than the newcomer's.
 */
export class Lane<Of extends Job> {
  readonly #limits: LaneLimits;
  /** The waiting jobs of each flow, which are never empty. The first flow has waited the longest for its turn. */
  readonly #flows = new Map<string, Of[]>();
  readonly #running = new Set<string>();
  #waiting = 0;
  #bytes = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Adds a job. Returns the job that must be refused for it, which may be the job itself and is not in the queue;
   * undefined if there is room.
   */
  add(job: Of): Of | undefined {
    const { waitingMax, waitingOfFlowMax, bytesMax, bytesOfFlowMax } = this.#limits;
    const own = this.#flows.get(job.flow) ?? [];
    if (own.length >= waitingOfFlowMax || sumOfBytes(own) + job.bytes > bytesOfFlowMax) return job;
    own.push(job);
    this.#flows.set(job.flow, own);
    this.#waiting += 1;
    this.#bytes += job.bytes;
    if (this.#waiting <= waitingMax && this.#bytes <= bytesMax) return undefined;
    const dropped = this.#largestFlow(job.flow).at(-1);
    if (dropped !== undefined) this.remove(dropped);
    return dropped;
  }

  /** Removes a waiting job; returns false if it does not wait. */
  remove(job: Of): boolean {
    const jobs = this.#flows.get(job.flow);
    const at = jobs?.indexOf(job) ?? -1;
    if (jobs === undefined || at < 0) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#flows.delete(job.flow);
    this.#waiting -= 1;
    this.#bytes -= job.bytes;
    return true;
  }

  /** Takes the next job that may run, until {@link ended} is called for it. */
  take(): Of | undefined {
    if (this.#running.size >= this.#limits.runningMax) return undefined;
    for (const [flow, [job]] of this.#flows) {
      if (job === undefined || this.#running.has(flow)) continue;
      this.remove(job);
      const rest = this.#flows.get(flow);
      // To the end of the line.
      if (rest !== undefined && this.#flows.delete(flow)) this.#flows.set(flow, rest);
      this.#running.add(flow);
      return job;
    }
    return undefined;
  }

  ended(job: Of): void {
    this.#running.delete(job.flow);
  }

  /** Returns the jobs of the flow with the largest part of the queue; among equals those of the newcomer. */
  #largestFlow(newcomer: string): readonly Of[] {
    const { waitingMax, bytesMax } = this.#limits;
    const partOf = (jobs: readonly Of[]): number =>
      Math.max(jobs.length / waitingMax, sumOfBytes(jobs) / bytesMax);
    let largest = this.#flows.get(newcomer) ?? [];
    let most = partOf(largest);
    for (const jobs of this.#flows.values()) {
      const part = partOf(jobs);
      if (part <= most) continue;
      most = part;
      largest = jobs;
    }
    return largest;
  }
}

function sumOfBytes(jobs: readonly Job[]): number {
  return jobs.reduce((sum, { bytes }) => sum + bytes, 0);
}
