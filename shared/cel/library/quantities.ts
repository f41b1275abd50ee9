import type { FunctionDeclaration } from '../check/declarations';
import { BOOL, DOUBLE, INT, STRING, structOf } from '../check/types';
import { EvalError, NO_OVERLOAD, OpaqueValue } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, global, method, onStrings } from './functions';

export const QUANTITY_TYPE = structOf('kubernetes.Quantity');
const SINCE = 28;

const BINARY_POWERS = new Map([
  ['Ki', 1n],
  ['Mi', 2n],
  ['Gi', 3n],
  ['Ti', 4n],
  ['Pi', 5n],
  ['Ei', 6n],
]);
const DECIMAL_EXPONENTS = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
/** Quantities are rounded up to billionths. */
const NANO = 1_000_000_000n;
const INT_MAX = 2n ** 63n - 1n;
/** The largest exponent that is read; anything beyond is cut to it, as every quantity above 2^63 is. */
const EXPONENT_MAX = 30;

const FORMAT_PROBLEM =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

class QuantityValue extends OpaqueValue {
  readonly type = QUANTITY_TYPE;
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && other.nanos === this.nanos;
  }
}

function parseQuantity(text: string): QuantityValue | EvalError {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?((?:[KMGTPE]i)|[numkMGTPE]|[eE][+-]?\d+|)$/u.exec(text);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match ?? [];
  if (match === null || whole + fraction === '') return new EvalError(FORMAT_PROBLEM);
  const digits = BigInt(whole + fraction);
  const power = BINARY_POWERS.get(suffix);
  const exponent = DECIMAL_EXPONENTS.get(suffix) ?? (power === undefined ? Number(suffix.slice(1)) : 0);
  const scale = Math.min(Math.max(exponent, -EXPONENT_MAX), EXPONENT_MAX) - fraction.length + 9;
  const scaled = digits * (power === undefined ? 1n : 1024n ** power);
  const nanos = scale >= 0 ? scaled * 10n ** BigInt(scale) : divideUp(scaled, 10n ** BigInt(-scale));
  const limited = nanos > INT_MAX * NANO ? INT_MAX * NANO : nanos;
  return new QuantityValue(sign === '-' ? -limited : limited);
}

function divideUp(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b;
}

function onQuantity(run: (quantity: QuantityValue) => Result): (value?: Value) => Result {
  return (value) => (value instanceof QuantityValue ? run(value) : NO_OVERLOAD);
}

function onTwo(run: (a: bigint, b: bigint) => Result): (a?: Value, b?: Value) => Result {
  return (a, b) => {
    const other = typeof b === 'bigint' ? new QuantityValue(b * NANO) : b;
    return a instanceof QuantityValue && other instanceof QuantityValue
      ? run(a.nanos, other.nanos)
      : NO_OVERLOAD;
  };
}

function signOf(value: bigint): bigint {
  return value === 0n ? 0n : value < 0n ? -1n : 1n;
}

function integerOf({ nanos }: QuantityValue): bigint | undefined {
  const value = nanos / NANO;
  return nanos % NANO === 0n && BigInt.asIntN(64, value) === value ? value : undefined;
}

const PAIR = [QUANTITY_TYPE, QUANTITY_TYPE];

/** Quantities (k8s.io/apiserver `cel/library/quantity.go`). */
export const QUANTITY_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'quantity',
    SINCE,
    global(
      'string_to_quantity',
      [STRING],
      QUANTITY_TYPE,
      onStrings((text = '') => parseQuantity(text)),
    ),
  ),
  declare(
    'isQuantity',
    SINCE,
    global(
      'is_quantity_string',
      [STRING],
      BOOL,
      onStrings((text = '') => parseQuantity(text) instanceof QuantityValue),
    ),
  ),
  declare(
    'sign',
    SINCE,
    global(
      'quantity_sign',
      [QUANTITY_TYPE],
      INT,
      onQuantity(({ nanos }) => signOf(nanos)),
    ),
  ),
  declare(
    'isGreaterThan',
    SINCE,
    method(
      'quantity_is_greater_than',
      PAIR,
      BOOL,
      onTwo((a, b) => a > b),
    ),
  ),
  declare(
    'isLessThan',
    SINCE,
    method(
      'quantity_is_less_than',
      PAIR,
      BOOL,
      onTwo((a, b) => a < b),
    ),
  ),
  declare(
    'compareTo',
    SINCE,
    method(
      'quantity_compare_to',
      PAIR,
      INT,
      onTwo((a, b) => signOf(a - b)),
    ),
  ),
  declare(
    'asApproximateFloat',
    SINCE,
    method(
      'quantity_get_float',
      [QUANTITY_TYPE],
      DOUBLE,
      onQuantity(({ nanos }) => Number(nanos) / 1e9),
    ),
  ),
  declare(
    'asInteger',
    SINCE,
    method(
      'quantity_get_int',
      [QUANTITY_TYPE],
      INT,
      onQuantity((quantity) => integerOf(quantity) ?? new EvalError('cannot convert value to integer')),
    ),
  ),
  declare(
    'isInteger',
    SINCE,
    method(
      'quantity_is_integer',
      [QUANTITY_TYPE],
      BOOL,
      onQuantity((quantity) => integerOf(quantity) !== undefined),
    ),
  ),
  declare(
    'add',
    SINCE,
    method(
      'quantity_add',
      PAIR,
      QUANTITY_TYPE,
      onTwo((a, b) => new QuantityValue(a + b)),
    ),
    method(
      'quantity_add_int',
      [QUANTITY_TYPE, INT],
      QUANTITY_TYPE,
      onTwo((a, b) => new QuantityValue(a + b)),
    ),
  ),
  declare(
    'sub',
    SINCE,
    method(
      'quantity_sub',
      PAIR,
      QUANTITY_TYPE,
      onTwo((a, b) => new QuantityValue(a - b)),
    ),
    method(
      'quantity_sub_int',
      [QUANTITY_TYPE, INT],
      QUANTITY_TYPE,
      onTwo((a, b) => new QuantityValue(a - b)),
    ),
  ),
];
