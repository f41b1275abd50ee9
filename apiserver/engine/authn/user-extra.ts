import type { UserInfo } from '../request/exchange';

/** Groups extra values by key, in the order in which they were sent. */
export function userExtra(pairs: Iterable<readonly [key: string, value: string]>): UserInfo['extra'] {
  const values = new Map<string, string[]>();
  for (const [key, value] of pairs) {
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return Object.fromEntries(values);
}
