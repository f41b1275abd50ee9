/**
 * A number that JavaScript would write otherwise: `1.0`, `1e3`, `0.10`, or an integer of more than 64 bits. Its text
 * decides what Go reads: no integer, but a quantity in the form that the client chose.
 */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Writes JSON values that may contain bigints, which `JSON.stringify` refuses, and number texts. Keys keep their order; undefined fields are omitted.
 */
export function stringifyExact(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(stringifyExact).join(',')}]`;
  if (value instanceof NumberText) return value.text;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${stringifyExact(each)}`).join(',')}}`;
}
