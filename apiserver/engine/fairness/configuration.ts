import type { FlowSchema, PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1';
import type { Log } from '../../../shared/log/log';
import type { ApiObject } from '../../../shared/object/object';
import type { Entry } from '../watch-cache/state/entry';
import type { FollowerTarget } from '../watch-cache/cache-follower';
import { CacheFollower } from '../watch-cache/cache-follower';
import type { ClusterCache } from '../watch-cache/cluster-cache';
import type { ResourceCache } from '../watch-cache/resource-cache';
import type { StoredResource } from '../registry/resource';
import { currentOfEntry } from '../registry/stored-form';

/** Larger objects are ignored: decoding one would block the event loop for all requests. */
export const FLOW_OBJECT_BYTES_MAX = 128 * 1_024;

type WarnLog = Pick<Log, 'warn'>;

export interface FlowObjects {
  readonly levels: readonly PriorityLevelConfiguration[];
  readonly schemas: readonly FlowSchema[];
}

/** The resources that configure flow control; undefined: not served. */
export interface FlowResources {
  readonly levels: StoredResource | undefined;
  readonly schemas: StoredResource | undefined;
}

export interface FlowSources {
  readonly resources: FlowResources;
  readonly cache: Pick<ClusterCache, 'resource'>;
  readonly log: WarnLog;
}

/** The FlowSchemas and PriorityLevelConfigurations of the watch cache. Each version of an object is decoded once. */
export class FlowConfiguration {
  readonly #levels: Follower<PriorityLevelConfiguration> | undefined;
  readonly #schemas: Follower<FlowSchema> | undefined;

  constructor({ resources: { levels, schemas }, cache, log }: FlowSources) {
    this.#levels = levels && new Follower(levels, cache.resource(levels.keyPrefix), log);
    this.#schemas = schemas && new Follower(schemas, cache.resource(schemas.keyPrefix), log);
  }

  /**
   * Returns all objects if one has changed since the last call. Returns undefined if none has, or while the cache is being refilled. Without
   * a change a call costs a few comparisons, so that it can be made for every request.
   */
  takeChanges(): FlowObjects | undefined {
    if (this.#levels?.isReady !== true || this.#schemas?.isReady !== true) return undefined;
    const hasChanged = [this.#levels.catchUp(), this.#schemas.catchUp()].includes(true);
    return hasChanged ? { levels: this.#levels.objects, schemas: this.#schemas.objects } : undefined;
  }
}

class Follower<T extends ApiObject> implements FollowerTarget {
  readonly #stored: StoredResource;
  readonly #cache: ResourceCache;
  readonly #log: WarnLog;
  readonly #follower: CacheFollower;
  readonly #objects = new Map<string, T>();

  constructor(stored: StoredResource, cache: ResourceCache, log: WarnLog) {
    this.#stored = stored;
    this.#cache = cache;
    this.#log = log;
    this.#follower = new CacheFollower(cache, this);
  }

  get isReady(): boolean {
    return this.#cache.isReady;
  }

  get objects(): readonly T[] {
    return [...this.#objects.values()];
  }

  catchUp(): boolean {
    return this.#follower.catchUp();
  }

  reset(): void {
    this.#objects.clear();
  }

  changed(key: string, current: Entry | undefined): void {
    this.#objects.delete(key);
    if (current === undefined) return;
    if (current.bytes.length > FLOW_OBJECT_BYTES_MAX) {
      const { name } = current;
      const about = {
        kind: this.#stored.kind,
        name,
        bytes: current.bytes.length,
        max: FLOW_OBJECT_BYTES_MAX,
      };
      this.#log.warn(about, 'flow control object ignored: it is too large');
      return;
    }
    this.#objects.set(key, currentOfEntry(this.#stored, current).object as unknown as T);
  }
}
