import type { FunctionDeclaration } from '../check/declarations';
import { BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT } from '../check/types';
import type { CelType } from '../check/types';
import { compare } from '../eval/arithmetic';
import { EvalError } from '../eval/values';
import { global } from './functions';

/** Release 1.28 allows numbers of different kinds to be compared. */
const MIXED_NUMBERS_SINCE = 28;

/** The kinds that can be ordered, with the end of the signature's name. */
const ORDERED: readonly (readonly [string, CelType, CelType])[] = [
  ['bool', BOOL, BOOL],
  ['int64', INT, INT],
  ['int64_double', INT, DOUBLE],
  ['int64_uint64', INT, UINT],
  ['uint64', UINT, UINT],
  ['uint64_double', UINT, DOUBLE],
  ['uint64_int64', UINT, INT],
  ['double', DOUBLE, DOUBLE],
  ['double_int64', DOUBLE, INT],
  ['double_uint64', DOUBLE, UINT],
  ['string', STRING, STRING],
  ['bytes', BYTES, BYTES],
  ['timestamp', TIMESTAMP, TIMESTAMP],
  ['duration', DURATION, DURATION],
];

function comparison(name: string, id: string, isTrue: (order: number) => boolean): FunctionDeclaration {
  return {
    name,
    overloads: ORDERED.map(([suffix, a, b]) => ({
      ...global(`${id}_${suffix}`, [a, b], BOOL, (left = null, right = null) => {
        const order = compare(left, right);
        return order instanceof EvalError ? order : isTrue(order);
      }),
      since: a === b ? 0 : MIXED_NUMBERS_SINCE,
    })),
  };
}

export const COMPARISONS: readonly FunctionDeclaration[] = [
  comparison('_<_', 'less', (order) => order < 0),
  comparison('_<=_', 'less_equals', (order) => order <= 0),
  comparison('_>_', 'greater', (order) => order > 0),
  comparison('_>=_', 'greater_equals', (order) => order >= 0),
];
