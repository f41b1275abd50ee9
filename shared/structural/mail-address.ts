/** An atom of RFC 5322: letters, digits and these symbols, or any character beyond ASCII. */
const ATOM = String.raw`[A-Za-z0-9!#$%&'*+/=?^_{|}~\u0060\u0080-\u{10FFFF}-]+`;
const QUOTED = String.raw`"(?:[^"\\\r\n\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\\[\x20-\x7e\t])*"`;
const ADDRESS = new RegExp(
  String.raw`^\s*(?:${ATOM}(?:\.${ATOM})*|${QUOTED})@${ATOM}(?:\.${ATOM})*\s*$`,
  'u',
);
const WORD = new RegExp(String.raw`\s*(?:${ATOM}(?:\.+${ATOM})*\.?|${QUOTED})\s*`, 'uy');

/** Longest accepted text. RFC 5321 allows 254 bytes for the address alone. */
const ADDRESS_CHARS_MAX = 1_024;

/** True for one address that Go's net/mail parses: `a@b`, `"a b"@c`, or with a display name, `A B <a@b>`. */
export function isMailAddress(text: string): boolean {
  if (text.length > ADDRESS_CHARS_MAX) return false;
  const open = text.lastIndexOf('<');
  if (open === -1 || !text.trimEnd().endsWith('>')) return ADDRESS.test(text);
  const inside = text.trimEnd().slice(open + 1, -1);
  return isPhrase(text.slice(0, open)) && ADDRESS.test(inside) && inside.trim() === inside;
}

/** True for a sequence of words, which may be empty. */
function isPhrase(text: string): boolean {
  if (text.trim() === '') return true;
  WORD.lastIndex = 0;
  while (WORD.lastIndex < text.length) {
    if (!WORD.test(text)) return false;
  }
  return true;
}
