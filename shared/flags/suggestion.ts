import { distance } from 'fastest-levenshtein';

/** More changes than this share of the longer word's letters, and the two words have nothing to do with each other. */
const DISTANCE_SHARE_MAX = 0.4;

/** `; did you mean X?` for the candidate that is nearest to a mistyped word, or nothing when none is near. */
export function suggestion(word: string, candidates: readonly string[]): string {
  let best: { readonly candidate: string; readonly edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || edits < best.edits) best = { candidate, edits };
  }
  if (best === undefined) return '';
  const editsMax = Math.max(1, Math.floor(Math.max(word.length, best.candidate.length) * DISTANCE_SHARE_MAX));
  return best.edits <= editsMax ? `; did you mean ${best.candidate}?` : '';
}
