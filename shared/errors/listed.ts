/** Joins distinct problems into one text, in brackets if there are several. */
export function listed(problems: readonly string[]): string {
  const different = [...new Set(problems)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}
