import { posix } from 'node:path';

/** Percent-encodes a path as Go does. */
export function encodedPath(path: string): string {
  const sent = path === '' ? '/' : path;
  return encodeURI(sent).replaceAll(
    /[!*'()#?]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns the request path without the path of the other server: `/api/v1/nodes/n/proxy` of `/api/v1/nodes/n/proxy/metrics`. */
export function prefixOf(requestPath: string, path: string): string {
  const suffix = requestPath.endsWith('/') && !path.endsWith('/') ? `${path}/` : path;
  return requestPath.endsWith(suffix)
    ? requestPath.slice(0, requestPath.length - suffix.length)
    : requestPath;
}

/** Returns the path as the client sees it, for the header `X-Forwarded-Uri`. */
export function forwardedUri(prefix: string, path: string): string {
  const joined = posix.normalize(`${prefix}/${path}`);
  const trimmed =
    joined.length > 1 && joined.endsWith('/') && !path.endsWith('/') ? joined.slice(0, -1) : joined;
  return encodedPath(trimmed);
}

/** A base for relative links; its host never occurs. */
const BASE = 'http://relative.invalid';

/** Rewrites a link that begins with a slash, or names the host of the other server, to lead through the proxy. Others stay unchanged. */
export function rewrittenLink(link: string, prefix: string, host: string): string {
  const url = parsed(link);
  if (url === undefined) return link;
  const isForeign = url.host !== 'relative.invalid' && url.host !== host;
  const isRelative = url.host === 'relative.invalid' && !link.startsWith('/');
  if (isForeign || isRelative) return link;
  const rest = `${url.search}${url.hash}`;
  const path =
    /^(?:[a-z][a-z0-9+.-]*:)?\/\/[^/?#]*([^?#]*)/iu.exec(link)?.[1] ?? /^[^?#]*/u.exec(link)?.[0] ?? '';
  if (path === '' && url.host === host) return link;
  if (path.startsWith(prefix)) return `${path}${rest}`;
  const joined = posix.normalize(`${prefix}/${path}`);
  return `${joined}${rest}`;
}

function parsed(link: string): URL | undefined {
  try {
    return new URL(link, BASE);
  } catch {
    return undefined;
  }
}
