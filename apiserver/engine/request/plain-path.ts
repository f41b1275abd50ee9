const ESCAPED_PLAIN = /%(?:2D|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/giu;

/**
 * Decodes the characters of a path that need no percent-encoding (RFC 3986, 6.2.2.2), so that equal paths compare
 * equal. Encoded dots are kept: how they resolve depends on the user of the path.
 */
export function plainPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(ESCAPED_PLAIN, (escaped) =>
    String.fromCodePoint(Number.parseInt(escaped.slice(1), 16)),
  );
}
