import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid } from '../../../../shared/errors/field-error';
import { ANNOTATION } from '../../../../shared/names';
import { has, objectAt, textAt } from '../../../../shared/object/json';
import type { ReadonlyJson } from '../../../../shared/object/json';
import type { Strategy } from '../../../engine/registry/strategy';
import { isOn } from '../field-gates';
import { POD_PLACES } from './pod-places';

/** The strategy that, while the gate PodDeletionCost is on, refuses pods and templates whose cost of deletion is no number. */
export function withDeletionCost(resource: string, strategy: Strategy | undefined): Strategy | undefined {
  const place = POD_PLACES.get(resource);
  if (place === undefined) return strategy;
  const path = place.length === 0 ? 'metadata.annotations' : `${place.join('.')}.annotations`;
  const { validateNew, validateUpdate } = strategy ?? {};
  return {
    ...strategy,
    validateNew: (object, info) => [
      ...(isOn(info.settings, 'PodDeletionCost') ? wrongCost(costOf(object, place), path) : []),
      ...(validateNew?.(object, info) ?? []),
    ],
    validateUpdate: (next, previous, info) => [
      // What was wrong before the gate was on may stay so.
      ...(isOn(info.settings, 'PodDeletionCost') && wrongCost(costOf(previous, place), path).length === 0
        ? wrongCost(costOf(next, place), path)
        : []),
      ...(validateUpdate?.(next, previous, info) ?? []),
    ],
  };
}

function costOf(object: ReadonlyJson, place: readonly string[]): string | undefined {
  const path = [...place, 'metadata', 'annotations'];
  const annotations = path.reduce<ReadonlyJson>((at, name) => objectAt(at, name) ?? {}, object);
  const cost = textAt(annotations, ANNOTATION.podDeletionCost);
  return has(annotations, ANNOTATION.podDeletionCost) ? cost : undefined;
}

/** A decimal number of 32 bits, without a plus sign and without zeros in front. A minus may precede zeros. */
const COST = /^(?:0|[1-9]\d*|-\d+)$/u;
const BITS = 32;

function wrongCost(cost: string | undefined, path: string): FieldError[] {
  if (cost === undefined) return [];
  const isCost =
    COST.test(cost) && cost.length < MAX_LENGTH && BigInt.asIntN(BITS, BigInt(cost)) === BigInt(cost);
  return isCost ? [] : [invalid(`${path}[${ANNOTATION.podDeletionCost}]`, cost, 'must be a 32bit integer')];
}

/** Bounds the parsing time: no client needs that many leading zeros. */
const MAX_LENGTH = 64;
