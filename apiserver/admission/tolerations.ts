import { deepEqual } from '../../shared/meta/clone';
import type { Json } from '../registry/validation/accessors';
import { integer, text } from '../registry/validation/accessors';

/** Both lists in order, without those that another one covers; of two that say the same, the first stays. */
export function mergedTolerations(first: readonly Json[], second: readonly Json[]): readonly Json[] {
  const all = [...first, ...second];
  const merged: Json[] = [];
  all.forEach((toleration, index) => {
    if (merged.some((kept) => covers(kept, toleration))) return;
    const later = all.slice(index + 1);
    if (later.some((other) => !deepEqual(other, toleration) && covers(other, toleration))) return;
    merged.push(toleration);
  });
  return merged;
}

/** Whether `wide` tolerates everything that `narrow` does. */
function covers(wide: Json, narrow: Json): boolean {
  if (deepEqual(wide, narrow)) return true;
  const operator = text(wide['operator']);
  const key = text(wide['key']);
  const effect = text(wide['effect']);
  if (key !== text(narrow['key']) && (key !== '' || operator !== 'Exists')) return false;
  if (effect !== text(narrow['effect']) && effect !== '') return false;
  if (effect === 'NoExecute' && !lastsAsLong(wide, narrow)) return false;
  if (operator === 'Exists') return true;
  if (operator !== 'Equal' && operator !== '') return false;
  return text(narrow['operator']) === 'Equal' && text(narrow['value']) === text(wide['value']);
}

/** Without a number of seconds a toleration lasts for ever. */
function lastsAsLong(wide: Json, narrow: Json): boolean {
  const [most, least] = [integer(wide['tolerationSeconds']), integer(narrow['tolerationSeconds'])];
  return most === undefined || (least !== undefined && least <= most);
}

/** Whether each of the tolerations is covered by one of those that are allowed. */
export function areWithin(tolerations: readonly Json[], allowed: readonly Json[]): boolean {
  return tolerations.every((each) => allowed.some((other) => covers(other, each)));
}
