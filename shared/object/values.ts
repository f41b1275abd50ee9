/** The values of special types as they stand in decoded objects. `scalars.ts` says what is accepted and how it is written. */

/** A number, or a bigint where only that is exact. */
export type Int64 = number | bigint;

/** RFC 3339 in UTC and whole seconds: `2006-01-02T15:04:05Z`. */
export type Time = string;

/** RFC 3339 in UTC with six digits behind the second: `2006-01-02T15:04:05.000000Z`. */
export type MicroTime = string;

/** In canonical form: `100m`, `1Gi`. */
export type Quantity = string;

export type IntOrString = number | string;

/** Canonical base64. */
export type Base64 = string;

/** The fields of a message whose values nobody has looked at yet. */
export type Unchecked<T extends object> = Readonly<Partial<Record<keyof T, unknown>>>;
