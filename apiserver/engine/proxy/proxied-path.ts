import { posix } from 'node:path';

/** A path as it is sent: everything but what may stand in a path is percent-encoded, as Go does it. */
export function encodedPath(path: string): string {
  const sent = path === '' ? '/' : path;
  return encodeURI(sent).replaceAll(
    /[!*'()#?]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * What stands in front of the path of the other server in the path of the request: `/api/v1/nodes/n/proxy` of
 * `/api/v1/nodes/n/proxy/metrics`.
 */
export function prefixOf(requestPath: string, path: string): string {
  const suffix = requestPath.endsWith('/') && !path.endsWith('/') ? `${path}/` : path;
  return requestPath.endsWith(suffix)
    ? requestPath.slice(0, requestPath.length - suffix.length)
    : requestPath;
}

/** The path as the client has it, for the server that wants to make links. */
export function forwardedUri(prefix: string, path: string): string {
  const joined = posix.normalize(`${prefix}/${path}`);
  const trimmed =
    joined.length > 1 && joined.endsWith('/') && !path.endsWith('/') ? joined.slice(0, -1) : joined;
  return encodedPath(trimmed);
}

/** The host that the other server was asked by, and by which it would link to itself. */
const BASE = 'http://relative.invalid';

/**
 * A link as it has to be for the client: one that begins with a slash, or leads to the host of the other server, leads through the proxy
 * again. Others stay as they are.
 */
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
