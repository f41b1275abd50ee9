import { performance } from 'node:perf_hooks';
import { pause } from '../../../../shared/concurrency/pause';
import type { Node, PersistentVolume, Pod } from '../../../../shared/api/types/core-v1';
import type { VolumeAttachment } from '../../../../shared/api/types/storage-v1';
import { GROUP } from '../../../../shared/names';
import type { FollowerTarget } from '../../../engine/watch-cache/cache-follower';
import { CacheFollower } from '../../../engine/watch-cache/cache-follower';
import type { Entry } from '../../../engine/watch-cache/state/entry';
import type { StoredResource } from '../../../engine/registry/resource';
import { currentOfEntry } from '../../../engine/registry/stored-form';
import { CacheFollowers } from '../cache-followers';
import type { PolicySources } from '../rbac/policies';
import { GraphTimes } from './graph-times';
import type { NodeFeatures } from './node-features';
import { NodeUses } from './node-uses';
import type { ReferenceKind } from './references';
import { referencesOfNode, referencesOfPod, referencesOfVolume } from './references';

export interface GraphSources extends PolicySources {
  /** Where changes of the graph are timed; by default in an object of its own. */
  readonly times?: GraphTimes;
}

type GraphFeatures = Pick<NodeFeatures, 'ephemeralVolumes' | 'nodeConfiguration'>;

/** The update interval without requests: well below the time for which the cache keeps events. */
const UPDATE_MS = 250;

/**
 * The graph of the node authorizer: pods and the objects that they refer to, volumes and their secrets, and attachments. It follows the watch
 * cache and decodes a pod once, when it is scheduled.
 */
export class NodeGraph {
  readonly #followers: CacheFollowers;
  readonly #uses = new NodeUses();
  /** The node of each VolumeAttachment. */
  readonly #attachments = new Map<string, string>();

  readonly #features: GraphFeatures;
  readonly #times: GraphTimes;

  constructor({ stored, cache, times = new GraphTimes() }: GraphSources, features: GraphFeatures) {
    this.#times = times;
    this.#features = features;
    const nodes = [GROUP.core, 'nodes', (each: StoredResource) => this.#nodeTarget(each)] as const;
    const rows: readonly (readonly [group: string, resource: string, make: TargetOf])[] = [
      [GROUP.core, 'pods', (pods) => this.#podTarget(pods)],
      ...(features.nodeConfiguration ? [nodes] : []),
      [GROUP.core, 'persistentvolumes', (volumes) => this.#volumeTarget(volumes)],
      [GROUP.storage, 'volumeattachments', (attachments) => this.#attachmentTarget(attachments)],
    ];
    const followers = rows.flatMap(([group, resource, make]) => {
      const found = stored.find((each) => each.group === group && each.resource === resource);
      if (found === undefined) return [];
      return [new CacheFollower(cache.resource(found.keyPrefix), make(found))];
    });
    this.#followers = new CacheFollowers(cache, followers, 'pods');
  }

  /** Keeps the graph current until the signal aborts, so that requests need not wait for it. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#followers.whenPrepared(signal);
        this.#followers.catchUp();
      } catch (error) {
        if (!signal.aborted) throw error;
        return;
      }
      await pause(UPDATE_MS, signal);
    }
  }

  /** Waits until the graph is complete. Throws ServiceUnavailable (503) when that takes too long. */
  async whenReady(signal: AbortSignal): Promise<void> {
    await this.#followers.whenReady(signal);
  }

  /** Waits until the graph has every write acknowledged before this call; false when that takes too long. */
  async freshen(signal: AbortSignal): Promise<boolean> {
    return this.#followers.freshen(signal);
  }

  /** Returns whether the node needs the object. Call `whenReady` first. */
  needs(node: string, kind: NeededKind, at: Place): boolean {
    this.#followers.catchUp();
    if (kind === 'volume') return this.#uses.needsVolume(node, at.name);
    if (kind === 'attachment') return this.#attachments.get(at.name) === node;
    return this.#uses.needs(node, kind, at);
  }

  #podTarget(pods: StoredResource): FollowerTarget {
    const uids = new Map<string, string>();
    return {
      reset: () => {
        uids.clear();
        this.#uses.releaseAll(POD);
      },
      changed: (key, entry) => {
        const startedAt = performance.now();
        const node = entry?.fields[NODE_NAME] ?? '';
        if (entry === undefined || node === '') {
          const wasKnown = uids.delete(key);
          this.#uses.release(POD + key);
          if (wasKnown) this.#times.observe('DeletePod', startedAt);
        } else if (uids.get(key) !== entry.uid || this.#uses.nodeOf(POD + key) !== node || mayGrow(entry)) {
          uids.set(key, entry.uid);
          this.#uses.hold(
            POD + key,
            node,
            referencesOfPod(currentOfEntry(pods, entry).object as Pod, this.#features),
          );
          this.#times.observe('AddPod', startedAt);
        }
      },
    };
  }

  #nodeTarget(nodes: StoredResource): FollowerTarget {
    return {
      reset: () => this.#uses.releaseAll(NODE),
      changed: (key, entry) => {
        const startedAt = performance.now();
        // Do not decode a node for a heartbeat.
        const references =
          entry?.bytes.includes(CONFIG_SOURCE) === true
            ? referencesOfNode(currentOfEntry(nodes, entry).object as Node)
            : [];
        if (references.length === 0) this.#uses.release(NODE + key);
        else {
          this.#uses.hold(NODE + key, key, references);
          this.#times.observe('SetNodeConfigMap', startedAt);
        }
      },
    };
  }

  #volumeTarget(volumes: StoredResource): FollowerTarget {
    return {
      reset: () => this.#uses.clearVolumes(),
      changed: (key, entry) => {
        const startedAt = performance.now();
        const volume =
          entry === undefined
            ? undefined
            : referencesOfVolume(currentOfEntry(volumes, entry).object as PersistentVolume);
        this.#uses.setVolume(key, volume);
        this.#times.observe(entry === undefined ? 'DeletePV' : 'AddPV', startedAt);
      },
    };
  }

  #attachmentTarget(attachments: StoredResource): FollowerTarget {
    return {
      reset: () => this.#attachments.clear(),
      changed: (key, entry) => {
        const startedAt = performance.now();
        if (entry === undefined) this.#attachments.delete(key);
        else {
          const { spec } = currentOfEntry(attachments, entry).object as VolumeAttachment;
          this.#attachments.set(key, spec.nodeName);
        }
        this.#times.observe(
          entry === undefined ? 'DeleteVolumeAttachment' : 'AddVolumeAttachment',
          startedAt,
        );
      },
    };
  }
}

/** The kinds of objects that the graph can look up. */
export type NeededKind = ReferenceKind | 'volume' | 'attachment';

interface Place {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

type TargetOf = (resource: StoredResource) => FollowerTarget;

const POD = 'pod ';
const NODE = 'node ';
const NODE_NAME = 'spec.nodeName';
const CONFIG_SOURCE = Buffer.from('"configSource"');
const EPHEMERAL_CONTAINERS = Buffer.from('"ephemeralContainers"');

/** The references of a scheduled pod are immutable, except that ephemeral containers add some. */
function mayGrow({ bytes }: Entry): boolean {
  return bytes.includes(EPHEMERAL_CONTAINERS);
}
