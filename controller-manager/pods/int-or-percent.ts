import type { IntOrString } from '../../shared/object/values';

/**
 * Returns the number that `5` or `20%` stands for, of a total; 0 for an absent or malformed value, which validation refuses. Upstream:
 * `GetScaledValueFromIntOrPercent`.
 */
export function scaledValue(value: IntOrString | undefined, total: number, rounding: 'up' | 'down'): number {
  if (value === undefined) return 0;
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/u.exec(value)?.[1];
  if (percent === undefined) return 0;
  const exact = (Number(percent) * total) / 100;
  return rounding === 'up' ? Math.ceil(exact) : Math.floor(exact);
}
