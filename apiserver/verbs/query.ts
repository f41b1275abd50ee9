import { GROUP } from '../../shared/names';
import { validateFieldManager } from '../../shared/meta/validate-metadata';
import { badRequest } from '../../shared/errors/status-error';
import type { FieldError } from '../../shared/errors/field-error';
import { invalidObject, notSupported } from '../../shared/errors/field-error';

/** Which options object a verb's query belongs to; its name stands in error messages. */
export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

/** `true`, `1`, `t` … as Go's strconv reads them; an empty value counts as true. Throws BadRequest for anything else. */
export function boolParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  if (value === null) return false;
  const text = value.toLowerCase();
  return text !== 'false' && text !== '0';
}

/** A 64-bit integer; undefined when absent or empty. Throws BadRequest. */
export function intParameter(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const value = BigInt(text.replace('+', ''));
  if (BigInt.asIntN(64, value) !== value) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`);
  }
  return Number(value);
}

/** True for `dryRun=All`. Throws Invalid for another value. */
export function dryRunParameter(values: readonly string[], kind: OptionsKind): boolean {
  const asked = values.filter((value) => value !== '');
  const wrong = asked.filter((value) => value !== 'All');
  if (wrong.length > 0) {
    const errors: FieldError[] = wrong.map((value) => notSupported('dryRun', value, ['All']));
    throw invalidObject({ group: GROUP.meta, kind }, '', errors);
  }
  return asked.length > 0;
}

/** Checks `fieldManager` (printable, at most 128 characters). Throws Invalid. */
export function checkFieldManager(query: URLSearchParams, kind: OptionsKind): void {
  const manager = query.get('fieldManager') ?? '';
  const errors = validateFieldManager(manager, 'fieldManager');
  if (errors.length > 0) throw invalidObject({ group: GROUP.meta, kind }, '', errors);
}
