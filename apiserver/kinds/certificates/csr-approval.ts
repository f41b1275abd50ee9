import type { FieldError } from '../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../../shared/errors/field-error';
import { deepEqual } from '../../../shared/object/clone';
import type { ApiObject } from '../../../shared/object/object';
import { timestamp } from '../../registry/metadata';
import type { SubresourceStrategy, WriteInfo } from '../../registry/strategy';
import { withStatus } from '../../registry/strategy';
import type { Json } from '../../../shared/object/accessors';
import { record, records, text } from '../../../shared/object/accessors';
import { forEachItem } from '../rules/primitives';

/** The conditions that decide about a request, and the one that ends it. */
const DECISIONS: readonly string[] = ['Approved', 'Denied'];
const LASTING: readonly string[] = [...DECISIONS, 'Failed'];
const STATUSES: readonly string[] = ['True', 'False', 'Unknown'];
const CONDITIONS_FIELD = 'status.conditions';

/** `approval`: the conditions come from the request, everything else stays. */
export const csrApproval: SubresourceStrategy = {
  prepareForUpdate: (next, previous, info) =>
    withConditions(
      { ...previous, metadata: next.metadata },
      timed(conditionsOf(next), { before: conditionsOf(previous), nowMs: info.nowMs }),
    ),
  validateUpdate: (next, previous, info) => [
    ...validateConditions(next, previous, info),
    ...removedConditions(next, previous),
  ],
};

/** `status`: the certificate and other conditions; who decided, and how, stays. */
export const csrStatus: SubresourceStrategy = {
  prepareForUpdate(next, previous, info) {
    const before = conditionsOf(previous);
    const kept = DECISIONS.reduce(
      (conditions, type) => withInstancesOf(type, conditions, before),
      conditionsOf(next),
    );
    const object = withStatus({ ...previous, metadata: next.metadata }, next['status']);
    return withConditions(object, timed(kept, { before, nowMs: info.nowMs }));
  },
  validateUpdate: (next, previous, info) => [
    ...validateConditions(next, previous, info),
    ...removedConditions(next, previous),
    ...changedDecisions(next, previous),
    ...changedCertificate(next, previous),
  ],
};

function conditionsOf(object: ApiObject): readonly Json[] {
  return records(record(object['status'])['conditions']);
}

function withConditions(object: ApiObject, conditions: readonly Json[]): ApiObject {
  const { conditions: _replaced, ...status } = record(object['status']);
  return withStatus(object, conditions.length === 0 ? status : { ...status, conditions });
}

/** Times that the client left out: now, or for an unchanged state since when it has been so. */
function timed(
  conditions: readonly Json[],
  { before, nowMs }: { readonly before: readonly Json[]; readonly nowMs: number },
): readonly Json[] {
  const now = timestamp(nowMs);
  const stateOf = ({ type, status }: Json): string => JSON.stringify([type, status]);
  const known = new Map(before.toReversed().map((condition) => [stateOf(condition), condition]));
  return conditions.map((condition) => {
    const same = known.get(stateOf(condition));
    return {
      ...condition,
      lastUpdateTime: condition['lastUpdateTime'] ?? now,
      lastTransitionTime: condition['lastTransitionTime'] ?? same?.['lastTransitionTime'] ?? now,
    };
  });
}

/** What an older client left out of, or does not know about, an existing decision is put back in its place. */
function withInstancesOf(
  type: string,
  conditions: readonly Json[],
  before: readonly Json[],
): readonly Json[] {
  const old = before.filter((each) => each['type'] === type);
  const given = conditions.filter((each) => each['type'] === type);
  if (given.length > 0 || old.length === 0) {
    return given.length === old.length ? replaced(conditions, { type, old }) : conditions;
  }
  return [...conditions, ...old];
}

function replaced(
  conditions: readonly Json[],
  { type, old }: { readonly type: string; readonly old: readonly Json[] },
): readonly Json[] {
  const rest = [...old];
  return conditions.map((each) => (each['type'] === type ? (rest.shift() ?? each) : each));
}

/** v1 is stricter than v1beta1 was; what an older client stored is let be. */
function validateConditions(next: ApiObject, previous: ApiObject, { via }: WriteInfo): readonly FieldError[] {
  const conditions = conditionsOf(next);
  if (via.version !== 'v1' || deepEqual(conditions, conditionsOf(previous))) return [];
  const seen = new Set<string>();
  return forEachItem(conditions, CONDITIONS_FIELD, (condition, path) => {
    const type = text(condition['type']);
    const found = [...typeErrors(type, path), ...statusErrors(condition, path)];
    if (seen.has(type)) found.push(duplicate(`${path}.type`, type));
    if (DECISIONS.some((each) => each !== type && seen.has(each)) && DECISIONS.includes(type)) {
      found.push(invalid(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    seen.add(type);
    return found;
  });
}

function typeErrors(type: string, path: string): readonly FieldError[] {
  return type === '' ? [required(`${path}.type`)] : [];
}

function statusErrors(condition: Json, path: string): readonly FieldError[] {
  const status = text(condition['status']);
  if (status === '') return [required(`${path}.status`)];
  if (!LASTING.includes(text(condition['type']))) {
    return STATUSES.includes(status) ? [] : [notSupported(`${path}.status`, status, STATUSES)];
  }
  return status === 'True' ? [] : [notSupported(`${path}.status`, status, ['True'])];
}

function removedConditions(next: ApiObject, previous: ApiObject): readonly FieldError[] {
  return LASTING.filter((type) => instancesOf(next, type).length < instancesOf(previous, type).length).map(
    (type) =>
      forbiddenField(CONDITIONS_FIELD, `updates may not remove a condition of type ${JSON.stringify(type)}`),
  );
}

function changedDecisions(next: ApiObject, previous: ApiObject): readonly FieldError[] {
  return DECISIONS.flatMap((type) => {
    const [now, before] = [instancesOf(next, type), instancesOf(previous, type)];
    if (now.length < before.length || deepEqual(now, before)) return [];
    const what = now.length > before.length ? 'add' : 'modify';
    return [
      forbiddenField(CONDITIONS_FIELD, `updates may not ${what} a condition of type ${JSON.stringify(type)}`),
    ];
  });
}

function changedCertificate(next: ApiObject, previous: ApiObject): readonly FieldError[] {
  const before = text(record(previous['status'])['certificate']);
  if (before === '' || text(record(next['status'])['certificate']) === before) return [];
  return [forbiddenField('status.certificate', 'updates may not modify existing certificate content')];
}

function instancesOf(object: ApiObject, type: string): readonly Json[] {
  return conditionsOf(object).filter((each) => each['type'] === type);
}
