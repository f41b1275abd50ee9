/** A percent sign that escapes nothing. */
const MALFORMED = /%(?![\da-f]{2})/i;

/** The parameters of a query. As upstream, what is escaped wrongly counts as not there, and the others count. */
export function queryOf(search: string): URLSearchParams {
  if (!MALFORMED.test(search)) return new URLSearchParams(search);
  const pairs = search.split('&').filter((pair) => !MALFORMED.test(pair));
  return new URLSearchParams(pairs.join('&'));
}
