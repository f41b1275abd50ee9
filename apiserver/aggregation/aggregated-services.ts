import type { APIService, ServiceReference } from '../../shared/api/types/apiregistration-v1';
import { GROUP } from '../../shared/names';
import type { GroupVersion } from '../../shared/object/object';
import { CacheFollower } from '../cache/cache-follower';
import type { ClusterCache } from '../cache/cluster-cache';
import type { StoredResource } from '../registry/resource';
import { currentOfEntry } from '../registry/stored-form';

/** A group version that another server answers for. */
export interface AggregatedService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriorityMinimum: number;
  readonly versionPriority: number;
  readonly service: Required<ServiceReference>;
  /** PEM; empty where the authorities of the system are trusted. */
  readonly authorities: string;
  readonly isVerified: boolean;
  /** Whether its last check found it so. */
  readonly isAvailable: boolean;
  readonly object: APIService;
}

const HTTPS_PORT = 443;

/** The APIServices that name a Service, as the watch cache has them. */
export class AggregatedServices {
  readonly #follower: CacheFollower | undefined;
  readonly #byName = new Map<string, AggregatedService>();

  constructor(stored: readonly StoredResource[], cache: ClusterCache) {
    const found = stored.find(
      ({ group, resource }) => group === GROUP.apiregistration && resource === 'apiservices',
    );
    if (found === undefined) return;
    this.#follower = new CacheFollower(cache.resource(found.keyPrefix), {
      reset: () => this.#byName.clear(),
      changed: (name, entry) => {
        const service = entry && aggregatedServiceOf(currentOfEntry(found, entry).object as APIService, name);
        if (service === undefined) this.#byName.delete(name);
        else this.#byName.set(name, service);
      },
    });
  }

  get areNone(): boolean {
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

/** Of the group version, as discovery has it: that of the core group stands at another place. */
export function discoveryPath({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
