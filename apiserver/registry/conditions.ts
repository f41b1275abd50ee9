import type { ApiObject } from '../../shared/object/object';
import { timestamp } from './metadata';
import type { Json } from '../../shared/object/accessors';
import { record, records } from '../../shared/object/accessors';

/** A member of `status.conditions`, but for the time of its last transition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export function conditionOf(object: ApiObject, type: string): Json | undefined {
  return conditionsOf(object).find((each) => each['type'] === type);
}

export function isConditionTrue(object: ApiObject, type: string): boolean {
  return conditionOf(object, type)?.['status'] === 'True';
}

/** The object with the condition; the same object where it says all that already. Its transition is now when its status is another one. */
export function withCondition(object: ApiObject, condition: Condition, nowMs: number): ApiObject {
  const { type, status, reason, message } = condition;
  const known = conditionOf(object, type);
  if (known === undefined) {
    const added = { type, status, lastTransitionTime: timestamp(nowMs), reason, message };
    return withConditions(object, [...conditionsOf(object), added]);
  }
  if (known['status'] === status && known['reason'] === reason && known['message'] === message) return object;
  const since = known['status'] === status ? known['lastTransitionTime'] : undefined;
  const changed = { ...known, status, lastTransitionTime: since ?? timestamp(nowMs), reason, message };
  return withConditions(
    object,
    conditionsOf(object).map((each) => (each === known ? changed : each)),
  );
}

/** The object without the condition; the same object where it does not have it. */
export function withoutCondition(object: ApiObject, type: string): ApiObject {
  if (conditionOf(object, type) === undefined) return object;
  return withConditions(
    object,
    conditionsOf(object).filter((each) => each['type'] !== type),
  );
}

function conditionsOf(object: ApiObject): readonly Json[] {
  return records(record(object['status'])['conditions']);
}

function withConditions(object: ApiObject, conditions: readonly Json[]): ApiObject {
  return { ...object, status: { ...record(object['status']), conditions } };
}
