/**
 * Compares two keys by their UTF-8 bytes without encoding them. All stores use this order, so that pagination
 * can continue from a cache in its store. JavaScript's `<` compares UTF-16 code units, which differs from
 * U+D800 on.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rankOf(left) - rankOf(right);
  }
  return a.length - b.length;
}

/** Surrogates encode U+10000 and above, so they rank after U+E000–U+FFFF. */
function rankOf(unit: number): number {
  if (unit < FIRST_SURROGATE) return unit;
  return unit > LAST_SURROGATE ? unit - 0x800 : unit + 0x2000;
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
