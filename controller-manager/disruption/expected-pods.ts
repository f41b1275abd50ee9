import { LRUCache } from 'lru-cache';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import type { ApiObject, GroupVersionResource, OwnerReference, ResourceOf } from '../../shared/object/object';
import { GROUP } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { ownerOf } from '../runtime/owner';
import type { SharedInformers } from '../runtime/shared-informers';

/** Which resource a kind is, which custom resources may change. */
const KINDS = { max: 1_000, ttl: 60_000 };

interface Scaled extends ApiObject {
  readonly spec: { readonly replicas?: number };
}

interface ApiResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly group?: string }[];
}

/** The size of an owner of pods. */
interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

export interface ExpectedPods {
  readonly count: number;
  /** The names of pods without an owner, which are not counted. */
  readonly unmanaged: readonly string[];
}

/** A size that no further try would find, until a pod or its owner changes. */
export class UnknownScaleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UnknownScaleError';
  }
}

/** Finds how many pods there should be: the sum of the sizes of the owners of some pods. */
export class ExpectedPodCounter {
  readonly #client: Client;
  readonly #informers: SharedInformers;
  /** By API version and kind; null for a kind without a scale. */
  readonly #kinds = new LRUCache<string, { readonly resource: GroupVersionResource | null }>(KINDS);

  constructor({ client, informers }: Pick<ControllerContext, 'client' | 'informers'>) {
    this.#client = client;
    this.#informers = informers;
  }

  /** The collections whose sizes are known without a request. */
  get informers() {
    const of = this.#informers;
    return [
      of.of(RESOURCE.replicationcontrollers),
      of.of(RESOURCE.deployments),
      of.of(RESOURCE.replicasets),
      of.of(RESOURCE.statefulsets),
    ];
  }

  /** Counts. Throws UnknownScaleError if a pod has an owner that has no size (upstream `getExpectedScale`). */
  async count(pods: readonly Pod[], signal: AbortSignal): Promise<ExpectedPods> {
    const sizes = new Map<string, number>();
    const known = new Set<string>();
    const unmanaged: string[] = [];
    for (const pod of pods) {
      const { namespace = '', name = '' } = pod.metadata;
      const owner = ownerOf(pod);
      if (owner === undefined) unmanaged.push(name);
      if (owner === undefined || known.has(owner.uid)) continue;
      const scale =
        this.#knownScale(owner, namespace) ?? (await this.#requestedScale(owner, namespace, signal));
      if (scale === undefined)
        throw new UnknownScaleError(`found no controllers for pod ${JSON.stringify(name)}`);
      known.add(owner.uid);
      sizes.set(scale.uid, scale.replicas);
    }
    return { count: [...sizes.values()].reduce((sum, size) => sum + size, 0), unmanaged };
  }

  /** A ReplicaSet counts as its Deployment. */
  #knownScale(owner: OwnerReference, namespace: string): Scale | undefined {
    const group = owner.apiVersion.split('/').at(-2) ?? GROUP.core;
    const isOf = (kind: string, ...groups: readonly string[]): boolean =>
      owner.kind === kind && groups.includes(group);
    if (isOf('ReplicationController', GROUP.core))
      return this.#sizeOf(RESOURCE.replicationcontrollers, owner, namespace);
    if (isOf('StatefulSet', GROUP.apps)) return this.#sizeOf(RESOURCE.statefulsets, owner, namespace);
    if (!isOf('ReplicaSet', GROUP.apps, GROUP.extensions)) return undefined;
    const set = this.#get(RESOURCE.replicasets, owner, namespace);
    const deployment = set && ownerOf(set);
    if (deployment?.kind === 'Deployment') return this.#sizeOf(RESOURCE.deployments, deployment, namespace);
    return this.#sizeOf(RESOURCE.replicasets, owner, namespace);
  }

  #sizeOf<T extends Scaled>(
    resource: ResourceOf<T>,
    owner: OwnerReference,
    namespace: string,
  ): Scale | undefined {
    const found = this.#get(resource, owner, namespace);
    return found && { uid: owner.uid, replicas: found.spec.replicas ?? 1 };
  }

  #get<T extends ApiObject>(
    resource: ResourceOf<T>,
    { name, uid }: OwnerReference,
    namespace: string,
  ): T | undefined {
    const found = this.#informers.of(resource).store.get(`${namespace}/${name}`);
    return found?.metadata.uid === uid ? found : undefined;
  }

  /** Reads the scale subresource of another kind, such as a custom one (upstream `getScaleController`). */
  async #requestedScale(
    owner: OwnerReference,
    namespace: string,
    signal: AbortSignal,
  ): Promise<Scale | undefined> {
    const resource = await this.#resourceOf(owner, signal);
    if (resource === null)
      throw new UnknownScaleError(`${owner.kind} does not implement the scale subresource`);
    try {
      const { name } = owner;
      const scale = await this.#client.get<Scaled>(
        resource,
        { namespace, name },
        { subresource: 'scale', signal },
      );
      if (scale.metadata.uid !== owner.uid) return undefined;
      return { uid: owner.uid, replicas: scale.spec.replicas ?? 0 };
    } catch (error) {
      if (hasCode(error, 404)) return undefined;
      throw error;
    }
  }

  async #resourceOf(
    { apiVersion, kind }: OwnerReference,
    signal: AbortSignal,
  ): Promise<GroupVersionResource | null> {
    const key = `${apiVersion}/${kind}`;
    const known = this.#kinds.get(key);
    if (known !== undefined) return known.resource;
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const path = group === '' ? `/api/${version}` : `/apis/${apiVersion}`;
    const { resources = [] } = (await this.#client.getJson(path, { signal })) as ApiResourceList;
    const row = resources.find((each) => each.kind === kind && !each.name.includes('/'));
    if (row === undefined)
      throw new UnknownScaleError(
        `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
      );
    const isScaled = resources.some(({ name }) => name === `${row.name}/scale`);
    const resource = isScaled ? { group, version, resource: row.name } : null;
    this.#kinds.set(key, { resource });
    return resource;
  }
}
