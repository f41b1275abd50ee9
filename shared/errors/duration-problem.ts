import { isDurationUnit } from '../flags/duration';
import { goTimeQuote } from './go-quote';

/** Returns why the text is no duration, as Go's `time.ParseDuration` reports it. */
export function durationProblem(text: string): string {
  const quoted = goTimeQuote(text);
  const body = text.replace(/^[+-]/, '');
  // Reports the first pair of a number and a unit that is wrong.
  for (const [, amount = '', unit = ''] of body.matchAll(/(\d*(?:\.\d*)?)([^\d.]*)/g)) {
    if (!/\d/.test(amount)) break;
    if (unit === '') return `time: missing unit in duration ${quoted}`;
    if (!isDurationUnit(unit)) return `time: unknown unit ${goTimeQuote(unit)} in duration ${quoted}`;
  }
  return `time: invalid duration ${quoted}`;
}
