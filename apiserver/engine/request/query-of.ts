/** A percent sign without two hexadecimal digits. */
const MALFORMED = /%(?![\da-f]{2})/i;

/** Parses a query. As upstream, malformed parameters are ignored. */
export function queryOf(search: string): URLSearchParams {
  if (!MALFORMED.test(search)) return new URLSearchParams(search);
  const pairs = search.split('&').filter((pair) => !MALFORMED.test(pair));
  return new URLSearchParams(pairs.join('&'));
}
