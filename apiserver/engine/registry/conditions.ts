import type { Time } from '../../../shared/object/values';
import type { ApiObject } from '../../../shared/object/object';
import { timestamp } from './metadata';
import { withStatus } from './strategy';

/** A member of `status.conditions`, without its lastTransitionTime. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** A condition as an object holds it. */
export interface HeldCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: Time | null;
  readonly reason?: string;
  readonly message?: string;
}

/** A kind whose status has conditions. */
interface Conditioned {
  readonly status?: { readonly conditions?: readonly HeldCondition[] | null };
}

export function conditionOf(object: Conditioned, type: string): HeldCondition | undefined {
  return conditionsOf(object).find((each) => each.type === type);
}

export function isConditionTrue(object: Conditioned, type: string): boolean {
  return conditionOf(object, type)?.status === 'True';
}

/**
 * Sets a condition; returns the same object if nothing changes. The lastTransitionTime changes with the
 * status.
 */
export function withCondition<T extends ApiObject & Conditioned>(
  object: T,
  condition: Condition,
  nowMs: number,
): T {
  const { type, status, reason, message } = condition;
  const known = conditionOf(object, type);
  if (known === undefined) {
    const added = { type, status, lastTransitionTime: timestamp(nowMs), reason, message };
    return withConditions(object, [...conditionsOf(object), added]);
  }
  if (known.status === status && known.reason === reason && known.message === message) return object;
  const since = known.status === status ? known.lastTransitionTime : undefined;
  const changed = { ...known, status, lastTransitionTime: since ?? timestamp(nowMs), reason, message };
  return withConditions(
    object,
    conditionsOf(object).map((each) => (each === known ? changed : each)),
  );
}

/** Removes a condition; returns the same object if it has none. */
export function withoutCondition<T extends ApiObject & Conditioned>(object: T, type: string): T {
  if (conditionOf(object, type) === undefined) return object;
  return withConditions(
    object,
    conditionsOf(object).filter((each) => each.type !== type),
  );
}

function conditionsOf({ status }: Conditioned): readonly HeldCondition[] {
  return status?.conditions ?? [];
}

function withConditions<T extends ApiObject & Conditioned>(
  object: T,
  conditions: readonly HeldCondition[],
): T {
  return withStatus<T>(object, { ...object.status, conditions });
}
