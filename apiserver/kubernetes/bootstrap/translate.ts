import { fromNeutral, groupFromNeutral } from '../../../shared/names';

/** Translates every name in a value, including keys, to the dialect of this process. Data files have neutral names. */
export function translated<T>(value: T): T {
  return translate(value) as T;
}

function translate(value: unknown): unknown {
  if (typeof value === 'string') return nameOf(value);
  if (Array.isArray(value)) return value.map(translate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [nameOf(key), translate(each)]));
}

/** A name is either an API group or another identifier. */
function nameOf(name: string): string {
  const other = fromNeutral(name);
  return other === name ? groupFromNeutral(name) : other;
}
