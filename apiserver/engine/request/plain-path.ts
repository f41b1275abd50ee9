const ESCAPED_PLAIN = /%(?:2D|3\d|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])/giu;

/**
 * The path with those characters as they are that need no percent-encoding (RFC 3986, 6.2.2.2): whoever compares paths has one form of each. Dots
 * stay, because where they lead is decided by whom the request is for.
 */
export function plainPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(ESCAPED_PLAIN, (escaped) =>
    String.fromCodePoint(Number.parseInt(escaped.slice(1), 16)),
  );
}
