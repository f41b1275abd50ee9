import { GROUP } from '../../../shared/names';
import { boolParameter } from '../request/bool-parameter';
import { validateFieldManager } from '../../../shared/meta/validate-metadata';
import { badRequest } from '../../../shared/errors/status-error';
import type { FieldError } from '../../../shared/errors/field-error';
import { forbiddenField, invalidObject, required } from '../../../shared/errors/field-error';
import { dryRunErrors } from '../registry/delete-options-rules';
import type { ListQuery } from '../registry/list-plan';

/** The options kind of a verb, for error messages. */
export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

/** See {@link boolParameter}; undefined when absent. */
export function optionalBoolParameter(query: URLSearchParams, name: string): boolean | undefined {
  return query.has(name) ? boolParameter(query, name) : undefined;
}

/** A 64-bit integer; undefined when absent. Throws BadRequest, also for an empty value. */
export function intParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = BigInt(text.replace('+', ''));
  if (BigInt.asIntN(64, value) !== value) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return Number(value);
}

/**
 * Validates the options of a create or update: fieldManager must be printable and have at most 128
 * characters. Returns whether it is a dry run. Throws Invalid.
 */
export function writeOptions(query: URLSearchParams, kind: OptionsKind): boolean {
  const dryRun = query.getAll('dryRun');
  refuse(kind, [
    ...validateFieldManager(query.get('fieldManager') ?? '', 'fieldManager'),
    ...dryRunErrors(dryRun),
  ]);
  return dryRun.length > 0;
}

/** The same for a patch: an apply requires fieldManager, and only an apply accepts force. */
export function patchOptions(query: URLSearchParams, isApply: boolean): boolean {
  const dryRun = query.getAll('dryRun');
  const manager = query.get('fieldManager') ?? '';
  refuse('PatchOptions', [
    ...(isApply && manager === '' ? [required('fieldManager', 'is required for apply patch')] : []),
    ...(!isApply && query.has('force')
      ? [forbiddenField('force', 'may not be specified for non-apply patch')]
      : []),
    ...validateFieldManager(manager, 'fieldManager'),
    ...dryRunErrors(dryRun),
  ]);
  return dryRun.length > 0;
}

function refuse(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: GROUP.meta, kind }, '', errors);
}

/**
 * Parses the parameters of a list, a watch or a deletion of a collection, without the selectors. Throws
 * BadRequest for an invalid number; of several, for the one that upstream parses first.
 */
export function listQueryOf(query: URLSearchParams): ListQuery {
  return {
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: intParameter(query, 'timeoutSeconds'),
    limit: intParameter(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
    sendInitialEvents: optionalBoolParameter(query, 'sendInitialEvents'),
  };
}
