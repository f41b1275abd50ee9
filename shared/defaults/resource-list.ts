import { formatQuantity, parseQuantity } from '../meta/quantity';
import type { ReadonlyJson } from '../object/json';

/** Matches canonical text that may be finer than a thousandth: nano, micro, or a negative exponent. */
const MAY_BE_FINER = /[nu]$|[eE]-/;
const MILLI = -3;

/** Rounds quantities up to thousandths, the finest unit of the scheduler. */
export function roundUpToMilli(amounts: ReadonlyJson): ReadonlyJson {
  let rounded: Record<string, unknown> | undefined;
  for (const name in amounts) {
    const text = amounts[name];
    if (typeof text !== 'string' || !MAY_BE_FINER.test(text)) continue;
    const next = roundUp(text);
    if (next === text) continue;
    rounded ??= { ...amounts };
    rounded[name] = next;
  }
  return rounded ?? amounts;
}

function roundUp(text: string): string {
  const quantity = parseQuantity(text);
  if (quantity === undefined || quantity.scale >= MILLI) return text;
  const divisor = 10n ** BigInt(MILLI - quantity.scale);
  const { unscaled } = quantity;
  const whole = unscaled / divisor;
  const isExact = whole * divisor === unscaled;
  const away = isExact ? 0n : unscaled < 0n ? -1n : 1n;
  return formatQuantity({ ...quantity, unscaled: whole + away, scale: MILLI });
}
