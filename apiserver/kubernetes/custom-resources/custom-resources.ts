import { forEachLimited } from '../../../shared/concurrency/for-each-limited';
import { withTimeLimit } from '../../../shared/concurrency/time-limit';
import { serviceUnavailable } from '../../../shared/errors/status-error';
import type { Log } from '../../../shared/log/log';
import { deepEqual } from '../../../shared/object/clone';
import { DefinitionChangedError, definitionTerminating } from '../../engine/registry/custom-errors';
import type { Registry } from '../../engine/registry/registry';
import type { StoredResource } from '../../engine/registry/resource';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import type { Entry } from '../../engine/watch-cache/state/entry';
import type { CacheListener } from '../../engine/watch-cache/resource-cache';
import type { Guard } from '../../engine/storage/backend';
import type { CallConversion } from './conversion/conversion-webhook';
import type { CustomEndpoints } from './custom-endpoints';
import { customEndpoints } from './custom-endpoints';
import { definitionIn, DefinitionSource } from './custom-version';
import type { Definition } from './definition';
import { DEFINITIONS, definitionOf } from './definition';
import { extendedRegistry } from './extended-registry';

/** Number of caches that are filled concurrently at startup. */
const FILLS_AT_ONCE = 16;
/** Interval in ms at which a running fill checks that its definition still exists. */
const FILL_LOOK_MS = 1_000;
/** Limit in ms for the wait until the definitions are current. */
const CONFIRM_WAIT_MS = 3_000;
const RETRY_AFTER_SECONDS = 1;

export interface CustomResourcesOptions {
  readonly builtIn: Registry;
  readonly cache: ClusterCache;
  readonly log: Log;
  readonly callConversion: CallConversion;
}

/** Receives the name of a definition that was changed or removed. */
export type DefinitionListener = (name: string) => void;

interface Known {
  definition: Definition;
  readonly source: DefinitionSource;
  /** Undefined for a definition that is not established. */
  readonly endpoints: CustomEndpoints | undefined;
}

/**
 * The custom resources of a server. It follows the definitions in the cache and serves the established ones. The registry changes in the
 * same step as the cache, so that a caller that waited for a revision finds every definition of that revision served.
 */
export class CustomResources implements CacheListener {
  readonly #builtIn: Registry;
  readonly #cache: ClusterCache;
  readonly #log: Log;
  readonly #callConversion: CallConversion;
  /** Undefined if the server does not serve CustomResourceDefinitions. */
  readonly #stored: StoredResource | undefined;
  readonly #known = new Map<string, Known>();
  readonly #listeners: DefinitionListener[] = [];
  #registry: Registry;
  #notReady: string | undefined = 'the definitions of custom resources are not read yet';
  /** Until the start, caches are filled with limited concurrency. */
  #isStarted = false;

  constructor({ builtIn, cache, log, callConversion }: CustomResourcesOptions) {
    this.#builtIn = builtIn;
    this.#cache = cache;
    this.#log = log;
    this.#callConversion = callConversion;
    this.#registry = builtIn;
    this.#stored = builtIn.stored.find(
      ({ group, resource }) => group === DEFINITIONS.group && resource === DEFINITIONS.resource,
    );
    if (this.#stored === undefined) this.#notReady = undefined;
    else cache.resource(this.#stored.keyPrefix).follow(this);
  }

  /** The currently served registry. */
  get registry(): Registry {
    return this.#registry;
  }

  get definitions(): IterableIterator<Definition> {
    return this.#all();
  }

  /** Returns why custom resources cannot be served yet, for the health check. */
  notReadyReason(): string | undefined {
    return this.#notReady;
  }

  definition(name: string): Definition | undefined {
    return this.#known.get(name)?.definition;
  }

  source(name: string): DefinitionSource | undefined {
    return this.#known.get(name)?.source;
  }

  endpoints(name: string): CustomEndpoints | undefined {
    return this.#known.get(name)?.endpoints;
  }

  /** Adds a listener that is never removed. */
  follow(listener: DefinitionListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Serves the established definitions. The definition cache must be filled. Resolves when the objects of all established definitions are
   * cached.
   */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#stored === undefined) return;
    const definitions = this.#cache.resource(this.#stored.keyPrefix);
    await definitions.whenReady(signal);
    await forEachLimited([...this.#known.keys()], FILLS_AT_ONCE, async (name) => this.#fill(name, signal));
    this.#isStarted = true;
    // Fill the caches of definitions that were added meanwhile.
    for (const { endpoints } of this.#known.values()) {
      if (endpoints !== undefined) this.#addCache(endpoints.stored);
    }
    this.#publish();
    this.#notReady = undefined;
  }

  /**
   * Waits until every definition that was established before this call is served. Throws ServiceUnavailable (503) if that cannot be
   * confirmed in time, and the store's error.
   */
  async confirm(signal: AbortSignal): Promise<void> {
    if (this.#stored === undefined) return;
    const of = [this.#cache.resource(this.#stored.keyPrefix)];
    const needs = { of, timeoutMs: CONFIRM_WAIT_MS, refill: 'wait' } as const;
    const freshness = await this.#cache.freshen(needs, signal);
    if (freshness === 'fresh' && this.#notReady === undefined) return;
    throw serviceUnavailable(
      'the definitions of custom resources are being read, so that nothing can be said of this path',
      RETRY_AFTER_SECONDS,
    );
  }

  changed(name: string, entry: Entry | undefined): void {
    if (this.#take(name, entry)) this.#publish();
    this.#tell(name);
  }

  filled(): void {
    if (this.#stored === undefined) return;
    const { keyPrefix } = this.#stored;
    const gone = new Set(this.#known.keys());
    for (const entry of this.#cache.resource(keyPrefix).snapshot().entries()) {
      gone.delete(entry.name);
      this.#take(entry.name, entry);
      this.#tell(entry.name);
    }
    for (const name of gone) {
      this.#take(name, undefined);
      this.#tell(name);
    }
    this.#publish();
  }

  *#all(): IterableIterator<Definition> {
    for (const { definition } of this.#known.values()) yield definition;
  }

  /** Returns whether the served resources changed. A definition that cannot be decoded is skipped, so that it does not affect others. */
  #take(name: string, entry: Entry | undefined): boolean {
    const known = this.#known.get(name);
    try {
      if (entry === undefined) return known !== undefined && this.#forget(name, known);
      return this.#learn(known, entry);
    } catch (error) {
      this.#log.error({ definition: name, error }, 'failed to serve a custom resource definition');
      return false;
    }
  }

  #learn(known: Known | undefined, entry: Entry): boolean {
    const stored = this.#stored;
    if (stored === undefined) return false;
    const definition = definitionOf(entry, definitionIn(stored, entry));
    if (known !== undefined && isServedAlike(known.definition, definition)) {
      known.definition = definition;
      known.source.update(entry);
      return false;
    }
    if (known !== undefined && known.definition.uid !== definition.uid) this.#forget(definition.name, known);
    const source = new DefinitionSource(stored, entry);
    const endpoints = this.#mayBeServed(definition) ? this.#endpointsOf(definition, source) : undefined;
    this.#known.set(definition.name, { definition, source, endpoints });
    const before = known?.endpoints;
    // Entries hold the values of selectable fields, so other fields need a new cache.
    const isCachedAlike =
      endpoints !== undefined && deepEqual(endpoints.stored.fieldPaths, before?.stored.fieldPaths);
    if (before !== undefined && !isCachedAlike) this.#removeCache(before.stored);
    else if (known?.definition.fingerprint !== definition.fingerprint) this.#endWatches(before?.stored);
    if (endpoints !== undefined && this.#isStarted) this.#addCache(endpoints.stored);
    return before !== undefined || endpoints !== undefined;
  }

  /**
   * Writes are conditional on the definition that validated them. After the deletion mark no object is created, and no replica writes by
   * an older schema.
   */
  #endpointsOf(definition: Definition, source: DefinitionSource): CustomEndpoints | undefined {
    const { name, uid, group, fingerprint } = definition;
    const { keyPrefix = '' } = this.#stored ?? {};
    const reliesOn = (operation: 'CREATE' | 'UPDATE'): Guard => {
      const now = this.#known.get(name)?.definition;
      const resource = name.slice(0, -group.length - 1);
      if (now?.uid !== uid || now.fingerprint !== fingerprint) throw new DefinitionChangedError();
      if (operation === 'CREATE' && now.isTerminating) throw definitionTerminating({ group, resource });
      return { key: `${keyPrefix}${name}`, revision: now.revision };
    };
    return customEndpoints(definition, source, { reliesOn, callConversion: this.#callConversion });
  }

  /** A definition must not give access to the objects of a built-in resource with the same name. */
  #mayBeServed({ isEstablished, name, group }: Definition): boolean {
    if (!isEstablished) return false;
    const resource = name.slice(0, -group.length - 1);
    return !this.#builtIn.stored.some((each) => each.group === group && each.resource === resource);
  }

  #forget(name: string, { endpoints }: Known): boolean {
    this.#known.delete(name);
    if (endpoints === undefined) return false;
    this.#removeCache(endpoints.stored);
    return true;
  }

  #endWatches(stored: StoredResource | undefined): void {
    if (stored !== undefined && this.#cache.hasResource(stored.keyPrefix)) {
      this.#cache.resource(stored.keyPrefix).watches.redefine();
    }
  }

  #removeCache(stored: StoredResource): void {
    this.#endWatches(stored);
    if (this.#cache.hasResource(stored.keyPrefix)) this.#cache.removeResource(stored.keyPrefix);
  }

  #addCache(stored: StoredResource): void {
    if (!this.#cache.hasResource(stored.keyPrefix)) this.#cache.addResource(stored);
  }

  /** Caches the objects of one definition, until the definition is removed. */
  async #fill(name: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const stored = this.#known.get(name)?.endpoints?.stored;
      if (stored === undefined) return;
      this.#addCache(stored);
      if (this.#cache.fillsOnDemand) return;
      const cache = this.#cache.resource(stored.keyPrefix);
      await withTimeLimit(signal, FILL_LOOK_MS, async (inTime) => cache.whenReady(inTime)).catch(
        () => undefined,
      );
      signal.throwIfAborted();
      if (cache.isReady) return;
    }
  }

  #publish(): void {
    if (!this.#isStarted) return;
    const served = [...this.#known].flatMap(([name, { endpoints }]): [string, CustomEndpoints][] =>
      endpoints === undefined ? [] : [[name, endpoints]],
    );
    const generation = this.#registry.generation + 1;
    this.#registry = extendedRegistry(this.#builtIn, new Map(served), generation);
  }

  #tell(name: string): void {
    for (const listener of this.#listeners) listener(name);
  }
}

function isServedAlike(one: Definition, other: Definition): boolean {
  return (
    one.uid === other.uid &&
    one.fingerprint === other.fingerprint &&
    one.isEstablished === other.isEstablished &&
    one.isTerminating === other.isTerminating
  );
}
