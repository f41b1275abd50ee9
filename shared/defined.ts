type Optional<Fields> = {
  [Name in keyof Fields]: undefined extends Fields[Name] ? Name : never;
}[keyof Fields];

/** The fields that may be undefined become fields that may be absent. */
export type Defined<Fields> = Omit<Fields, Optional<Fields> & keyof Fields> & {
  [Name in Optional<Fields> & keyof Fields]?: Exclude<Fields[Name], undefined>;
};

/** Returns the fields that are not undefined, in order, for spreading: `{ a, ...defined({ b, c }) }`. Not for hot paths. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>;
}
