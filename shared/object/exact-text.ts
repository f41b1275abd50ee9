/** A number as it was written, which says more than its value. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Writes plain JSON values that may contain bigints, which `JSON.stringify` refuses, and numbers as they were written. Keys keep their order; undefined fields are left out.
 */
export function stringifyExact(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(stringifyExact).join(',')}]`;
  if (value instanceof NumberText) return value.text;
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${stringifyExact(each)}`).join(',')}}`;
}
