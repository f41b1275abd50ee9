/** A parameter that is there says yes, also an empty one, unless it is `0` or `false` in whatever letters: as Go reads flags of a query. */
export function boolParameter(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
