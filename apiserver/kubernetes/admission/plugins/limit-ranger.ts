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
 * Enforces the LimitRanges of a namespace: defaults of containers, and limits of pods, containers and claims. Pods are checked at
 * creation, because their requests cannot change later.
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

/** Terminating objects may be changed so that they can be removed. */
function isLeaving({ oldObject }: AdmissionAttributes): boolean {
  return oldObject !== undefined && isTerminating(oldObject.metadata);
}

const CHECKED_NAMESPACES_MAX = 10_000;
const CHECK_HOLDS_MS = 30_000;

/**
 * Namespaces known to have no LimitRange. A negative result is confirmed by a read index from time to time, so that the first pods after
 * a new LimitRange are checked.
 */
class UnlimitedNamespaces {
  readonly #clock: Clock;
  /** Time of each confirmation. */
  readonly #checkedMs = new LRUCache<string, number>({ max: CHECKED_NAMESPACES_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  needsCheck(namespace: string): boolean {
    const agoMs = this.#clock.now() - (this.#checkedMs.get(namespace) ?? -Infinity);
    // If the clock was set back, the elapsed time is unknown.
    return agoMs < 0 || agoMs > CHECK_HOLDS_MS;
  }

  noteChecked(namespace: string): void {
    this.#checkedMs.set(namespace, this.#clock.now());
  }
}

/** Returns the limits of each range. */
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
