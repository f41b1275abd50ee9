/** Typed views of decoded JSON: a missing value reads as its zero, and nothing throws. */
export type Json = Readonly<Record<string, unknown>>;

const NOTHING: Json = {};

export function record(value: unknown): Json {
  return isRecord(value) ? value : NOTHING;
}

export function records(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(text) : [];
}

/** The integer, or undefined. One beyond 53 bits loses its last digits. */
export function integer(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value : undefined;
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
