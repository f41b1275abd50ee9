import { isDurationUnit } from '../flags/duration';
import { goTimeQuote } from './go-quote';

/** Why the text is no duration, in the words of Go's parser. */
export function durationProblem(text: string): string {
  const quoted = goTimeQuote(text);
  const body = text.replace(/^[+-]/, '');
  // A number, and a unit up to the next number: the first pair that is wrong is what is told.
  for (const [, amount = '', unit = ''] of body.matchAll(/(\d*(?:\.\d*)?)([^\d.]*)/g)) {
    if (!/\d/.test(amount)) break;
    if (unit === '') return `time: missing unit in duration ${quoted}`;
    if (!isDurationUnit(unit)) return `time: unknown unit ${goTimeQuote(unit)} in duration ${quoted}`;
  }
  return `time: invalid duration ${quoted}`;
}
