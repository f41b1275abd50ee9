import { goQuote } from '../errors/go-quote';
import { GoValue, goStruct } from '../errors/go-values';
import type { QuantityFormat } from './quantity';
import { readQuantity } from './quantity';

const FORMATS: Readonly<Record<QuantityFormat, string>> = {
  decimal: 'DecimalSI',
  binary: 'BinarySI',
  exponent: 'DecimalExponent',
};

/**
 * An amount as refusals show it: what upstream's reader made of the canonical text. That reader remembers text that it would print so; what does
 * not fit 64 bits it keeps behind a pointer. What is no amount is shown as it is.
 */
export function goQuantity(text: string | undefined): GoValue | undefined {
  if (text === undefined) return undefined;
  return new GoValue(() => {
    const read = readQuantity(text);
    if (read === undefined) return goQuote(text);
    const { quantity, verbatim, exact } = read;
    const { unscaled, scale } = exact ? quantity : { unscaled: 0n, scale: 0 };
    const whole = goStruct('resource.int64Amount', { value: String(unscaled), scale: String(scale) });
    const isRemembered = verbatim || text === '0';
    return String(
      goStruct('resource.Quantity', {
        i: String(whole),
        d: `resource.infDecAmount{Dec:(*inf.Dec)(${exact ? 'nil' : '0x0'})}`,
        s: isRemembered ? goQuote(text) : '""',
        Format: goQuote(FORMATS[quantity.format]),
      }),
    );
  });
}
