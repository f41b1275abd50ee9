import type { FieldType } from '../schema/types';

export const PATCH = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const SET_ORDER = '$setElementOrder/';
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList/';

/** `merge`, `replace`, or none; `retainKeys` says something about single keys and nothing about the whole. */
export function strategyOf(field: FieldType | undefined): string {
  const strategies = (field?.patchStrategy ?? '').split(',').filter((each) => each !== 'retainKeys');
  return strategies[0] ?? '';
}
