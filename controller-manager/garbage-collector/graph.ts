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

/** `reported`: the server reported the deletion. `missed`: the object or its resource is no longer there. */
export type GoneHow = 'reported' | 'missed';

/** Called for every change after the graph has been updated. */
export interface GraphListener {
  /** `before` is undefined for a new object. */
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

/** Events are numerous, short-lived and own nothing. */
const IGNORED: ReadonlySet<string> = new Set([
  resourceNameOf({ group: GROUP.core, resource: 'events' }),
  resourceNameOf({ group: GROUP.events, resource: 'events' }),
]);

/** A gap that was not seen for this long counts as closed, in milliseconds. */
const GAP_FORGOTTEN_MS = 60_000;

/** First and last time that a gap was observed, by the monotonic clock. */
interface Gap {
  readonly sinceMs: number;
  readonly seenMs: number;
}

/** The ownership graph over every resource that can be listed, watched and deleted, from one informer each. */
export class OwnershipGraph {
  readonly #client: Client;
  readonly #log: Log;
  readonly #listener: GraphListener;
  /** By resource name: one version of each is enough. */
  readonly #branches = new Map<string, Branch>();
  /** Every seen object, by uid. An object served by two groups is listed once. */
  readonly #seen = new Map<string, Located>();
  #resources: readonly ResourceRow[] = [];
  /** Group versions that currently do not answer discovery, and since when, by the monotonic clock. */
  #unknown: ReadonlyMap<string, number> = new Map([['everything', monotonicClock.now()]]);
  /** The gaps at the last call of `youngGaps`. */
  #gaps: ReadonlyMap<string, Gap> = new Map();

  constructor(client: Client, log: Log, listener: GraphListener) {
    this.#client = client;
    this.#log = log;
    this.#listener = listener;
  }

  /** Runs discovery and starts and stops informers. They end with the signal. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { resources, failures } = await discover(this.#client, { signal });
    const failedMs = monotonicClock.now();
    this.#unknown = new Map(
      failures.map(({ groupVersion }) => [groupVersion, this.#unknown.get(groupVersion) ?? failedMs]),
    );
    this.#resources = resources;
    const wanted = new Map(
      metadataResources(resources)
        .filter(isCollectable)
        .map((resource) => [resourceNameOf(resource), resource]),
    );
    for (const [name, branch] of this.#branches) {
      const version = apiVersionOf(branch.resource);
      const now = wanted.get(name);
      // A resource of a version that does not answer is unknown, not removed: no other version replaces it meanwhile.
      if (this.#unknown.has(version) || (now !== undefined && apiVersionOf(now) === version)) continue;
      this.#branches.delete(name);
      this.#cut(branch);
    }
    for (const [name, resource] of wanted) {
      if (!this.#branches.has(name)) this.#branches.set(name, this.#grow(resource, signal));
    }
  }

  /** Resolves when everything is listed, or after `waitMs`. Returns the missing resources. Rejects with the signal's reason. */
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

  /** Resolves when every informer has ended; call it after the signal has aborted. */
  async ended(): Promise<void> {
    await Promise.all([...this.#branches.values()].map(async ({ running }) => running));
  }

  /**
   * Returns what may keep the graph incomplete: group versions that do not answer, resources not listed, watches open for less than
   * `settledMs`. Empty if no object can be missing.
   */
  gaps(settledMs: number): readonly string[] {
    const blind = [...this.#branches.values()].filter(
      ({ informer, resource }) =>
        !this.#unknown.has(apiVersionOf(resource)) &&
        (!informer.hasSynced() || informer.watchingForMs() < settledMs),
    );
    return [...this.#unknown.keys(), ...blind.map(({ resource }) => resourceNameOf(resource))];
  }

  /** Returns the gaps younger than `patienceMs`, which may still close. Always call it with the same `settledMs`. */
  youngGaps(settledMs: number, patienceMs: number): readonly string[] {
    const now = monotonicClock.now();
    const names = this.gaps(settledMs);
    this.#noteGaps(names);
    const sinceMs = (name: string): number => this.#unknown.get(name) ?? this.#gaps.get(name)?.sinceMs ?? now;
    return names.filter((name) => now - sinceMs(name) < patienceMs);
  }

  /** Returns the object with this uid, if it is seen. */
  find(uid: string): Located | undefined {
    return this.#seen.get(uid);
  }

  /** Returns the objects that name this uid as an owner, valid or not. */
  claimantsOf(uid: string): readonly Located[] {
    const found = new Map<string, Located>();
    for (const { resource, informer } of this.#branches.values()) {
      for (const object of informer.store.byIndex(OWNER_INDEX, uid)) {
        found.set(object.metadata.uid ?? '', { resource, object });
      }
    }
    return [...found.values()];
  }

  /** Returns the namespace of the object with this uid, or of one that names it as an owner; empty without any. */
  namespaceOf(uid: string): string {
    const seen = this.#seen.get(uid);
    if (seen !== undefined) return seen.object.metadata.namespace ?? '';
    for (const { informer } of this.#branches.values()) {
      for (const { metadata } of informer.store.byIndex(OWNER_INDEX, uid)) return metadata.namespace ?? '';
    }
    return '';
  }

  /** Returns the objects that name this object as an owner. A namespaced owner owns only in its own namespace. */
  dependentsOf(owner: ApiObject): readonly Located[] {
    return this.claimantsOf(owner.metadata.uid ?? '').filter(({ object }) => !isForeign(object, owner));
  }

  /**
   * Returns the resource of an owner reference; undefined if the kind is not served or its version does not answer. Another version of
   * the group replaces one that is no longer served.
   */
  resourceOf({ apiVersion, kind }: Pick<OwnerReference, 'apiVersion' | 'kind'>): ResourceRow | undefined {
    // Another version may belong to another server, which would not know the owner.
    if (this.#unknown.has(apiVersion)) return undefined;
    const group = groupOf({ apiVersion });
    const rows = this.#resources.filter((row) => row.group === group && row.kind === kind);
    // The stored version answers without a conversion.
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
      onDelete: (last, { isStale }) =>
        this.#leave({ resource, object: last }, isStale ? 'missed' : 'reported'),
    });
    const stop = linkedAbort(signal);
    const running = informer.run(stop.signal).finally(stop.unlink);
    return { resource, informer, stop, running, unhandle };
  }

  /** Ends the informer of a resource that is no longer served: no events report the end of its objects. */
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
