import { nextGeneration } from '../../../shared/meta/generation';
import { FINALIZER } from '../../../shared/names';
import type { ApiObject, ObjectMeta } from '../../../shared/object/object';
import { isTerminating, timestamp } from './metadata';
import type { Strategy } from './strategy';

/** The decoded and validated options of a deletion. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun: boolean;
}

/**
 * The effect of a deletion. `remove`: the object is removed now, as it was stored; `mark`: it is written
 * with a deletionTimestamp, and removed when it {@link isFinished}; `wait`: it is terminating already and
 * does not change.
 */
export type DeletionPlan =
  | { readonly kind: 'remove'; readonly object: ApiObject }
  | { readonly kind: 'mark'; readonly object: ApiObject }
  | { readonly kind: 'wait'; readonly object: ApiObject };

/**
 * Decides between removing, marking and waiting. Follows rest.BeforeDelete and the generic registry's
 * updateForGracefulDeletionAndFinalizers of Kubernetes v1.21.
 */
export function planDeletion(
  object: ApiObject,
  strategy: Strategy,
  options: DeleteOptions,
  nowMs: number,
): DeletionPlan {
  if (strategy.beginDeletion !== undefined && !isTerminating(object.metadata)) {
    return { kind: 'mark', object: strategy.beginDeletion(object, nowMs) };
  }
  const graceful = planGrace(object, strategy, options, nowMs);
  if (graceful.kind === 'wait') return { kind: 'wait', object };
  const finalizers = finalizersForDeletion(object.metadata, strategy, options);
  const marked = { ...graceful.object, metadata: withFinalizers(graceful.object.metadata, finalizers) };
  const held = finalizers.length > 0 || strategy.holdsBack?.(marked) === true;
  if (held && graceful.kind === 'at once') return { kind: 'mark', object: markNow(marked, strategy, nowMs) };
  if (held || graceful.kind !== 'at once') return { kind: 'mark', object: marked };
  return { kind: 'remove', object };
}

type Grace =
  | { readonly kind: 'at once'; readonly object: ApiObject }
  | { readonly kind: 'later'; readonly object: ApiObject }
  | { readonly kind: 'now, marked'; readonly object: ApiObject }
  | { readonly kind: 'wait' };

function planGrace(object: ApiObject, strategy: Strategy, options: DeleteOptions, nowMs: number): Grace {
  const { metadata } = object;
  if (strategy.graceSeconds === undefined) return { kind: 'at once', object };
  // The removal of a marked object failed before: it is removed now.
  if (isFinished(object, strategy)) return { kind: 'at once', object };
  if (isTerminating(metadata)) return planAgain(object, options);
  const seconds = strategy.graceSeconds(object, options.gracePeriodSeconds);
  if (seconds === undefined) return { kind: 'at once', object };
  const marked: ApiObject = {
    ...object,
    metadata: {
      ...withNextGeneration(metadata),
      deletionTimestamp: timestamp(nowMs + durationMsOf(seconds)),
      deletionGracePeriodSeconds: seconds,
    },
  };
  return { kind: seconds > 0 ? 'later' : 'now, marked', object: marked };
}

/** The maximum grace period in seconds, which a number holds exactly. */
export function graceOf(seconds: number | bigint): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(seconds)));
}

/** Converts seconds to milliseconds by the 64-bit nanoseconds of upstream, which overflow after 292 years. */
function durationMsOf(seconds: number): number {
  if (Math.abs(seconds) < SECONDS_EXACT_MAX) return seconds * 1000;
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);
}

const SECONDS_EXACT_MAX = 9_000_000_000;

/**
 * A second deletion of a terminating object may only shorten the grace period. After the grace period it may
 * choose another propagation policy.
 */
function planAgain(object: ApiObject, options: DeleteOptions): Grace {
  const { metadata } = object;
  const current = metadata.deletionGracePeriodSeconds;
  if (current === undefined || current === 0) return { kind: 'at once', object };
  const wanted = options.gracePeriodSeconds;
  if (wanted === undefined || wanted >= current) return { kind: 'wait' };
  const deadlineMs = Date.parse(metadata.deletionTimestamp ?? '') + durationMsOf(wanted - current);
  const marked: ApiObject = {
    ...object,
    metadata: { ...metadata, deletionTimestamp: timestamp(deadlineMs), deletionGracePeriodSeconds: wanted },
  };
  return { kind: wanted > 0 ? 'later' : 'now, marked', object: marked };
}

/** Marks an object that only finalizers or its content hold. */
function markNow(object: ApiObject, strategy: Strategy, nowMs: number): ApiObject {
  const { metadata } = object;
  const first = metadata.deletionGracePeriodSeconds === undefined;
  const alreadyDue = isTerminating(metadata) && Date.parse(metadata.deletionTimestamp ?? '') <= nowMs;
  const marked: ApiObject = {
    ...object,
    metadata: {
      ...(first ? withNextGeneration(metadata) : metadata),
      deletionTimestamp: alreadyDue ? (metadata.deletionTimestamp ?? null) : timestamp(nowMs),
      deletionGracePeriodSeconds: 0,
    },
  };
  return strategy.markTerminating?.(marked) ?? marked;
}

function withNextGeneration(metadata: ObjectMeta): ObjectMeta {
  const { generation } = metadata;
  return generation === undefined || generation === 0
    ? metadata
    : { ...metadata, generation: nextGeneration(generation) };
}

function withFinalizers(metadata: ObjectMeta, finalizers: readonly string[]): ObjectMeta {
  const { finalizers: _replaced, ...rest } = metadata;
  return finalizers.length === 0 ? rest : { ...rest, finalizers };
}

/**
 * The finalizers with `orphan` or `foregroundDeletion`, by the options, the object, or the default of the
 * kind.
 */
function finalizersForDeletion(
  metadata: ObjectMeta,
  strategy: Strategy,
  options: DeleteOptions,
): readonly string[] {
  const present = metadata.finalizers ?? [];
  const others = present.filter((each) => each !== FINALIZER.orphan && each !== FINALIZER.foregroundDeletion);
  const propagation = propagationOf(present, strategy, options);
  const wanted = [...others, ...propagation];
  const had = new Set(present);
  const unchanged = wanted.length === present.length && wanted.every((each) => had.has(each));
  return unchanged ? present : wanted;
}

function propagationOf(
  present: readonly string[],
  strategy: Strategy,
  options: DeleteOptions,
): readonly string[] {
  if (strategy.defaultPropagation === 'Unsupported') return [];
  if (options.orphanDependents !== undefined) return options.orphanDependents ? [FINALIZER.orphan] : [];
  if (options.propagationPolicy === 'Orphan') return [FINALIZER.orphan];
  if (options.propagationPolicy === 'Foreground') return [FINALIZER.foregroundDeletion];
  if (options.propagationPolicy === 'Background') return [];
  const own = present.filter((each) => each === FINALIZER.orphan || each === FINALIZER.foregroundDeletion);
  if (own.length > 0) return own;
  return strategy.defaultPropagation === 'Orphan' ? [FINALIZER.orphan] : [];
}

/** Whether nothing holds a terminating object any more: it is removed instead of updated. */
export function isFinished(object: ApiObject, strategy: Strategy): boolean {
  const { metadata } = object;
  return (
    isTerminating(metadata) &&
    (metadata.finalizers ?? []).length === 0 &&
    (metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
    strategy.holdsBack?.(object) !== true
  );
}
