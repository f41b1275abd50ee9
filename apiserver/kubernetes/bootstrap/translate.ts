import { fromNeutral, groupFromNeutral } from '../../../shared/names';

/** The same value with every name in it, keys included, in the dialect of this process: data files hold the neutral names. */
export function translated<T>(value: T): T {
  return translate(value) as T;
}

function translate(value: unknown): unknown {
  if (typeof value === 'string') return nameOf(value);
  if (Array.isArray(value)) return value.map(translate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [nameOf(key), translate(each)]));
}

/** A name is an API group, or any other identifier; never both. */
function nameOf(name: string): string {
  const other = fromNeutral(name);
  return other === name ? groupFromNeutral(name) : other;
}
