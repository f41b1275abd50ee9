/** Values of special types in decoded objects. `scalars.ts` defines what is accepted and how it is written. */

/** A bigint only where a number is not exact. */
export type Int64 = number | bigint;

/** RFC 3339 in UTC and whole seconds: `2006-01-02T15:04:05Z`. */
export type Time = string;

/** RFC 3339 in UTC with six digits of fraction: `2006-01-02T15:04:05.000000Z`. */
export type MicroTime = string;

/** In canonical form: `100m`, `1Gi`. */
export type Quantity = string;

export type IntOrString = number | string;

/** Canonical base64. */
export type Base64 = string;

/** The fields of a message with unchecked values. */
export type Unchecked<T extends object> = Readonly<Partial<Record<keyof T, unknown>>>;

/** A readonly type under construction. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

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
