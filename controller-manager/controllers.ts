import type { Controller } from './controller';
import { runGarbageCollector } from './garbage-collector/garbage-collector';
import { runNamespaceController } from './namespace/namespace-controller';

/** Every controller there is. */
export const CONTROLLERS: readonly Controller[] = [
  { name: 'namespace', run: runNamespaceController },
  { name: 'garbagecollector', run: runGarbageCollector },
];

/**
 * The controllers that `--controllers` asks for: `name` switches one on, `-name` off, `*` on all that are not named. A name that
 * nobody has is returned as an error text.
 */
export function selectControllers(
  words: readonly string[],
  controllers: readonly Controller[] = CONTROLLERS,
): { readonly selected: readonly Controller[]; readonly unknown: readonly string[] } {
  const names = new Set(controllers.map(({ name }) => name));
  return {
    selected: controllers.filter(
      ({ name }) => words.includes(name) || (words.includes('*') && !words.includes(`-${name}`)),
    ),
    unknown: words.filter((word) => word !== '*' && !names.has(word.replace(/^-/, ''))),
  };
}
