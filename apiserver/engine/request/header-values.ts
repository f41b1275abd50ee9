import type { Exchange } from './exchange';

/** Returns the values of all headers with the (lower-case) name, in order and not joined. */
export function headerValues({ rawHeaders }: Pick<Exchange, 'rawHeaders'>, name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) values.push(textOf(rawHeaders[index + 1] ?? ''));
  }
  return values;
}

/**
 * Returns all headers whose name begins with the (lower-case) prefix: the rest of the name in lower case, and the
 * value.
 */
export function headersWithPrefix(
  { rawHeaders }: Pick<Exchange, 'rawHeaders'>,
  prefix: string,
): readonly (readonly [rest: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (name.startsWith(prefix)) found.push([name.slice(prefix.length), textOf(rawHeaders[index + 1] ?? '')]);
  }
  return found;
}

/** Removes headers from the request, by a predicate on their lower-case names. */
export function removeHeaders(
  exchange: Pick<Exchange, 'headers' | 'rawHeaders'>,
  isToGo: (name: string) => boolean,
): void {
  exchange.headers = Object.fromEntries(Object.entries(exchange.headers).filter(([name]) => !isToGo(name)));
  const { rawHeaders } = exchange;
  const isKept = (at: number): boolean => !isToGo(rawHeaders[at - (at % 2)]?.toLowerCase() ?? '');
  exchange.rawHeaders = rawHeaders.filter((_word, at) => isKept(at));
}

/** Bounds of a header that lists elements. Browsers send some hundred bytes in some ten elements, API clients less. */
const LIST_BYTES_MAX = 8 * 1_024;
const LIST_ELEMENTS_MAX = 100;

/**
 * Splits a header at its commas. Everything after the first hundred elements or 8 KiB is ignored: these headers are
 * parsed before the client is authenticated, so their cost must not grow with what it sends.
 */
export function listElements(header: string): readonly string[] {
  const end =
    header.length > LIST_BYTES_MAX ? Math.max(0, header.lastIndexOf(',', LIST_BYTES_MAX)) : header.length;
  return header.slice(0, end).split(',', LIST_ELEMENTS_MAX);
}

const MALFORMED_ESCAPE = /%(?![0-9a-f]{2})/i;

/** Decodes a percent-encoded key in a header name. A malformed one is returned unchanged. */
export function unescapedKey(encoded: string): string {
  if (!encoded.includes('%') || MALFORMED_ESCAPE.test(encoded)) return encoded;
  const bytes = encoded.replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return textOf(bytes);
}

/** Decodes a header value: Node has one character per byte, and the bytes are UTF-8. */
function textOf(bytes: string): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

const NOT_ASCII = /[\u0080-\u00ff]/;
