/**
 * Parses a boolean query parameter as Go does: true if present, even if empty, unless it is `0` or `false` in any
 * case.
 */
export function boolParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
