/** A readonly type under construction. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
