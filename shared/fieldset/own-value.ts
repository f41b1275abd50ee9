/** Returns the value of an own property, or undefined. It is cheap for names that no object inherits. */
export function ownValue(source: Readonly<Record<string, unknown>>, key: string): unknown {
  if (key in Object.prototype && !Object.hasOwn(source, key)) return undefined;
  return source[key];
}
