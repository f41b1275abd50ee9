import { goQuote } from '../../../../shared/errors/go-quote';

/** The parts of a URL as they are written, or why Go's `url.Parse` does not read it. A WHATWG parser would correct errors silently. */
export type UrlParts = ReadUrl | { readonly problem: string };

interface ReadUrl {
  readonly scheme: string;
  readonly host: string;
  /** Undefined without an `@`. */
  readonly user: string | undefined;
  readonly query: string;
  readonly fragment: string;
}

export function urlPartsOf(url: string): UrlParts {
  // eslint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(url))
    return { problem: formatUrlError(url, 'net/url: invalid control character in URL') };
  const [beforeFragment, fragment] = cut(url, '#');
  const found = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/s.exec(beforeFragment);
  const scheme = found?.[1] ?? '';
  const [rest, query] = cut(found?.[2] ?? beforeFragment, '?');
  const ends = { scheme: scheme.toLowerCase(), query, fragment };
  if (!rest.startsWith('/') && scheme !== '') return { ...ends, host: '', user: undefined };
  const [authority, path] = hasAuthority(rest, scheme) ? authorityAndPath(rest) : ['', rest];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const user = at < 0 ? undefined : authority.slice(0, at);
  const why = startProblem(rest) ?? hostProblem(host) ?? userProblem(user ?? '') ?? escapeProblem(path);
  return why === undefined ? { ...ends, host, user } : { problem: formatUrlError(beforeFragment, why) };
}

/** What is before and after the first such mark. */
function cut(text: string, mark: string): readonly [before: string, after: string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function authorityAndPath(rest: string): readonly [authority: string, path: string] {
  const slash = rest.indexOf('/', 2);
  return slash < 0 ? [rest.slice(2), ''] : [rest.slice(2, slash), rest.slice(slash)];
}

function startProblem(rest: string): string | undefined {
  if (rest.startsWith(':')) return 'missing protocol scheme';
  return /^[^/:]*:/.test(rest) ? 'first path segment in URL cannot contain colon' : undefined;
}

function formatUrlError(url: string, why: string): string {
  return `parse ${goQuote(url)}: ${why}`;
}

function hasAuthority(rest: string, scheme: string): boolean {
  return rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'));
}

function hostProblem(host: string): string | undefined {
  const end = host.startsWith('[') ? host.lastIndexOf(']') : -1;
  if (host.startsWith('[') && end < 0) return "missing ']' in host";
  const colon = end < 0 ? host.lastIndexOf(':') : end + 1;
  const port = colon < 0 ? '' : host.slice(colon);
  if (!/^(?::\d*)?$/.test(port)) return `invalid port ${goQuote(port)} after host`;
  const bad = /%(?![89a-fA-F][0-9a-fA-F]).{0,2}/su.exec(host)?.[0];
  if (bad !== undefined && end < 0) return `invalid URL escape ${goQuote(bad)}`;
  const odd = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\u{10FFFF}]/u.exec(host)?.[0];
  return odd === undefined ? undefined : `invalid character ${goQuote(odd)} in host name`;
}

function userProblem(user: string): string | undefined {
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) ? escapeProblem(user) : 'net/url: invalid userinfo';
}

function escapeProblem(text: string): string | undefined {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/su.exec(text)?.[0];
  return bad === undefined ? undefined : `invalid URL escape ${goQuote(bad)}`;
}
