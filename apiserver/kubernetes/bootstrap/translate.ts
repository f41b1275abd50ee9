import type { Revised } from '../../../shared/api-level';
import { isAtLevel, rowAtLevel } from '../../../shared/api-level';
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

/** Returns the contents that exist at the API level of this process, with its values, by name. */
export function contentsAtLevel<T extends Revised<T>>(
  contents: Readonly<Record<string, T>>,
): Readonly<Record<string, Omit<T, 'since' | 'until' | 'upTo'>>> {
  return Object.fromEntries(
    Object.entries(contents)
      .filter(([, each]) => isAtLevel(each))
      .map(([name, each]) => {
        const { since: _since, until: _until, upTo: _upTo, ...content } = rowAtLevel(each);
        return [name, content];
      }),
  );
}
