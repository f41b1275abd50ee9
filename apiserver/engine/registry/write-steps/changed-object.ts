import { withNextGeneration } from '../../../../shared/meta/generation';
import type { FieldError } from '../../../../shared/errors/field-error';
import { ZERO_TEXT } from '../../../../shared/errors/go-values';
import { invalidObject } from '../../../../shared/errors/field-error';
import { conflict } from '../../../../shared/errors/status-error';
import { pathSegmentName } from '../../../../shared/meta/name-rules';
import type { ApiObject, ObjectMeta } from '../../../../shared/object/object';
import type { Writable } from '../../../../shared/object/values';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../../shared/meta/validate-metadata';
import { isFinished } from '../deletion';
import type { WriteAttempt } from '../write-attempt';
import { withTrackedFieldsOnly } from '../field-tracking';
import { desiredStateDiffers, metadataForUpdate } from '../metadata';
import type { StoredResource } from '../resource';
import { uidConflict } from '../storage-error';
import type { MetadataChecks, Strategy, SubresourceStrategy } from '../strategy';
import { statusSubresource, withStatus } from '../strategy';
import { writeInfo } from '../write-context';
import type { WriteRequest } from '../write-request';
import { checkedNamespace, nameRuleOf } from './new-object';
import { MODIFIED } from './change';

/**
 * The uid in a PUT is a precondition. In the result of a patch another uid is a change that validation
 * refuses.
 */
export function checkPreconditions(draft: WriteAttempt): void {
  const { context, request, options, view } = draft.asked;
  const current = requireCurrent(draft);
  const { name } = request;
  const { stored, row } = request.endpoint;
  const { resourceVersion = '' } = draft.object.metadata;
  // A webhook that changes the uid violates a precondition only through a view; else validation refuses it.
  const { uid } = (view === undefined ? draft.sent : draft.object).metadata;
  const isReplacement = options.creates === 'kind';
  if (isReplacement && uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
    throw uidConflict(context, request, { asked: uid, found: current.metadata.uid });
  }
  if (resourceVersion === '' || resourceVersion === '0') {
    if (stored.strategy.requiresResourceVersion !== true) return;
    throw invalidObject({ group: stored.group, kind: stored.resource }, name, [NO_VERSION]);
  }
  if (resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(row, name, MODIFIED);
  }
}

const NO_VERSION: FieldError = {
  reason: 'FieldValueInvalid',
  field: 'metadata.resourceVersion',
  message: `Invalid value: ${ZERO_TEXT}: must be specified for an update`,
};

/** Sets the fields of an updated object that only the server sets. */
export function prepareChanged(draft: WriteAttempt): void {
  const { context, request } = draft.asked;
  const current = requireCurrent(draft);
  const { stored, row } = request.endpoint;
  const info = writeInfo(context, request);
  const { strategy } = stored;
  const next = withTrackedFieldsOnly(context, draft.object);
  const metadata = metadataForUpdate(next.metadata, current.metadata, {
    namespace: checkedNamespace(draft),
    keepsLink: request.dryRun,
  });
  const merged: ApiObject = { ...next, metadata };
  const subresource = subresourceStrategy(request);
  if (subresource !== undefined) {
    const changed = subresource.prepareForUpdate(merged, current, info);
    const isFixed = strategy.statusLeavesMetadata === true && request.subresource === 'status';
    draft.object = isFixed
      ? { ...changed, metadata: metadataLeft(current.metadata, changed.metadata, strategy) }
      : changed;
    return;
  }
  const hasStatus = row.subresources.some((each) => each.name === 'status');
  const kept = hasStatus ? withStatus(merged, current['status']) : merged;
  const prepared = strategy.prepareForUpdate?.(kept, current, info) ?? kept;
  const isNext =
    strategy.tracksGeneration === true &&
    desiredStateDiffers(stored.type, prepared, current, strategy.generationCountsStatus);
  draft.object = isNext ? withNextGeneration(prepared, current) : prepared;
}

/** Collects all validation errors: metadata, its change, the rules of the kind, the rules for changes. */
export function validateChanged(draft: WriteAttempt): void {
  const { asked, object: next } = draft;
  const current = requireCurrent(draft);
  const { stored } = asked.request.endpoint;
  const { strategy, namespaced } = stored;
  const info = { ...writeInfo(asked.context, asked.request), sent: draft.sent };
  const subresource = subresourceStrategy(asked.request);
  const checks = metadataChecksOf(stored, subresource);
  const metadata = validateObjectMeta(next.metadata, {
    namespaced,
    validateName: NAME_CHECKS.has(checks) ? nameRuleOf(strategy) : pathSegmentName,
    path: 'metadata',
    freeFinalizers: !DOMAIN_CHECKS.has(checks),
  });
  const moved = validateObjectMetaUpdate(next.metadata, current.metadata, 'metadata');
  const kept = (found: readonly FieldError[] = []): readonly FieldError[] =>
    found.length === 0 ? found : (strategy.ratchets?.(found, current, info) ?? found);
  const always = subresource === undefined ? kept(strategy.validate?.(next, info, current)) : [];
  const changes = kept((subresource ?? strategy).validateUpdate?.(next, current, info));
  draft.faults = [...metadata, ...moved, ...always, ...changes];
}

/**
 * The checks of metadata: those of the kind; a subresource without its own setting does not validate
 * generateName.
 */
function metadataChecksOf(
  { custom, strategy }: StoredResource,
  subresource: SubresourceStrategy | undefined,
): MetadataChecks {
  if (subresource?.metadataChecks !== undefined) return subresource.metadataChecks;
  const { metadataChecks = custom === undefined ? 'all' : 'least' } = strategy.compat ?? {};
  if (subresource === undefined) return metadataChecks;
  return DOMAIN_CHECKS.has(metadataChecks) ? 'old names' : 'least';
}

/** Checks that validate generateName in updates. */
const NAME_CHECKS: ReadonlySet<MetadataChecks> = new Set(['all', 'no domains']);

const DOMAIN_CHECKS: ReadonlySet<MetadataChecks> = new Set(['all', 'old names']);

/** A terminating object that only waited for this change is removed. */
export function removeFinished(draft: WriteAttempt): void {
  if (isFinished(draft.object, draft.asked.request.endpoint.stored.strategy)) draft.outcome = 'delete';
}

/** Returns the current object; these steps run for existing objects only. */
function requireCurrent({ current }: WriteAttempt): ApiObject {
  if (current === undefined) throw new Error('an update of nothing');
  return current;
}

/** The previous metadata with the new managedFields and the fields that the status of the kind changes. */
function metadataLeft(previous: ObjectMeta, next: ObjectMeta, { compat = {} }: Strategy): ObjectMeta {
  const { statusTakes = [] } = compat;
  const left: Writable<ObjectMeta> = { ...previous };
  for (const field of ['managedFields', ...statusTakes] as const) {
    delete left[field];
    if (next[field] !== undefined) Object.assign(left, { [field]: next[field] });
  }
  return left;
}

function subresourceStrategy({ endpoint, subresource }: WriteRequest): SubresourceStrategy | undefined {
  if (subresource === '') return undefined;
  return endpoint.stored.strategy.subresources?.[subresource] ?? statusSubresource;
}
