import type { FlowSchema, PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1beta1';
import type { Log } from '../../../shared/log/log';
import { GROUP } from '../../../shared/names';
import type { ApiObject } from '../../../shared/object/object';
import type { Entry } from '../watch-cache/state/entry';
import type { FollowerTarget } from '../watch-cache/cache-follower';
import { CacheFollower } from '../watch-cache/cache-follower';
import type { ClusterCache } from '../watch-cache/cluster-cache';
import type { ResourceCache } from '../watch-cache/resource-cache';
import type { StoredResource } from '../registry/resource';
import { currentOfEntry } from '../registry/stored-form';

/** A larger object is as if it were not there: to read it would hold up all requests. */
export const FLOW_OBJECT_BYTES_MAX = 128 * 1_024;

type WarnLog = Pick<Log, 'warn'>;

export interface FlowObjects {
  readonly levels: readonly PriorityLevelConfiguration[];
  readonly schemas: readonly FlowSchema[];
}

export interface FlowSources {
  /** What is stored; kinds that are not served are absent. */
  readonly stored: readonly StoredResource[];
  readonly cache: Pick<ClusterCache, 'resource'>;
  readonly log: WarnLog;
}

/** The FlowSchemas and PriorityLevelConfigurations as the watch cache has them; each is parsed once for every state. */
export class FlowConfiguration {
  readonly #levels: Follower<PriorityLevelConfiguration> | undefined;
  readonly #schemas: Follower<FlowSchema> | undefined;

  constructor({ stored, cache, log }: FlowSources) {
    const find = <T extends ApiObject>(resource: string): Follower<T> | undefined => {
      const found = stored.find((each) => each.group === GROUP.flowcontrol && each.resource === resource);
      return found === undefined ? undefined : new Follower<T>(found, cache.resource(found.keyPrefix), log);
    };
    this.#levels = find('prioritylevelconfigurations');
    this.#schemas = find('flowschemas');
  }

  /** All of them if something has changed since the last call; undefined if not, or while they are being read anew. */
  changed(): FlowObjects | undefined {
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
