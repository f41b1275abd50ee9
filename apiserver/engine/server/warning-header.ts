/** If all texts together are longer, each is truncated to the length below. */
const TOTAL_CHARACTERS_MAX = 4_096;
const SHORTENED_CHARACTERS_MAX = 256;

/** Formats the `Warning` headers of one answer, `299 - "text"` each, without duplicates. */
export function warningHeaders(warnings: readonly string[]): readonly string[] {
  const texts = [...new Set(warnings)];
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  const isTooLong = total > TOTAL_CHARACTERS_MAX;
  const values: string[] = [];
  let characters = 0;
  for (const text of texts) {
    const shown = isTooLong ? text.slice(0, SHORTENED_CHARACTERS_MAX) : text;
    characters += shown.length;
    if (characters > TOTAL_CHARACTERS_MAX) break;
    values.push(`299 - ${quoted(shown)}`);
  }
  return values;
}

/**
 * Formats a quoted-string (RFC 7230) in UTF-8. Control characters become spaces. Node writes the characters of
 * headers as bytes.
 */
function quoted(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are the characters a header must not hold
  const printable = text.replaceAll(/[\u0000-\u001f\u007f]/g, ' ').replaceAll(/["\\]/g, '\\$&');
  return `"${Buffer.from(printable, 'utf8').toString('latin1')}"`;
}
