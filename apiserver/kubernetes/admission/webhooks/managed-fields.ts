import { withDistinctOwners } from '../../../engine/registry/distinct-owners';
import { deepEqual } from '../../../../shared/object/clone';
import type { ApiObject, ManagedFieldsEntry } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';

/** Removes what webhooks and policies must not leave in the metadata. */
export function settledMetadata(attributes: AdmissionAttributes, object: ApiObject): ApiObject {
  // Options of a connection have no metadata.
  if (object === attributes.object || attributes.operation === 'CONNECT') return object;
  const warnings: string[] = [];
  const distinct = withDistinctOwners(object, warnings, ' after mutating admission happens');
  for (const warning of warnings) attributes.write.warn?.(warning);
  return withSoundManagedFields(attributes, distinct);
}

/**
 * Returns the webhook's object, with the previous managedFields and a warning if the webhook made them invalid. Ownership was computed
 * before, so changes of webhooks belong to no manager.
 */
function withSoundManagedFields(
  { object: before, write: { warn } }: AdmissionAttributes,
  object: ApiObject,
): ApiObject {
  const { managedFields } = object.metadata;
  const given = before?.metadata.managedFields;
  if (managedFields === undefined || managedFields === given || deepEqual(managedFields, given))
    return object;
  const problem = problemOf(managedFields);
  if (problem === undefined) return object;
  warn?.(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  );
  const { managedFields: _unsound, ...metadata } = object.metadata;
  return { ...object, metadata: given === undefined ? metadata : { ...metadata, managedFields: given } };
}

function problemOf(entries: readonly ManagedFieldsEntry[]): string | undefined {
  for (const [index, { operation, apiVersion = '', fieldsType = '', fieldsV1 }] of entries.entries()) {
    const entry = `managed fields entry ${String(index)}`;
    if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
    if (apiVersion === '') return 'apiVersion must not be empty';
    if (fieldsType === '') return `missing fieldsType in ${entry}`;
    if (fieldsType !== 'FieldsV1') return `invalid fieldsType ${JSON.stringify(fieldsType)} in ${entry}`;
    const isObject = typeof fieldsV1 === 'object' && fieldsV1 !== null;
    if (!isObject) return `error decoding versioned set from ${entry}: fieldsV1 is no object`;
  }
  return undefined;
}
