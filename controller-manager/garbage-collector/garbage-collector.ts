import type { LinkedAbort } from '../../shared/concurrency/linked-abort';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { pause } from '../../shared/concurrency/pause';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { runWorkers } from '../../shared/concurrency/work-loop';
import type { WorkQueue } from '../../shared/concurrency/work-queue';
import { getRetryAfterMs } from '../../shared/errors/status-error';
import type { Log } from '../../shared/log/log';
import { resourceNameOf } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { Finalizers } from './finalizers';
import { Garbage } from './garbage';
import { OwnershipGraph } from './graph';
import { AbsentOwners } from './owners';
import type { Located } from './references';

export interface CollectorTimings {
  /** Interval of periodic discovery, in milliseconds. */
  readonly discoveryPeriodMs: number;
  /** Minimum interval between two discoveries, in milliseconds. */
  readonly discoveryPauseMs: number;
  /** How long events of different resources may be out of order, in milliseconds. */
  readonly settleMs: number;
  /** Retry interval for undecided objects, in milliseconds. */
  readonly retryMs: number;
  /** How long the start waits for resources that cannot be listed, in milliseconds. */
  readonly listedWithinMs: number;
  /** How long orphaning and foreground deletions wait for resources that cannot be listed, in milliseconds. */
  readonly gapPatienceMs: number;
}

const TIMINGS: CollectorTimings = {
  discoveryPeriodMs: 30_000,
  discoveryPauseMs: 1_000,
  settleMs: 500,
  retryMs: 30_000,
  listedWithinMs: 30_000,
  gapPatienceMs: 10_000,
};

/** Resources whose objects define other resources. */
const DEFINITIONS: ReadonlySet<string> = new Set([
  resourceNameOf({ group: GROUP.apiextensions, resource: 'customresourcedefinitions' }),
  resourceNameOf({ group: GROUP.apiregistration, resource: 'apiservices' }),
]);

/**
 * Runs the garbage collector: deletes dependents of absent owners and carries out the finalizers `orphan` and `foregroundDeletion`.
 * Resolves when the signal has aborted and all work has ended.
 */
export async function runGarbageCollector(
  context: ControllerContext,
  signal: AbortSignal,
  timings: Partial<CollectorTimings> = {},
): Promise<void> {
  const collector = new GarbageCollector(context, { ...TIMINGS, ...timings });
  const { concurrentGcSyncs } = context.options;
  await Promise.all([collector.keepGraph(signal), collector.work(concurrentGcSyncs, signal)]);
}

class GarbageCollector {
  readonly #log: Log;
  readonly #timings: CollectorTimings;
  /** Work items are uids. */
  readonly #queue: WorkQueue;
  readonly #graph: OwnershipGraph;
  readonly #finalizers: Finalizers;
  readonly #garbage: Garbage;
  readonly #discovered: Promise<void>;
  #markDiscovered: () => void = () => undefined;
  readonly #definitions = { noted: 0, discovered: -1 };
  #nap: LinkedAbort | undefined;

  constructor({ client, log, createQueue, clock }: ControllerContext, timings: CollectorTimings) {
    this.#log = log;
    this.#queue = createQueue({ flowOf: (uid) => this.#graph.namespaceOf(uid) });
    this.#timings = timings;
    this.#graph = new OwnershipGraph(client, log, {
      onPresent: (before, present) => {
        this.#noteDefinition(present);
        this.#finalizers.onPresent(before, present);
        this.#garbage.onPresent(before, present);
      },
      onGone: (last, how) => {
        this.#noteDefinition(last);
        const isReleased = this.#finalizers.has(last.object.metadata.uid ?? '');
        this.#finalizers.onGone(last);
        this.#garbage.onGone(last, { how, isReleased });
      },
    });
    const sources = { client, graph: this.#graph, absent: new AbsentOwners() };
    const { settleMs, retryMs, gapPatienceMs } = timings;
    const parts = { ...sources, queue: this.#queue, log, settleMs, clock };
    this.#finalizers = new Finalizers({ ...parts, gapPatienceMs, definitions: this.#definitions });
    this.#garbage = new Garbage({ ...parts, retryMs });
    this.#discovered = new Promise((resolve) => {
      this.#markDiscovered = resolve;
    });
  }

  get #isOutdated(): boolean {
    return this.#definitions.discovered < this.#definitions.noted;
  }

  /** Keeps the graph up to date. Resolves when the signal has aborted and all informers have ended. */
  async keepGraph(signal: AbortSignal): Promise<void> {
    const { discoveryPeriodMs, discoveryPauseMs } = this.#timings;
    while (!signal.aborted) {
      const { noted } = this.#definitions;
      try {
        await this.#graph.refresh(signal);
        this.#definitions.discovered = noted;
        this.#markDiscovered();
      } catch (error) {
        if (signal.aborted) break;
        this.#log.warn({ error: error instanceof Error ? error.message : String(error) }, 'discovery failed');
        this.#definitions.discovered = -1;
      }
      await pause(discoveryPauseMs, signal);
      await this.#napUnlessOutdated(discoveryPeriodMs - discoveryPauseMs, signal);
      const gaps = this.#graph.gaps(0);
      if (gaps.length > 0 && this.#finalizers.size > 0 && !signal.aborted) {
        this.#log.warn(
          { gaps, waiting: this.#finalizers.size },
          'dependents may be unknown; orphaning and foreground deletions wait for them for a while',
        );
      }
    }
    // No further discovery will follow.
    this.#markDiscovered();
    await this.#graph.ended();
  }

  /** Works until the signal aborts. Starting before everything is listed would query the server for owners that are about to be seen. */
  async work(workers: number, signal: AbortSignal): Promise<void> {
    const queue = this.#queue;
    const log = this.#log;
    const timings = this.#timings;
    await this.#discovered;
    if (signal.aborted) return;
    try {
      const missing = await this.#graph.whenListed(timings.listedWithinMs, signal);
      if (missing.length > 0)
        log.warn({ missing }, 'failed to list some resources; continuing with the rest');
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const reconcile = async (uid: string, stop: AbortSignal): Promise<Requeue | undefined> =>
      this.#finalizers.has(uid) ? this.#finalizers.reconcile(uid, stop) : this.#garbage.reconcile(uid, stop);
    await runWorkers({ queue, workers, log, reconcile, retryAfterMs: getRetryAfterMs }, signal);
  }

  #noteDefinition({ resource }: Located): void {
    if (!DEFINITIONS.has(resourceNameOf(resource))) return;
    this.#definitions.noted += 1;
    this.#nap?.abort(new Error('something was defined'));
  }

  async #napUnlessOutdated(ms: number, signal: AbortSignal): Promise<void> {
    if (this.#isOutdated) return;
    this.#nap = linkedAbort(signal);
    await pause(ms, this.#nap.signal);
    this.#nap.unlink();
    this.#nap = undefined;
  }
}
