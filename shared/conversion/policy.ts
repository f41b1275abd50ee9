import { deepEqual, isJsonObject } from '../object/clone';
import type { ApiObject } from '../object/object';
import { LABEL } from '../names';
import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { changeObject, objectsAt, without } from '../object/json';

/**
 * An empty selector selects no pod in policy/v1beta1 and every pod in policy/v1. The other version carries
 * each meaning as a selector on a label that no pod has; that label never appears beside other terms.
 */
export const POD_DISRUPTION_BUDGET: Conversion = {
  toHub: (object) => withSelector(object, NONE_IN_V1BETA1, { none: NONE_IN_V1, all: EMPTY }),
  fromHub: (object) => withSelector(object, NONE_IN_V1, { none: EMPTY, all: ALL_IN_V1BETA1 }),
};

const EMPTY: ReadonlyJson = {};
const NONE_IN_V1: ReadonlyJson = {
  matchExpressions: [{ key: LABEL.budgetOfEmptySelector, operator: 'Exists' }],
};
const ALL_IN_V1BETA1: ReadonlyJson = {
  matchExpressions: [{ key: LABEL.budgetOfEmptySelector, operator: 'DoesNotExist' }],
};
const NONE_IN_V1BETA1 = EMPTY;

function withSelector(
  object: ApiObject,
  none: ReadonlyJson,
  becomes: { readonly none: ReadonlyJson; readonly all: ReadonlyJson },
): ApiObject {
  const all = none === EMPTY ? ALL_IN_V1BETA1 : EMPTY;
  return changeObject(object, 'spec', (spec) =>
    changeObject(spec, 'selector', (selector) => {
      const said = withoutEmptyLists(selector);
      if (deepEqual(said, none)) return becomes.none;
      return deepEqual(said, all) ? becomes.all : withoutMark(said);
    }),
  ) as ApiObject;
}

/**
 * Returns the object of policy/v1 as upstream stores it: the marker label is the only term, as the selector of
 * no pod, or absent.
 */
export function withoutStrayMark<T extends ApiObject>(object: T): T {
  const known = (selector: ReadonlyJson): boolean => deepEqual(withoutEmptyLists(selector), NONE_IN_V1);
  return changeObject(object, 'spec', (spec) =>
    changeObject(spec, 'selector', (selector) => (known(selector) ? selector : withoutMark(selector))),
  ) as unknown as T;
}

function withoutEmptyLists(selector: ReadonlyJson): ReadonlyJson {
  return Object.fromEntries(
    Object.entries(selector)
      .filter(([, value]) => !isEmpty(value))
      .map(([name, value]) => [
        name,
        name === 'matchExpressions' && Array.isArray(value) ? value.map(withoutEmptyValues) : value,
      ]),
  );
}

function withoutEmptyValues(requirement: unknown): unknown {
  if (!isJsonObject(requirement) || !isEmpty(requirement['values'])) return requirement;
  return without(requirement, 'values');
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

function withoutMark(selector: ReadonlyJson): ReadonlyJson {
  const requirements = objectsAt(selector, 'matchExpressions');
  const kept = requirements.filter((each) => each['key'] !== LABEL.budgetOfEmptySelector);
  if (kept.length === requirements.length) return selector;
  const rest = without(selector, 'matchExpressions');
  return kept.length === 0 ? rest : { ...rest, matchExpressions: kept };
}
