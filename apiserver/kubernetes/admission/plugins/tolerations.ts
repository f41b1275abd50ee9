import type { Toleration } from '../../../../shared/api/types/core-v1';
import { integer, text } from '../../../../shared/object/accessors';
import type { Int64 } from '../../../../shared/object/values';

/** Returns both lists in order, without tolerations covered by another one; the first of two equal ones stays. */
export function mergedTolerations(
  first: readonly Toleration[],
  second: readonly Toleration[],
): readonly Toleration[] {
  const distinct = distinctOnes([...first, ...second]);
  const widest = longestByReach(distinct);
  return distinct.filter((each) => !isCovered(each, widest)).map(({ toleration }) => toleration);
}

/** Reports whether each toleration is covered by an allowed one. */
export function areWithin(tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean {
  const known = distinctOnes(allowed);
  const words = new Set(known.map((each) => each.words));
  const widest = longestByReach(known);
  return distinctOnes(tolerations).every((each) => words.has(each.words) || isCovered(each, widest));
}

interface Parts {
  readonly toleration: Toleration;
  readonly key: string;
  readonly operator: string;
  readonly value: string;
  readonly effect: string;
  /** A toleration without seconds lasts forever. */
  readonly seconds: Int64;
  /** All its fields as one key. */
  readonly words: string;
}

/** Returns each once, in order. */
function distinctOnes(tolerations: readonly Toleration[]): readonly Parts[] {
  const known = new Map<string, Parts>();
  for (const toleration of tolerations) {
    const parts = partsOf(toleration);
    if (!known.has(parts.words)) known.set(parts.words, parts);
  }
  return [...known.values()];
}

/** Annotations and configuration are unvalidated: a value that is no text counts as absent. */
function partsOf(toleration: Toleration): Parts {
  const key = text(toleration.key);
  const operator = text(toleration.operator);
  const value = text(toleration.value);
  const effect = text(toleration.effect);
  const seconds = integer(toleration.tolerationSeconds) ?? Infinity;
  const words = JSON.stringify([key, operator, value, effect, String(seconds)]);
  return { toleration, key, operator, value, effect, seconds, words };
}

const EXISTS = 'Exists';
const EQUAL = 'Equal';

/**
 * Returns the longest toleration by the set of taints it matches. A pod may have thousands, so covering ones are looked up instead of
 * searched.
 */
function longestByReach(tolerations: readonly Parts[]): ReadonlyMap<string, Parts> {
  const longest = new Map<string, Parts>();
  for (const each of tolerations) {
    const reach = reachOf(each);
    const known = longest.get(reach);
    if (known === undefined || each.seconds > known.seconds) longest.set(reach, each);
  }
  return longest;
}

/** With `Exists` the value is ignored. */
function reachOf({
  key,
  operator,
  value,
  effect,
}: Pick<Parts, 'key' | 'operator' | 'value' | 'effect'>): string {
  return JSON.stringify([key, operator, operator === EXISTS ? '' : value, effect]);
}

/** Reports whether another one tolerates everything that this one does. */
function isCovered(narrow: Parts, widest: ReadonlyMap<string, Parts>): boolean {
  return reachesOver(narrow).some((reach) => {
    const wide = widest.get(reach);
    if (wide === undefined || wide === narrow) return false;
    return wide.effect !== 'NoExecute' || wide.seconds >= narrow.seconds;
  });
}

/** An absent effect or key matches all; an absent operator is `Equal`, which covers only itself. */
function reachesOver({ key, operator, value, effect }: Parts): readonly string[] {
  const values = operator === EQUAL ? [EQUAL, ''] : [];
  const kinds = [
    { key, operator: EXISTS, value },
    { key: '', operator: EXISTS, value },
    ...values.map((each) => ({ key, operator: each, value })),
  ];
  return [effect, ''].flatMap((each) => kinds.map((kind) => reachOf({ ...kind, effect: each })));
}
