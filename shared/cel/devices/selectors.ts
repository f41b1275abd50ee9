import type { FieldTypes } from '../check/declarations';
import { ANY, BOOL, DYN, STRING, isSameType, mapOf, structOf, typeText } from '../check/types';
import type { CelType } from '../check/types';
import { estimateCost } from '../cost/estimate';
import { ATTRIBUTE_VALUES_MAX } from '../cost/library-estimates';
import type { Range } from '../cost/ranges';
import { Environment } from '../environment';
import { isEqual } from '../eval/equality';
import { PlanError } from '../eval/plan';
import { EvalError, ListValue } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, method } from '../library/functions';
import { QUANTITY_TYPE } from '../library/quantities';
import { BINDING_MACROS } from '../parser/macros';
import { Issues } from '../parser/source';

/** What selectors may use besides the libraries of the release (k8s.io/dynamic-resource-allocation `cel.Features`). */
export interface SelectorFeatures {
  /** `device.allowMultipleAllocations`. */
  readonly hasConsumableCapacity: boolean;
  /** Attributes with several values, and `includes`. */
  readonly hasListAttributes: boolean;
}

/** Why a selector is refused. */
export interface SelectorProblem {
  readonly kind: 'invalid' | 'internal';
  /** In upstream's words. */
  readonly detail: string;
}

/** The most that a selector may cost for one device, in cost units. */
export const SELECTOR_COST_MAX = 1_000_000;
const DOMAIN_LENGTH_MAX = 63;
const ID_LENGTH_MAX = 32;
const DRIVER_LENGTH_MAX = 63;
const ATTRIBUTE_LENGTH_MAX = 64;
const ATTRIBUTES_MAX = 32;

/** Releases that first have the parts of the environment, 1.x. */
const MULTIPLE_ALLOCATIONS_SINCE = 34;
const LIST_ATTRIBUTES_SINCE = 36;

const DEVICE = structOf('kubernetes.DRADevice');

/** `a.includes(b)`: whether an attribute has a value among others, or is that value. */
const INCLUDES = declare(
  'includes',
  LIST_ATTRIBUTES_SINCE,
  method('dra_includes_dyn_dyn', [DYN, DYN], BOOL, includes),
);

function includes(target: Value = null, value: Value = null): Result {
  if (!(target instanceof ListValue)) return isEqual(target, value);
  for (let index = 0; index < target.size; index += 1) {
    if (index >= ATTRIBUTE_VALUES_MAX) {
      const why = `cannot be applied to lists longer than ${String(ATTRIBUTE_VALUES_MAX)} values`;
      return new EvalError(`'includes' function ${why}`);
    }
    if (isEqual(target.at(index), value)) return true;
  }
  return false;
}

/**
 * Compiles the selectors of devices in classes and claims (k8s.io/dynamic-resource-allocation `cel/compile.go`).
 */
export class SelectorCompiler {
  readonly #environment: Environment;
  readonly #features: SelectorFeatures;

  /** @param release the release of Kubernetes, 1.x, whose libraries selectors may use */
  constructor(release: number, features: SelectorFeatures) {
    this.#features = features;
    const { hasConsumableCapacity, hasListAttributes } = features;
    const isDeclared = !hasConsumableCapacity || release >= MULTIPLE_ALLOCATIONS_SINCE;
    this.#environment = new Environment({
      release,
      variables: isDeclared ? [{ name: 'device', type: DEVICE }] : [],
      structs: new Map([[DEVICE.name, deviceFields(features)]]),
      functions: hasListAttributes && release >= LIST_ATTRIBUTES_SINCE ? [INCLUDES] : [],
      macros: BINDING_MACROS,
    });
  }

  /**
   * Compiles a selector.
   *
   * @returns the most that it may cost for one device, in cost units, or why it cannot be compiled
   */
  compile(source: string): number | SelectorProblem {
    const checked = this.#environment.compile(source);
    if (checked instanceof Issues)
      return { kind: 'invalid', detail: `compilation failed: ${checked.toString()}` };
    if (!this.#isAllowed(checked.type)) {
      const detail = `must evaluate to bool or the unknown type, not ${typeText(checked.type)}`;
      return { kind: 'invalid', detail };
    }
    try {
      this.#environment.plan(checked);
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      return { kind: 'internal', detail: `program instantiation failed: ${error.message}` };
    }
    return estimateCost(checked, sizeOfPath).max;
  }

  #isAllowed(type: CelType): boolean {
    const allowed = this.#features.hasListAttributes ? [BOOL, ANY, DYN] : [BOOL, ANY];
    return allowed.some((each) => isSameType(each, type));
  }
}

/** The fields of `device`. */
function deviceFields({ hasConsumableCapacity, hasListAttributes }: SelectorFeatures): FieldTypes {
  return new Map<string, CelType>([
    ['driver', STRING],
    ['attributes', mapOf(STRING, mapOf(STRING, hasListAttributes ? DYN : ANY))],
    ['capacity', mapOf(STRING, mapOf(STRING, QUANTITY_TYPE))],
    ...(hasConsumableCapacity ? [['allowMultipleAllocations', BOOL] as const] : []),
  ]);
}

/** The size of a part of a device, and of what it contains; `undefined` contents have none. */
interface Sized {
  readonly max: number;
  readonly fields?: ReadonlyMap<string, Sized>;
  readonly key?: Sized;
  readonly element?: Sized;
}

/** Values of attributes: a text, or a list that is shorter than the longest text. */
const ATTRIBUTE: Sized = { max: Math.max(ATTRIBUTE_LENGTH_MAX, ATTRIBUTE_VALUES_MAX) };

/** Maps by domain of maps by name. */
function byDomain(element: Sized): Sized {
  const byName: Sized = { max: ATTRIBUTES_MAX, key: { max: ID_LENGTH_MAX }, element };
  return { max: ATTRIBUTES_MAX, key: { max: DOMAIN_LENGTH_MAX }, element: byName };
}

/** Sizes that upstream does not declare are 0. */
const DEVICE_SIZES: Sized = {
  max: 0,
  fields: new Map<string, Sized>([
    ['driver', { max: DRIVER_LENGTH_MAX }],
    ['allowMultipleAllocations', { max: 1 }],
    ['attributes', byDomain(ATTRIBUTE)],
    ['capacity', byDomain({ max: 0 })],
  ]),
};

/** How large a value of a device may be; undefined when nothing is known (`sizeEstimator`). */
function sizeOfPath([root, ...steps]: readonly string[]): Range | undefined {
  let current: Sized | undefined = root === 'device' ? DEVICE_SIZES : undefined;
  for (const step of steps) {
    if (current === undefined) return undefined;
    current = partOf(current, step);
  }
  return current && { min: 0, max: current.max };
}

function partOf({ fields, key, element }: Sized, step: string): Sized | undefined {
  if (step === '@items' || step === '@values') return element;
  if (step === '@keys') return key;
  // All attributes have the same size, whatever their name is.
  return fields?.get(step) ?? (element === ATTRIBUTE ? element : undefined);
}
