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
 * Formats a quantity as upstream's errors show it in Go's syntax. Upstream caches the canonical text of a
 * parsed quantity, and keeps values beyond 64 bits behind a pointer. An invalid quantity is returned as it is.
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
