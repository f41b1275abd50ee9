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
