import { isInForce } from '../../../../shared/api/changes';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../../../shared/api/types/certificates-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import {
  duplicate,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../../../shared/errors/field-error';
import { deepEqual } from '../../../../shared/object/clone';
import { timestamp } from '../../../engine/registry/metadata';
import type { SubresourceStrategy, WriteInfo } from '../../../engine/registry/strategy';
import { withStatus } from '../../../engine/registry/strategy';
import { forEachItem } from '../rules/primitives';

/** The conditions that decide about a request, and the one that ends it. */
const DECISIONS: readonly string[] = ['Approved', 'Denied'];
const LASTING: readonly string[] = [...DECISIONS, 'Failed'];
const STATUSES: readonly string[] = ['False', 'True', 'Unknown'];
const CONDITIONS_FIELD = 'status.conditions';

type Conditions = readonly CertificateSigningRequestCondition[];

/** `approval`: the conditions come from the request, everything else stays. */
export const csrApproval: SubresourceStrategy<CertificateSigningRequest> = {
  prepareForUpdate: (next, previous, info) =>
    withConditions(
      { ...previous, metadata: next.metadata },
      timed(conditionsOf(next), { before: conditionsOf(previous), nowMs: info.nowMs }),
    ),
  validateUpdate: (next, previous, info) => [
    ...validateConditions(next, previous, info),
    ...removedConditions(next, previous),
    ...(next.status?.certificate === previous.status?.certificate
      ? []
      : [forbiddenField('status.certificate', 'updates may not set certificate content')]),
  ],
};

/** `status`: updates the certificate and conditions other than the decisions. */
export const csrStatus: SubresourceStrategy<CertificateSigningRequest> = {
  prepareForUpdate(next, previous, info) {
    const before = conditionsOf(previous);
    const kept = keptConditions(conditionsOf(next), before, info);
    const object = withStatus({ ...previous, metadata: next.metadata }, next.status);
    return withConditions(object, timed(kept, { before, nowMs: info.nowMs }));
  },
  validateUpdate: (next, previous, info) => [
    ...validateConditions(next, previous, info),
    ...removedConditions(next, previous),
    ...changedDecisions(next, previous),
    // v1beta1 may replace what was issued.
    ...(info.via.version === 'v1beta1' ? [] : changedCertificate(next, previous)),
  ],
};

/** Who decided, and how, stays. What changes the number of decisions is refused later, and has no effect on conditions in v1beta1. */
function keptConditions(given: Conditions, before: Conditions, { via }: WriteInfo): Conditions {
  const decisions = (type: string, conditions: Conditions): number =>
    conditions.filter((each) => each.type === type).length;
  const isAsMany = DECISIONS.every((type) => decisions(type, given) === decisions(type, before));
  if (!isAsMany && via.version === 'v1beta1') return before;
  return DECISIONS.reduce((conditions, type) => withInstancesOf(type, conditions, before), given);
}

function conditionsOf({ status }: CertificateSigningRequest): Conditions {
  return status?.conditions ?? [];
}

function withConditions(
  object: CertificateSigningRequest,
  conditions: Conditions,
): CertificateSigningRequest {
  const { conditions: _replaced, ...status } = object.status ?? {};
  return withStatus(object, conditions.length === 0 ? status : { ...status, conditions });
}

/** Times that the client left out: now, or for an unchanged state since when it has been so. */
function timed(
  conditions: Conditions,
  { before, nowMs }: { readonly before: Conditions; readonly nowMs: number },
): Conditions {
  const now = timestamp(nowMs);
  const stateOf = ({ type, status }: CertificateSigningRequestCondition): string =>
    JSON.stringify([type, status]);
  const known = new Map(before.toReversed().map((condition) => [stateOf(condition), condition]));
  return conditions.map((condition) => {
    const same = known.get(stateOf(condition));
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    };
  });
}

/** A decision stays as it is; that one is added or gone is for validation to refuse. */
function withInstancesOf(type: string, conditions: Conditions, before: Conditions): Conditions {
  const old = before.filter((each) => each.type === type);
  const given = conditions.filter((each) => each.type === type);
  return given.length === old.length ? replaced(conditions, { type, old }) : conditions;
}

function replaced(
  conditions: Conditions,
  { type, old }: { readonly type: string; readonly old: Conditions },
): Conditions {
  const rest = [...old];
  return conditions.map((each) => (each.type === type ? (rest.shift() ?? each) : each));
}

/** v1 is stricter than v1beta1 was; what is wrong with the stored object already is let be. */
function validateConditions(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { via }: WriteInfo,
): readonly FieldError[] {
  const before = conditionsOf(previous).map(({ type }) => type);
  const types = new Set(before);
  const isOld = via.version === 'v1beta1';
  const mayBeNameless = isOld || types.has('');
  const mayRepeat = isOld || types.size < before.length;
  const mayContradict = DECISIONS.every((each) => types.has(each));
  const seen = new Set<string>();
  return forEachItem(conditionsOf(next), CONDITIONS_FIELD, (condition, path) => {
    const { type } = condition;
    const found = [...(mayBeNameless ? [] : typeErrors(type, path)), ...statusErrors(condition, path)];
    const isDecided = DECISIONS.includes(type) && DECISIONS.some((each) => each !== type && seen.has(each));
    if (isDecided && !mayContradict) {
      const at = isInForce('contradictionsAtList') ? CONDITIONS_FIELD : `${path}.type`;
      found.push(invalid(at, type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type) && !mayRepeat) found.push(duplicate(`${path}.type`, type));
    seen.add(type);
    return found;
  });
}

function typeErrors(type: string, path: string): readonly FieldError[] {
  return type === '' ? [required(`${path}.type`)] : [];
}

function statusErrors(
  { type, status }: CertificateSigningRequestCondition,
  path: string,
): readonly FieldError[] {
  if (status === '') return [required(`${path}.status`)];
  if (!LASTING.includes(type)) {
    return STATUSES.includes(status) ? [] : [notSupported(`${path}.status`, status, STATUSES)];
  }
  return status === 'True' ? [] : [notSupported(`${path}.status`, status, ['True'])];
}

function removedConditions(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
): readonly FieldError[] {
  return LASTING.filter((type) => instancesOf(next, type).length < instancesOf(previous, type).length).map(
    (type) =>
      forbiddenField(CONDITIONS_FIELD, `updates may not remove a condition of type ${JSON.stringify(type)}`),
  );
}

function changedDecisions(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
): readonly FieldError[] {
  return DECISIONS.flatMap((type) => {
    const [now, before] = [instancesOf(next, type), instancesOf(previous, type)];
    if (now.length < before.length || deepEqual(now, before)) return [];
    const what = now.length > before.length ? 'add' : 'modify';
    return [
      forbiddenField(CONDITIONS_FIELD, `updates may not ${what} a condition of type ${JSON.stringify(type)}`),
    ];
  });
}

function changedCertificate(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
): readonly FieldError[] {
  const before = previous.status?.certificate ?? '';
  if (before === '' || next.status?.certificate === before) return [];
  return [forbiddenField('status.certificate', 'updates may not modify existing certificate content')];
}

function instancesOf(object: CertificateSigningRequest, type: string): Conditions {
  return conditionsOf(object).filter((each) => each.type === type);
}
