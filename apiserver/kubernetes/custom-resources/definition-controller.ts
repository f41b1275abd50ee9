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

/** Definitions that are looked at, and those that are cleaned up behind, side by side. The latter may take long. */
const WORKERS = 4;
const RETRIES = { retryInitialMs: 200, retryMaxMs: 30_000 };

export interface DefinitionControllerOptions {
  readonly store: WriteContext;
  readonly builtIn: Registry;
  readonly custom: CustomResources;
  readonly log: Log;
  /** Told of the work. */
  readonly queues: QueueTimes;
}

/**
 * Brings definitions through their life: gives them their names, establishes them, says what is to be said of their schemas, and cleans up
 * behind those that are deleted. Every replica does all of that. What one of them decides is written only if the definition is still what
 * it was decided on, so that they agree without knowing of each other.
 */
export class DefinitionController {
  readonly #custom: CustomResources;
  readonly #writer: DefinitionWriter;
  readonly #cleanup: Cleanup;
  readonly #log: Log;
  /** What was judged of a definition and needed no further word; one entry per definition. */
  readonly #judged = new Map<string, string>();
  readonly #queue: WorkQueue;
  readonly #leavers: WorkQueue;

  constructor({ store, builtIn, custom, log, queues }: DefinitionControllerOptions) {
    this.#queue = createWorkQueue({ ...RETRIES, observer: queues.observerOf('definitions') });
    this.#leavers = createWorkQueue({ ...RETRIES, observer: queues.observerOf('definitions_cleanup') });
    this.#custom = custom;
    this.#log = log;
    this.#writer = new DefinitionWriter(store, builtIn);
    this.#cleanup = new Cleanup({ store, custom, writer: this.#writer });
    custom.follow((name) => {
      this.#lookAt(name);
    });
  }

  /** Works until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const work = { workers: WORKERS, log: this.#log };
    const reconcile = async (name: string): Promise<undefined> => this.#reconcile(name, signal);
    const cleanUp = async (name: string): Promise<Requeue | undefined> => this.#cleanup.step(name, signal);
    await Promise.all([
      runWorkers({ ...work, queue: this.#queue, reconcile }, signal),
      runWorkers({ ...work, queue: this.#leavers, reconcile: cleanUp }, signal),
    ]);
  }

  /** What one definition gains or loses, others of its group may have waited for. */
  #lookAt(name: string): void {
    this.#queue.add(name);
    const group = name.slice(name.indexOf('.') + 1);
    for (const each of this.#groupOf(group)) if (waitsForNames(each)) this.#queue.add(each.name);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<undefined> {
    await this.#prepare(name);
    // What needs no write need not be certain either.
    if (this.#nextOf(name) !== undefined) {
      await this.#custom.confirm(signal);
      const next = this.#nextOf(name);
      if (next !== undefined) await this.#writer.write(next, 'status', signal);
    } else if (this.#custom.definition(name)?.awaitsCleanup === true) {
      this.#leavers.add(name);
    }
    return undefined;
  }

  /** Judging a schema compiles its patterns. */
  async #prepare(name: string): Promise<void> {
    const definition = this.#custom.definition(name);
    if (definition === undefined || this.#judged.get(name) === definition.judged) return;
    const object = this.#custom.source(name)?.object;
    if (object !== undefined) await warmPatterns([object.spec], INSTRUCTIONS_MAX);
  }

  /** The definition with what is to be said next in its status; undefined where nothing is. */
  #nextOf(name: string): CustomResourceDefinition | undefined {
    const definition = this.#custom.definition(name);
    if (definition === undefined) {
      this.#judged.delete(name);
      return undefined;
    }
    const group = [...this.#groupOf(definition.group)];
    if (this.#isSettled(definition, group)) return undefined;
    const object = this.#custom.source(name)?.object;
    if (object === undefined) return undefined;
    const next = withNextStatus(object, definition, { group, nowMs: this.#writer.nowMs });
    if (next !== object) return next;
    this.#judged.set(name, definition.judged);
    return undefined;
  }

  /** Tells without reading the definition, which takes a while if it is a long one. */
  #isSettled(definition: Definition, group: readonly Definition[]): boolean {
    const { name, judged, isEstablished, namesAccepted } = definition;
    if (this.#judged.get(name) !== judged) return false;
    return (isEstablished || namesAccepted?.status !== 'True') && isNamed(definition, group);
  }

  *#groupOf(group: string): IterableIterator<Definition> {
    for (const each of this.#custom.definitions) if (each.group === group) yield each;
  }
}
