import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../../shared/concurrency/clock';
import type { LimitRangeItem, PersistentVolumeClaim, Pod } from '../../../../shared/api/types/core-v1';
import { isTerminating } from '../../../engine/registry/metadata';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { ContainerDefaults } from './limit-range-defaults';
import { withContainerDefaults } from './limit-range-defaults';
import { claimExcesses, podExcesses } from './limit-range-limits';
import type { AdmissionPlugin, WriteOf } from '../plugin';
import { anyOf, isWriteOf, pluginOf, writesOf } from '../plugin';
import { joinProblems } from '../../../../shared/errors/field-error';
import { refusal } from '../refusal';
import { CLAIMS, LIMIT_RANGES, PODS } from '../../cluster/resources';

/**
 * The LimitRanges of a namespace: what containers get that say nothing, and what pods, containers and claims may ask for. Pods are
 * looked at when they are made: what they ask for cannot change later.
 */
export function limitRanger(clock: Clock): AdmissionPlugin {
  const unlimited = new UnlimitedNamespaces(clock);
  return pluginOf(anyOf(writesOf(PODS, ['CREATE']), writesOf(CLAIMS, ['CREATE', 'UPDATE'])), {
    async mutate(attributes, cluster, signal) {
      const { object } = attributes;
      const { namespace } = attributes.write;
      if (isLeaving(attributes)) return object;
      if (cluster.list(LIMIT_RANGES, namespace).length === 0 && unlimited.needsCheck(namespace)) {
        await cluster.freshen(signal);
        unlimited.noteChecked(namespace);
      }
      if (!isWriteOf(PODS, attributes) || attributes.object === undefined) return object;
      return limitsOf(attributes, cluster).reduce(
        (pod, limits) => withContainerDefaults(pod, defaultsOf(limits)),
        attributes.object,
      );
    },
    validate(attributes, cluster) {
      if (attributes.object === undefined || isLeaving(attributes)) return;
      for (const limits of limitsOf(attributes, cluster)) {
        const excesses = excessesOf(attributes, limits);
        if (excesses.length > 0) throw refusal(attributes, joinProblems(excesses));
      }
    },
  });
}

function excessesOf(
  attributes: WriteOf<Pod | PersistentVolumeClaim>,
  limits: readonly LimitRangeItem[],
): readonly string[] {
  if (isWriteOf(PODS, attributes)) return attributes.object ? podExcesses(attributes.object, limits) : [];
  if (isWriteOf(CLAIMS, attributes)) return attributes.object ? claimExcesses(attributes.object, limits) : [];
  return [];
}

/** What is being deleted may still be changed: only then can it go. */
function isLeaving({ oldObject }: AdmissionAttributes): boolean {
  return oldObject !== undefined && isTerminating(oldObject.metadata);
}

const CHECKED_NAMESPACES_MAX = 10_000;
const CHECK_HOLDS_MS = 30_000;

/**
 * The namespaces that are known to have no limits: what the cache does not have is looked for at a read index now and then, so that
 * the first pods after a LimitRange do not slip by it.
 */
class UnlimitedNamespaces {
  readonly #clock: Clock;
  /** When each was checked. */
  readonly #checkedMs = new LRUCache<string, number>({ max: CHECKED_NAMESPACES_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  needsCheck(namespace: string): boolean {
    const agoMs = this.#clock.now() - (this.#checkedMs.get(namespace) ?? -Infinity);
    // Where the clock was set back, nothing is known of how long ago it was.
    return agoMs < 0 || agoMs > CHECK_HOLDS_MS;
  }

  noteChecked(namespace: string): void {
    this.#checkedMs.set(namespace, this.#clock.now());
  }
}

/** The limits of each range. */
function limitsOf(
  { write: { namespace } }: AdmissionAttributes,
  cluster: ClusterReader,
): readonly (readonly LimitRangeItem[])[] {
  return cluster.list(LIMIT_RANGES, namespace).map(({ spec }) => spec.limits ?? []);
}

function defaultsOf(limits: readonly LimitRangeItem[]): ContainerDefaults {
  const ofContainers = limits.filter(({ type }) => type === 'Container');
  return {
    limits: Object.assign({}, ...ofContainers.map((limit) => limit.default)) as Record<string, string>,
    requests: Object.assign({}, ...ofContainers.map((limit) => limit.defaultRequest)) as Record<
      string,
      string
    >,
  };
}
