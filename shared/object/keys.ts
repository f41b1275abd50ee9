/** The names of the fields of an object that was made with these fields alone, so that each is known to be one. */
export function keysOf<T extends object>(object: T): readonly (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[];
}
