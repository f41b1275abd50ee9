import type { Exchange } from './exchange';

type Asked = Pick<Exchange, 'path' | 'search' | 'query' | 'uri'>;

/** The path of the request as its client wrote it. */
export function writtenPath({ path, uri = path }: Pick<Exchange, 'path' | 'uri'>): string {
  const question = uri.indexOf('?');
  return question < 0 ? uri : uri.slice(0, question);
}

/** What the request asked for, as Go's `URL.RequestURI` tells it: as it was written, but for what may not stand in a path as it is. */
export function requestUri(exchange: Asked): string {
  const { uri, query, search = query.toString() } = exchange;
  const written = writtenPath(exchange);
  const path = WRITTEN_AS_IT_MAY_BE.test(written) ? written : escapedAnew(written);
  if (uri !== undefined) return `${path}${uri.slice(written.length)}`;
  return search === '' ? path : `${path}?${search}`;
}

/** Go keeps none of the old escapes of a path of which it has to escape anything. */
function escapedAnew(path: string): string {
  const decoded = path.replace(ESCAPED, (_escaped, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  );
  return decoded.replace(NOT_PLAIN, (character) => {
    const bytes = Buffer.from(character, 'latin1').toString('hex').toUpperCase();
    return `%${bytes}`;
  });
}

/** Each character is a byte: listeners hand over heads as Latin-1. */
const ESCAPED = /%([\da-f]{2})/giu;
const WRITTEN_AS_IT_MAY_BE = /^[\w\-.~!$&'()*+,;=:@[\]%/]*$/;
const NOT_PLAIN = /[^\w\-.~$&+,/:;=@]/g;
