/** What is read alone once it is made, while it is made. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
