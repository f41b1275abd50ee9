import type { CustomResourceDefinition } from '../../../shared/api/types/apiextensions-v1';
import type { Requeue } from '../../../shared/concurrency/work-loop';
import { runWorkers } from '../../../shared/concurrency/work-loop';
import type { QueueTimes } from '../../../shared/concurrency/queue-times';
import type { WorkQueue } from '../../../shared/concurrency/work-queue';
import { createWorkQueue } from '../../../shared/concurrency/work-queue';
import type { Log } from '../../../shared/log/log';
import { warmPatterns } from '../../../shared/structural/warm-patterns';
import { INSTRUCTIONS_MAX } from '../kinds/apiextensions/crd-structure';
import type { Registry } from '../../engine/registry/registry';
import type { WriteContext } from '../../engine/registry/write-context';
import { Cleanup } from './cleanup';
import type { CustomResources } from './custom-resources';
import type { Definition } from './definition';
import { withNextStatus } from './definition-status';
import { DefinitionWriter } from './definition-writer';
import { isNamed, waitsForNames } from './naming';

/** Number of concurrent workers of each queue. Cleanups may take long, so they have their own queue. */
const WORKERS = 4;
const RETRIES = { retryInitialMs: 200, retryMaxMs: 30_000 };

export interface DefinitionControllerOptions {
  readonly store: WriteContext;
  readonly builtIn: Registry;
  readonly custom: CustomResources;
  readonly log: Log;
  /** Receives the queue metrics. */
  readonly queues: QueueTimes;
}

/**
 * Runs the lifecycle of definitions: accepts names, establishes, reports schema problems, and cleans up after deletion. Every replica
 * runs it. Each decision is written only if the definition is unchanged, so that replicas agree without coordination.
 */
export class DefinitionController {
  readonly #custom: CustomResources;
  readonly #writer: DefinitionWriter;
  readonly #cleanup: Cleanup;
  readonly #log: Log;
  /** The fingerprint of definitions that need no further status; one entry per definition. */
  readonly #settled = new Map<string, string>();
  readonly #queue: WorkQueue;
  readonly #cleanupQueue: WorkQueue;

  constructor({ store, builtIn, custom, log, queues }: DefinitionControllerOptions) {
    this.#queue = createWorkQueue({ ...RETRIES, observer: queues.observerOf('definitions') });
    this.#cleanupQueue = createWorkQueue({ ...RETRIES, observer: queues.observerOf('definitions_cleanup') });
    this.#custom = custom;
    this.#log = log;
    this.#writer = new DefinitionWriter(store, builtIn);
    this.#cleanup = new Cleanup({ store, custom, writer: this.#writer });
    custom.follow((name) => {
      this.#enqueue(name);
    });
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const work = { workers: WORKERS, log: this.#log };
    const reconcile = async (name: string): Promise<undefined> => this.#reconcile(name, signal);
    const cleanUp = async (name: string): Promise<Requeue | undefined> => this.#cleanup.step(name, signal);
    await Promise.all([
      runWorkers({ ...work, queue: this.#queue, reconcile }, signal),
      runWorkers({ ...work, queue: this.#cleanupQueue, reconcile: cleanUp }, signal),
    ]);
  }

  /** Other definitions of the group may wait for the names of this one. */
  #enqueue(name: string): void {
    this.#queue.add(name);
    const group = name.slice(name.indexOf('.') + 1);
    for (const each of this.#groupOf(group)) if (waitsForNames(each)) this.#queue.add(each.name);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<undefined> {
    await this.#prepare(name);
    // A decision without a write does not need a confirmed state.
    if (this.#nextOf(name) !== undefined) {
      await this.#custom.confirm(signal);
      const next = this.#nextOf(name);
      if (next !== undefined) await this.#writer.write(next, 'status', signal);
    } else if (this.#custom.definition(name)?.awaitsCleanup === true) {
      this.#cleanupQueue.add(name);
    }
    return undefined;
  }

  /** Schema validation compiles patterns, which can be slow. */
  async #prepare(name: string): Promise<void> {
    const definition = this.#custom.definition(name);
    if (definition === undefined || this.#settled.get(name) === definition.conditionsKey) return;
    const object = this.#custom.source(name)?.object;
    if (object !== undefined) await warmPatterns([object.spec], INSTRUCTIONS_MAX);
  }

  /** Returns the definition with its next status; undefined if the status is up to date. */
  #nextOf(name: string): CustomResourceDefinition | undefined {
    const definition = this.#custom.definition(name);
    if (definition === undefined) {
      this.#settled.delete(name);
      return undefined;
    }
    const group = [...this.#groupOf(definition.group)];
    if (this.#isSettled(definition, group)) return undefined;
    const object = this.#custom.source(name)?.object;
    if (object === undefined) return undefined;
    const next = withNextStatus(object, definition, { group, nowMs: this.#writer.nowMs });
    if (next !== object) return next;
    this.#settled.set(name, definition.conditionsKey);
    return undefined;
  }

  /** Answers from the summary, because parsing a long definition is slow. */
  #isSettled(definition: Definition, group: readonly Definition[]): boolean {
    const { name, conditionsKey, isEstablished, namesAccepted } = definition;
    if (this.#settled.get(name) !== conditionsKey) return false;
    return (isEstablished || namesAccepted?.status !== 'True') && isNamed(definition, group);
  }

  *#groupOf(group: string): IterableIterator<Definition> {
    for (const each of this.#custom.definitions) if (each.group === group) yield each;
  }
}
