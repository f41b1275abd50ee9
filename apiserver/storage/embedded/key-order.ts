/** Compares two keys by their UTF-8 bytes without encoding them. */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return byteRankOf(left) - byteRankOf(right);
  }
  return a.length - b.length;
}

/** The smallest string above every string that begins with `prefix`, or undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix);
  for (;;) {
    const last = points.pop()?.codePointAt(0);
    if (last === undefined) return undefined;
    if (last === LAST_CODE_POINT) continue;
    const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1;
    return points.join('') + String.fromCodePoint(next);
  }
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
const LAST_CODE_POINT = 0x10_ffff;

/** Halves of surrogate pairs stand for U+10000 and above, so they rank behind U+E000–U+FFFF. */
function byteRankOf(unit: number): number {
  return unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE ? unit + 0x1_0000 : unit;
}
