import { EvalError, ListValue, MapValue, NO_OVERLOAD, OptionalValue, mapKeyOf, typeOfValue } from './values';
import type { Result, Value } from './values';
import { convertToString } from './convert';

/** Looks up a field or an index; undefined when it is absent. */
export type Lookup = Value | undefined | EvalError;

function noSuchKey(key: Value): EvalError {
  return new EvalError(`no such key: ${describeValue(key)}`);
}

/** Writes a value in an error message: what it converts to as text, or its type. */
export function describeValue(value: Value): string {
  const text = convertToString(value);
  return text instanceof EvalError || typeof text !== 'string' ? typeOfValue(value).name : text;
}

/** Returns the value at an index of a list or a key of a map, or the error that upstream reports. */
export function indexInto(container: Value, index: Value): Result {
  const found = lookUp(container, index);
  if (found !== undefined) return found;
  if (container instanceof ListValue) return new EvalError(`index out of bounds: ${String(mapKeyOf(index))}`);
  return noSuchKey(index);
}

/** Finds the value at an index of a list or a key of a map. */
export function lookUp(container: Value, index: Value): Lookup {
  if (container instanceof MapValue) {
    const key = mapKeyOf(index);
    return key === undefined ? undefined : container.resolve(key);
  }
  if (!(container instanceof ListValue)) return NO_OVERLOAD;
  const position = mapKeyOf(index);
  if (typeof position !== 'bigint') return new EvalError('unsupported index type in list');
  return position >= 0n && position < BigInt(container.size) ? container.at(Number(position)) : undefined;
}

/** Selects a field of an object or a map; of an optional value the field is optional as well. */
export function selectField(operand: Value, field: string): Result {
  if (operand instanceof MapValue) return indexInto(operand, field);
  if (operand instanceof OptionalValue) return optionalLookup(operand, field);
  return NO_OVERLOAD;
}

/** Returns the value at an index, or a field, as an optional: empty when the operand or the value is absent. */
export function optionalLookup(operand: Value, index: Value): Result {
  const container = operand instanceof OptionalValue ? operand.value : operand;
  if (container === undefined) return OptionalValue.none;
  const found = lookUp(container, index);
  if (found instanceof EvalError) return found;
  return found === undefined ? OptionalValue.none : new OptionalValue(found);
}

/** Whether an operand has a field, for `has()`. */
export function hasField(operand: Value, field: string): Result {
  if (operand instanceof MapValue) return operand.has(field);
  if (!(operand instanceof OptionalValue)) return NO_OVERLOAD;
  return operand.value === undefined ? false : hasField(operand.value, field);
}
