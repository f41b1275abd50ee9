import type { Client } from '../../shared/client/client';
import { METADATA_ONLY } from '../../shared/client/client';
import type { ResourceRow } from '../../shared/client/discovery';
import { discover, metadataResources } from '../../shared/client/discovery';
import type { Clock } from '../../shared/concurrency/clock';
import type { LinkedAbort } from '../../shared/concurrency/linked-abort';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { pause } from '../../shared/concurrency/pause';
import { defined } from '../../shared/defined';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { Log } from '../../shared/log/log';
import type { ApiObject } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { getEvaluator } from '../../shared/quota/evaluators';
import type { Evaluator, Measured } from '../../shared/quota/measure';

/** A counted object: only its name and its quota usage are kept. */
export interface CountedObject extends ApiObject {
  readonly measured: Measured;
}

/** Called for every change. `before` is undefined for a new object, `after` for a deleted one. */
export type CountedListener = (evaluator: Evaluator, before?: CountedObject, after?: CountedObject) => void;

/** A resource that quotas can count. */
export interface Countable {
  readonly row: ResourceRow;
  readonly evaluator: Evaluator;
}

interface Branch {
  readonly informer: Informer<CountedObject>;
  /** The newest resourceVersion that the informer has seen. */
  readonly newest: () => number;
  readonly startedMs: number;
  readonly stop: LinkedAbort;
  readonly running: Promise<void>;
}

/** Number of checks whether the informer has caught up with the server, and their interval. */
const CURRENT_TRIES = 10;
const CURRENT_RETRY_MS = 20;
const VERBS = ['create', 'list', 'watch', 'delete'];
const BY_NAMESPACE = 'namespace';

/** The objects that quotas count, from one informer for each resource that a quota names. */
export class CountedObjects {
  readonly #client: Client;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #listener: CountedListener;
  readonly #branches = new Map<string, Branch>();
  #countable: readonly Countable[] | undefined;
  #unknownVersions: readonly string[] = [];

  constructor(parts: { client: Client; log: Log; clock: Clock; listener: CountedListener }) {
    this.#client = parts.client;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#listener = parts.listener;
  }

  /** Runs discovery. Returns true if the resources changed. */
  async refresh(signal: AbortSignal): Promise<boolean> {
    const { resources, failures } = await discover(this.#client, { signal });
    this.#unknownVersions = failures.map(({ groupVersion }) => groupVersion);
    const found = metadataResources(resources)
      .filter(({ namespaced, verbs }) => namespaced && VERBS.every((verb) => verbs.includes(verb)))
      .flatMap((row) => {
        const evaluator = getEvaluator(row);
        return evaluator === undefined ? [] : [{ row, evaluator }];
      });
    // Resources of a group that does not answer are unknown, not removed.
    const kept = (this.#countable ?? []).filter(
      ({ row }) =>
        this.#unknownVersions.includes(apiVersionOf(row)) &&
        !found.some((each) => keyOf(each) === keyOf(row)),
    );
    const before = new Set((this.#countable ?? []).map(keyOf));
    this.#countable = [...found, ...kept];
    return this.#countable.length !== before.size || this.#countable.some((each) => !before.has(keyOf(each)));
  }

  /** Returns what measures these resources of a quota; undefined before the first discovery. */
  countableFor(names: readonly string[]): readonly Countable[] | undefined {
    return this.#countable?.filter(({ evaluator }) => names.some((name) => evaluator.measures(name)));
  }

  /** Follows the objects of a resource until it is unwanted or the signal aborts. */
  follow(countable: Countable, signal: AbortSignal): void {
    const key = keyOf(countable);
    if (!this.#branches.has(key)) this.#branches.set(key, this.#grow(countable, signal));
  }

  /** Stops the informers of unwanted resources. */
  keepOnly(wanted: readonly Countable[]): void {
    const keys = new Set(wanted.map(keyOf));
    for (const [key, branch] of this.#branches) {
      if (keys.has(key)) continue;
      branch.stop.abort(new Error('no quota counts the resource'));
      this.#branches.delete(key);
    }
  }

  /** Returns the objects of a namespace; undefined before all are listed. */
  in(namespace: string, countable: Countable): readonly CountedObject[] | undefined {
    const informer = this.#branches.get(keyOf(countable))?.informer;
    return informer?.hasSynced() === true ? informer.store.byIndex(BY_NAMESPACE, namespace) : undefined;
  }

  /** Returns how long no event of the resource can have been missed, in milliseconds. */
  watchedForMs(countable: Countable): number {
    return this.#branches.get(keyOf(countable))?.informer.watchingForMs() ?? 0;
  }

  /**
   * Reports whether the known objects of a namespace are current, by a consistent read of one object: the counts agree, or a newer
   * version has been seen. An open watch proves nothing, because its replica or connection may be stalled.
   */
  async isCurrent(namespace: string, countable: Countable, signal: AbortSignal): Promise<boolean> {
    const { items, metadata } = await this.#client.list(countable.row, {
      namespace,
      limit: 1,
      accept: METADATA_ONLY.list,
      signal,
    });
    const { remainingItemCount, continue: more = '', resourceVersion } = metadata;
    const count = more === '' ? items.length : items.length + (remainingItemCount ?? Number.NaN);
    for (let tries = 0; tries < CURRENT_TRIES && !signal.aborted; tries++) {
      const newest = this.#branches.get(keyOf(countable))?.newest() ?? 0;
      if (this.in(namespace, countable)?.length === count || newest >= Number(resourceVersion)) return true;
      await pause(CURRENT_RETRY_MS, signal);
    }
    return false;
  }

  /** Returns how long the resource has been followed, in milliseconds. */
  followedForMs(countable: Countable): number {
    const branch = this.#branches.get(keyOf(countable));
    return branch === undefined ? 0 : this.#clock.now() - branch.startedMs;
  }

  /** Resolves when every informer has ended; call it after the signal has aborted. */
  async ended(): Promise<void> {
    await Promise.all([...this.#branches.values()].map(async ({ running }) => running));
  }

  #grow({ row, evaluator }: Countable, signal: AbortSignal): Branch {
    const informer = createInformer<ApiObject, CountedObject>({
      client: this.#client,
      resource: row,
      transform: (object) => ({ metadata: slim(object), measured: evaluator.measure(object) }),
      indexers: { [BY_NAMESPACE]: ({ metadata: { namespace = '' } }) => [namespace] },
      log: this.#log,
      ...(evaluator.countsOnly ? { accept: METADATA_ONLY } : {}),
    });
    let newest = 0;
    const seen = ({ metadata }: CountedObject): void => {
      newest = Math.max(newest, Number(metadata.resourceVersion));
    };
    informer.addHandler({
      onAdd: (after) => {
        seen(after);
        this.#listener(evaluator, undefined, after);
      },
      onUpdate: (before, after) => {
        seen(after);
        this.#listener(evaluator, before, after);
      },
      onDelete: (before) => this.#listener(evaluator, before),
    });
    const stop = linkedAbort(signal);
    const running = informer.run(stop.signal).finally(stop.unlink);
    return { informer, newest: () => newest, startedMs: this.#clock.now(), stop, running };
  }
}

/** Includes the version: another version is another watch. */
function keyOf(of: Countable | ResourceRow): string {
  const row = 'row' in of ? of.row : of;
  return `${apiVersionOf(row)}/${row.resource}`;
}

function slim({ metadata: { name, namespace, uid, resourceVersion } }: ApiObject): ApiObject['metadata'] {
  return {
    ...defined({ name, namespace, uid, resourceVersion }),
  };
}
