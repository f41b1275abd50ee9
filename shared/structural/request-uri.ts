/**
 * True for text that Go's `url.ParseRequestURI` parses: an absolute URI or an absolute path. Only the
 * authority is strict.
 */
export function isRequestUri(text: string): boolean {
  if (text === '*') return true;
  // eslint-disable-next-line no-control-regex
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return false;
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(text)?.[0] ?? '';
  if (scheme === '' && text.startsWith(':')) return false;
  const rest = withoutQuery(text.slice(scheme.length));
  if (!rest.startsWith('/')) return scheme !== '';
  if (scheme === '' || !rest.startsWith('//') || rest.startsWith('///')) return hasGoodEscapes(rest);
  const slash = rest.indexOf('/', 2);
  const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
  return isAuthority(authority) && hasGoodEscapes(slash === -1 ? '' : rest.slice(slash));
}

function withoutQuery(text: string): string {
  const mark = text.indexOf('?');
  return mark === -1 ? text : text.slice(0, mark);
}

function hasGoodEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || !hasGoodEscapes(user)) return false;
  return isHost(authority.slice(at + 1));
}

function isHost(host: string): boolean {
  const [, address, port] = /^\[([^\]]*)\](.*)$/.exec(host) ?? [];
  if (host.startsWith('[')) {
    return address !== undefined && /^(?::\d*)?$/.test(port ?? '') && /^[0-9A-Za-z:.%~_-]*$/.test(address);
  }
  const colon = host.lastIndexOf(':');
  if (colon !== -1 && !/^\d*$/.test(host.slice(colon + 1))) return false;
  // Only characters beyond ASCII may be escaped in a host.
  return /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"\u0080-\u{10FFFF}]|%[89a-fA-F][0-9a-fA-F])*$/u.test(host);
}
