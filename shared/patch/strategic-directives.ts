import type { FieldType } from '../schema/types';

export const PATCH = '$patch';
export const RETAIN_KEYS = '$retainKeys';
export const SET_ORDER = '$setElementOrder/';
export const DELETE_FROM_LIST = '$deleteFromPrimitiveList/';

/**
 * Returns the patch strategy `merge` or `replace`, or '' for none. `retainKeys` applies to keys and is not a
 * strategy of the whole.
 */
export function strategyOf(field: FieldType | undefined): string {
  const strategies = (field?.patchStrategy ?? '').split(',').filter((each) => each !== 'retainKeys');
  return strategies[0] ?? '';
}
