import type { Client } from '../../shared/client/client';
import { METADATA_ONLY } from '../../shared/client/client';
import type { ResourceRow } from '../../shared/client/discovery';
import { discover, metadataResources } from '../../shared/client/discovery';
import type { LinkedAbort } from '../../shared/concurrency/linked-abort';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { monotonicClock } from '../../shared/concurrency/monotonic-clock';
import { withTimeLimit } from '../../shared/concurrency/time-limit';
import { defined } from '../../shared/defined';
import type { Informer } from '../../shared/informer/informer';
import { createInformer } from '../../shared/informer/informer';
import type { Log } from '../../shared/log/log';
import type { ApiObject, OwnerReference } from '../../shared/object/object';
import { apiVersionOf, resourceNameOf } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { Located } from './references';
import { groupOf, isForeign } from './references';

/** `told`: the server told of the deletion. `missed`: it is not there any more, or its resource is not. */
export type GoneHow = 'told' | 'missed';

/** Called for every change, when the graph has it already. */
export interface GraphListener {
  /** `before` is missing for an object that is new. */
  onPresent(before: ApiObject | undefined, present: Located): void;
  onGone(last: Located, how: GoneHow): void;
}

interface Branch {
  readonly resource: ResourceRow;
  readonly informer: Informer<ApiObject>;
  readonly stop: LinkedAbort;
  readonly running: Promise<void>;
  readonly unhandle: () => void;
}

const OWNER_INDEX = 'owner';

/** Events are many, short-lived and own nothing. */
const IGNORED: ReadonlySet<string> = new Set([
  resourceNameOf({ group: GROUP.core, resource: 'events' }),
  resourceNameOf({ group: GROUP.events, resource: 'events' }),
]);

/** What is not seen as a gap again for so long had been closed in between, in milliseconds. */
const GAP_FORGOTTEN_MS = 60_000;

/** Since when, and until when, something was a gap whenever it was looked at, by the monotonic clock. */
interface Gap {
  readonly sinceMs: number;
  readonly seenMs: number;
}

/** Who owns whom, over every resource that can be listed, watched and deleted, from one informer for each. */
export class OwnershipGraph {
  readonly #client: Client;
  readonly #log: Log;
  readonly #listener: GraphListener;
  /** By the name of the resource: one version of each is enough. */
  readonly #branches = new Map<string, Branch>();
  /** Every object that is seen, by uid. One that two groups serve is seen twice and stands here once. */
  readonly #seen = new Map<string, Located>();
  #resources: readonly ResourceRow[] = [];
  /** Group versions whose resources are not known now. */
  #unknown: readonly string[] = ['everything'];
  /** One entry for each that was a gap when the young ones were asked for last. */
  #gaps: ReadonlyMap<string, Gap> = new Map();

  constructor(client: Client, log: Log, listener: GraphListener) {
    this.#client = client;
    this.#log = log;
    this.#listener = listener;
  }

  /** Asks again what the server has; starts and stops informers accordingly. They end with the signal. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { resources, failures } = await discover(this.#client, { signal });
    this.#unknown = failures.map(({ groupVersion }) => groupVersion);
    this.#resources = resources;
    const wanted = new Map(
      metadataResources(resources)
        .filter(isCollectable)
        .map((resource) => [resourceNameOf(resource), resource]),
    );
    for (const [name, branch] of this.#branches) {
      const version = apiVersionOf(branch.resource);
      const now = wanted.get(name);
      // What a version serves that does not answer is unknown, not gone: another version does not take its place for so long.
      if (this.#unknown.includes(version) || (now !== undefined && apiVersionOf(now) === version)) continue;
      this.#branches.delete(name);
      this.#cut(branch);
    }
    for (const [name, resource] of wanted) {
      if (!this.#branches.has(name)) this.#branches.set(name, this.#grow(resource, signal));
    }
  }

  /**
   * Resolves when everything is listed, or after `waitMs`: what cannot be listed must not hold up the rest. Returns the resources that are
   * missing. Rejects with the signal's reason.
   */
  async whenListed(waitMs: number, signal: AbortSignal): Promise<readonly string[]> {
    const branches = [...this.#branches.values()];
    await withTimeLimit(signal, waitMs, async (inTime) =>
      Promise.allSettled(branches.map(async ({ informer }) => informer.whenSynced(inTime))),
    );
    signal.throwIfAborted();
    return branches
      .filter(({ informer }) => !informer.hasSynced())
      .map(({ resource }) => resourceNameOf(resource));
  }

  /** Resolves when every informer has ended; to be called once the signal has aborted. */
  async ended(): Promise<void> {
    await Promise.all([...this.#branches.values()].map(async ({ running }) => running));
  }

  /**
   * What keeps the graph from being complete for sure: group versions that do not answer, resources not listed yet or whose watch
   * is not open for `settledMs`. Empty when nobody can be missing.
   */
  gaps(settledMs: number): readonly string[] {
    const blind = [...this.#branches.values()].filter(
      ({ informer }) => !informer.hasSynced() || informer.watchingForMs() < settledMs,
    );
    return [...this.#unknown, ...blind.map(({ resource }) => resourceNameOf(resource))];
  }

  /** Those of the gaps that may still close by themselves: none has been there for `patienceMs`. To be asked with one `settledMs`. */
  youngGaps(settledMs: number, patienceMs: number): readonly string[] {
    const now = monotonicClock.now();
    const names = this.gaps(settledMs);
    this.#noteGaps(names);
    return names.filter((name) => now - (this.#gaps.get(name)?.sinceMs ?? now) < patienceMs);
  }

  /** The object with this uid, if one is seen. */
  find(uid: string): Located | undefined {
    return this.#seen.get(uid);
  }

  /** Objects that name this uid as an owner's, by right or not. */
  claimantsOf(uid: string): readonly Located[] {
    const found = new Map<string, Located>();
    for (const { resource, informer } of this.#branches.values()) {
      for (const object of informer.store.byIndex(OWNER_INDEX, uid)) {
        found.set(object.metadata.uid ?? '', { resource, object });
      }
    }
    return [...found.values()];
  }

  /** Objects that name this object as an owner. A namespaced owner can own in its own namespace only; other claims do not count. */
  dependentsOf(owner: ApiObject): readonly Located[] {
    return this.claimantsOf(owner.metadata.uid ?? '').filter(({ object }) => !isForeign(object, owner));
  }

  /**
   * The resource that an owner reference points into; undefined if the server has no such kind, or the version does not answer now. In
   * place of one that is not served any more stands another of the group.
   */
  resourceOf({ apiVersion, kind }: Pick<OwnerReference, 'apiVersion' | 'kind'>): ResourceRow | undefined {
    // Another version may be of another server, which would not know the owner.
    if (this.#unknown.includes(apiVersion)) return undefined;
    const group = groupOf({ apiVersion });
    const rows = this.#resources.filter((row) => row.group === group && row.kind === kind);
    // One that is stored answers without a conversion.
    return (
      rows.find(({ isStored }) => isStored === true) ??
      rows.find((row) => apiVersionOf(row) === apiVersion) ??
      rows[0]
    );
  }

  #noteGaps(names: readonly string[]): void {
    const now = monotonicClock.now();
    const gaps = new Map<string, Gap>();
    for (const name of names) {
      const known = this.#gaps.get(name);
      const isSame = known !== undefined && now - known.seenMs < GAP_FORGOTTEN_MS;
      gaps.set(name, { sinceMs: isSame ? known.sinceMs : now, seenMs: now });
    }
    this.#gaps = gaps;
  }

  #grow(resource: ResourceRow, signal: AbortSignal): Branch {
    const informer = createInformer({
      client: this.#client,
      resource,
      accept: METADATA_ONLY,
      transform: slim,
      indexers: {
        [OWNER_INDEX]: ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
      },
      log: this.#log,
    });
    const unhandle = informer.addHandler({
      onAdd: (after) => this.#enter(resource, undefined, after),
      onUpdate: (before, after) => this.#enter(resource, before, after),
      onDelete: (last, { isStale }) => this.#leave({ resource, object: last }, isStale ? 'missed' : 'told'),
    });
    const stop = linkedAbort(signal);
    const running = informer.run(stop.signal).finally(stop.unlink);
    return { resource, informer, stop, running, unhandle };
  }

  /** Ends the informer of a resource that is not served any more: nobody tells of the end of its objects. */
  #cut({ resource, informer, stop, unhandle }: Branch): void {
    unhandle();
    stop.abort(new Error('the resource has gone'));
    for (const object of informer.store.list()) this.#leave({ resource, object }, 'missed');
  }

  #enter(resource: ResourceRow, before: ApiObject | undefined, after: ApiObject): void {
    const present = { resource, object: after };
    this.#seen.set(after.metadata.uid ?? '', present);
    this.#listener.onPresent(before, present);
  }

  #leave(last: Located, how: GoneHow): void {
    this.#seen.delete(last.object.metadata.uid ?? '');
    this.#listener.onGone(last, how);
  }
}

function isCollectable({ verbs, ...resource }: ResourceRow): boolean {
  return (
    ['list', 'watch', 'delete'].every((verb) => verbs.includes(verb)) &&
    !IGNORED.has(resourceNameOf(resource))
  );
}

function slim({ metadata }: ApiObject): ApiObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers, ownerReferences } = metadata;
  return {
    metadata: {
      ...defined({ name, namespace, uid, resourceVersion, deletionTimestamp, finalizers, ownerReferences }),
    },
  };
}
