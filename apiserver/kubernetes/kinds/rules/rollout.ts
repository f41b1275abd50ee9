import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import type { GoValue } from '../../../../shared/errors/go-values';
import { goStruct } from '../../../../shared/errors/go-values';
import { goQuote } from '../../../../shared/errors/go-quote';
import { integer, text } from '../../../../shared/object/accessors';
import { nonNegative } from './primitives';

/** Numbers of pods that are given outright or as a share: `2` or `25%`. */

const PERCENT = /^[0-9]+%$/;

/** A number of at least 0, or a percentage. */
export function intOrPercent(value: unknown, path: string): FieldError[] {
  if (typeof value !== 'string') return nonNegative(value, path);
  if (PERCENT.test(value)) return [];
  const why =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalid(path, shareInGo(value), why)];
}

/** Checks that a percentage is at most 100 %; absolute numbers are not limited. */
export function atMostAll(value: unknown, path: string): FieldError[] {
  const isMore = PERCENT.test(text(value)) && Number.parseInt(text(value), 10) > 100;
  return isMore ? [invalid(path, shareInGo(value), 'must not be greater than 100%')] : [];
}

/** A number or share as refusals show it where they show more than a number. */
export function shareInGo(value: unknown): GoValue {
  const share = typeof value === 'string' ? value : undefined;
  return goStruct('intstr.IntOrString', {
    Type: share === undefined ? '0' : '1',
    IntVal: String(share === undefined ? (integer(value) ?? 0) : 0),
    StrVal: goQuote(share ?? ''),
  });
}

const NUMERAL = /^[+-]?[0-9]+%?$/;

/** True for 0, `0%` and what is no number; a number in quotes counts as one here, though it is refused as a share. */
export function isNone(value: unknown): boolean {
  if (typeof value !== 'string') return (integer(value) ?? 0) === 0;
  return !NUMERAL.test(value) || Number.parseInt(value, 10) === 0;
}
