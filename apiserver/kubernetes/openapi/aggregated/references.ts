import type { Named } from './other-swagger';

const REFERENCE = '$ref';
const DEFINITIONS = '#/definitions/';

export function referenceTo(definition: string): string {
  return `${DEFINITIONS}${definition}`;
}

/** Returns the name of the referenced definition; undefined for another target. */
export function definitionOfReference(reference: string): string | undefined {
  return reference.startsWith(DEFINITIONS) ? reference.slice(DEFINITIONS.length) : undefined;
}

/** Replaces every reference by the result of `change`; a reference with the result undefined is dropped. */
export function withReferences<T>(value: T, change: (reference: string) => string | undefined): T {
  if (Array.isArray(value)) return value.map((each: unknown) => withReferences(each, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const changed = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    if (key !== REFERENCE || typeof each !== 'string') return [[key, withReferences<unknown>(each, change)]];
    const reference = change(each);
    return reference === undefined ? [] : [[key, reference]];
  });
  return Object.fromEntries(changed) as T;
}

/** Returns the definitions that the values reference directly or transitively, in the order of `definitions`. */
export function usedDefinitions<T>(values: unknown, definitions: Named<T>): Named<T> {
  const used = new Set<string>();
  const waiting: unknown[] = [values];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of definitionsIn(next)) {
      if (used.has(name) || !Object.hasOwn(definitions, name)) continue;
      used.add(name);
      waiting.push(definitions[name]);
    }
  }
  return Object.fromEntries(Object.entries(definitions).filter(([name]) => used.has(name)));
}

function* definitionsIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    if (key !== REFERENCE || typeof each !== 'string') yield* definitionsIn(each);
    else {
      const name = definitionOfReference(each);
      if (name !== undefined) yield name;
    }
  }
}
