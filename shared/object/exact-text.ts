/** A whole number written with a point or an exponent (`1.0`, `1e3`). Go does not read it into an integer field. */
export class WholeFraction {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Writes JSON values that may contain bigints, which `JSON.stringify` refuses, and whole fractions. Keys keep their order; undefined fields are omitted.
 */
export function stringifyExact(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(stringifyExact).join(',')}]`;
  if (value instanceof WholeFraction) return value.text;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${stringifyExact(each)}`).join(',')}}`;
}
