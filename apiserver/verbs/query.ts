import { GROUP } from '../../shared/names';
import { boolParameter } from '../exchange/bool-parameter';
import { validateFieldManager } from '../../shared/meta/validate-metadata';
import { badRequest } from '../../shared/errors/status-error';
import type { FieldError } from '../../shared/errors/field-error';
import { forbiddenField, invalidObject, notSupported, required } from '../../shared/errors/field-error';

/** Which options object a verb's query belongs to; its name stands in error messages. */
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

/** True for `dryRun=All`. Throws Invalid for another value, also for an empty one. */
export function dryRunParameter(values: readonly string[], kind: OptionsKind): boolean {
  const wrong = values.filter((value) => value !== 'All');
  if (wrong.length > 0) {
    const errors: FieldError[] = wrong.map((value) => notSupported('dryRun', value, ['All']));
    throw invalidObject({ group: GROUP.meta, kind }, '', errors);
  }
  return values.length > 0;
}

/**
 * Checks the options of a patch: an apply names its manager, and nothing else is forced. Throws Invalid.
 */
export function checkPatchOptions(query: URLSearchParams, isApply: boolean): void {
  const manager = query.get('fieldManager') ?? '';
  const errors: FieldError[] = [];
  if (isApply && manager === '') errors.push(required('fieldManager', 'is required for apply patch'));
  if (!isApply && query.has('force')) {
    errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  }
  errors.push(...validateFieldManager(manager, 'fieldManager'));
  if (errors.length > 0) throw invalidObject({ group: GROUP.meta, kind: 'PatchOptions' }, '', errors);
}

/** Checks `fieldManager` (printable, at most 128 characters). Throws Invalid. */
export function checkFieldManager(query: URLSearchParams, kind: OptionsKind): void {
  const manager = query.get('fieldManager') ?? '';
  const errors = validateFieldManager(manager, 'fieldManager');
  if (errors.length > 0) throw invalidObject({ group: GROUP.meta, kind }, '', errors);
}
