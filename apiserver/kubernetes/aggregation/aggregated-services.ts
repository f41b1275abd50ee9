import type {
  APIService,
  APIServiceCondition,
  ServiceReference,
} from '../../../shared/api/types/apiregistration-v1';
import { GROUP } from '../../../shared/names';
import type { GroupVersion } from '../../../shared/object/object';
import { CacheFollower } from '../../engine/watch-cache/cache-follower';
import { ChangeSignal } from '../../engine/watch-cache/change-signal';
import type { ClusterCache } from '../../engine/watch-cache/cluster-cache';
import { LOCAL_CONDITION } from '../kinds/apiregistration/api-services';
import type { StoredResource } from '../../engine/registry/resource';
import { currentOfEntry } from '../../engine/registry/stored-form';

/** A group version that an extension API server serves. */
export interface AggregatedService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
  readonly service: Required<ServiceReference>;
  /** Trusted certificate authorities as PEM; empty: those of the system. */
  readonly authorities: string;
  readonly isVerified: boolean;
  /** The result of the last availability check. */
  readonly isAvailable: boolean;
  readonly object: APIService;
}

const HTTPS_PORT = 443;

/** The APIServices of the watch cache. Of those without a Service only the conditions matter. */
export class AggregatedServices {
  readonly #follower: CacheFollower | undefined;
  readonly #changes: ChangeSignal;
  readonly #byName = new Map<string, AggregatedService>();
  /** APIServices without a Service whose condition is not `Local` yet. */
  readonly #unmarked = new Set<string>();

  constructor(stored: readonly StoredResource[], cache: ClusterCache) {
    const found = stored.find(
      ({ group, resource }) => group === GROUP.apiregistration && resource === 'apiservices',
    );
    this.#changes = new ChangeSignal(found === undefined ? [] : [cache.resource(found.keyPrefix)]);
    if (found === undefined) return;
    this.#follower = new CacheFollower(cache.resource(found.keyPrefix), {
      reset: () => {
        this.#byName.clear();
        this.#unmarked.clear();
      },
      changed: (name, entry) => {
        this.#update(name, entry && (currentOfEntry(found, entry).object as APIService));
      },
    });
  }

  #update(name: string, object: APIService | undefined): void {
    const service = object && aggregatedServiceOf(object, name);
    if (service === undefined) this.#byName.delete(name);
    else this.#byName.set(name, service);
    if (object === undefined || service !== undefined || saysLocal(object)) this.#unmarked.delete(name);
    else this.#unmarked.add(name);
  }

  /** Returns the names of APIServices without a Service whose condition is not `Local` yet. */
  unmarked(): readonly string[] {
    this.#follower?.catchUp();
    return [...this.#unmarked];
  }

  /** Waits for at most `ms`, until an APIService changes or the signal aborts. Only one loop may call it; see {@link ChangeSignal}. */
  async nextChange(ms: number, signal: AbortSignal): Promise<void> {
    await this.#changes.wait(ms, signal);
  }

  get isEmpty(): boolean {
    this.#follower?.catchUp();
    return this.#byName.size === 0;
  }

  all(): readonly AggregatedService[] {
    this.#follower?.catchUp();
    return [...this.#byName.values()];
  }

  find(group: string, version: string): AggregatedService | undefined {
    this.#follower?.catchUp();
    return this.#byName.get(`${version}.${group}`);
  }
}

function saysLocal({ status }: APIService): boolean {
  const known = status?.conditions?.find(({ type }) => type === LOCAL_CONDITION.type);
  return known !== undefined && isSameFinding(known, LOCAL_CONDITION);
}

/** Returns whether two conditions of one type are equal apart from their transition times. */
export function isSameFinding(
  known: Omit<APIServiceCondition, 'lastTransitionTime'>,
  found: Omit<APIServiceCondition, 'lastTransitionTime' | 'type'>,
): boolean {
  return known.status === found.status && known.reason === found.reason && known.message === found.message;
}

function aggregatedServiceOf(object: APIService, name: string): AggregatedService | undefined {
  const { spec, status } = object;
  const { service, group = '', version = '', caBundle = '' } = spec;
  if (service === undefined) return undefined;
  return {
    name,
    group,
    version,
    groupPriorityMinimum: spec.groupPriorityMinimum,
    versionPriority: spec.versionPriority,
    service: {
      namespace: service.namespace ?? '',
      name: service.name ?? '',
      port: service.port ?? HTTPS_PORT,
    },
    authorities: Buffer.from(caBundle, 'base64').toString('utf8'),
    isVerified: spec.insecureSkipTLSVerify !== true,
    isAvailable:
      status?.conditions?.some((each) => each.type === 'Available' && each.status === 'True') === true,
    object,
  };
}

/** Returns the discovery path of a group version. */
export function discoveryPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
