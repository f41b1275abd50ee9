import type { FunctionDeclaration } from '../check/declarations';
import { BOOL, STRING, listOf, mapOf, structOf } from '../check/types';
import { ArrayList, EntryMap, EvalError, NO_OVERLOAD, OpaqueValue } from '../eval/values';
import type { MapKey, Result, Value } from '../eval/values';
import { declare, global, method, onStrings } from './functions';

export const URL_TYPE = structOf('kubernetes.URL');

/** The parts of a URL as Go's `net/url` names them. */
interface UrlParts {
  readonly scheme: string;
  /** Name or address with the port, brackets included. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

class UrlValue extends OpaqueValue {
  readonly type = URL_TYPE;
  readonly text: string;
  readonly parts: UrlParts;

  constructor(text: string, parts: UrlParts) {
    super();
    this.text = text;
    this.parts = parts;
  }

  override equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }
}

const SPLIT = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/su;
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2}).{0,2}/su;

/** Reads an absolute URL or an absolute path as Go's `url.ParseRequestURI` does; text is the reason why it is none. */
export function parseUrl(text: string): UrlParts | string {
  const failed = (why: string): string => `parse ${JSON.stringify(text)}: ${why}`;
  if (/[\0-\x20\x7f]/u.test(text.replaceAll(' ', '')))
    return failed('net/url: invalid control character in URL');
  if (text === '') return failed('empty url');
  const match = SPLIT.exec(text);
  if (match === null) return failed('invalid URI for request');
  const [, scheme = '', authority, path = '', query = ''] = match;
  const host = (authority ?? '').slice((authority ?? '').lastIndexOf('@') + 1);
  // After a scheme, a text that is no path has parts that only its scheme knows.
  if (scheme !== '' && authority === undefined && !path.startsWith('/'))
    return { scheme: scheme.toLowerCase(), host: '', path: '', query };
  const problem = schemeProblem(text, scheme) ?? pathProblem(path);
  if (problem !== undefined) return failed(problem);
  // Without a scheme, `//host/path` is a path in a request, and its host is not checked.
  const wrongHost = scheme === '' ? undefined : hostProblem(host);
  return wrongHost === undefined ? { scheme: scheme.toLowerCase(), host, path, query } : failed(wrongHost);
}

function schemeProblem(text: string, scheme: string): string | undefined {
  if (scheme !== '') return undefined;
  if (text.startsWith(':')) return 'missing protocol scheme';
  if (/^[^/?#]*:/u.test(text)) return 'first path segment in URL cannot contain colon';
  return text.startsWith('/') ? undefined : 'invalid URI for request';
}

function pathProblem(path: string): string | undefined {
  const escape = BAD_ESCAPE.exec(path);
  return escape === null ? undefined : `invalid URL escape ${JSON.stringify(escape[0])}`;
}

function hostProblem(host: string): string | undefined {
  const port = /:([^\]:]*)$/u.exec(host.replace(/^\[[^\]]*\]/u, ''));
  if (port !== null && !/^\d*$/u.test(port[1] ?? ''))
    return `invalid port ${JSON.stringify(port[0])} after host`;
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host";
  const bad = /[ "<>\\^`{|}]/u.exec(host);
  if (bad !== null) return `invalid character ${JSON.stringify(bad[0])} in host name`;
  const escape = BAD_ESCAPE.exec(host);
  return escape === null ? undefined : `invalid URL escape ${JSON.stringify(escape[0])}`;
}

function convert(text: string): Result {
  const parts = parseUrl(text);
  if (typeof parts === 'string')
    return new EvalError(`URL parse error during conversion from string: ${parts}`);
  return new UrlValue(text, parts);
}

function onUrl(run: (parts: UrlParts) => Result): (value?: Value) => Result {
  return (value) => (value instanceof UrlValue ? run(value.parts) : NO_OVERLOAD);
}

/** Splits name and port, without the brackets of an IPv6 address. */
function splitPort(host: string): { name: string; port: string } {
  const match = /^(.*?)(?::(\d*))?$/su.exec(host);
  const name = match?.[1] ?? host;
  const bracketed = /^\[([^\]]*)\]/u.exec(host);
  return { name: bracketed === null ? name : (bracketed[1] ?? ''), port: match?.[2] ?? '' };
}

/** Escapes what a path may not contain and keeps escapes that are there. */
function escapePath(path: string): string {
  const bytes = path.replaceAll(/[^A-Za-z0-9\-_.~$&+,/:;=@%!'()*[\]]/gu, (character) =>
    Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
      '',
    ),
  );
  return bytes;
}

function unescapeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Returns the values of each name; parts that cannot be decoded or contain a semicolon are left out, as Go does. */
function queryOf({ query }: UrlParts): Result {
  const values = new Map<string, Value[]>();
  for (const part of query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const [, rawName = '', rawValue = ''] = /^([^=]*)=?(.*)$/su.exec(part) ?? [];
    const [name, value] = [unescapeQuery(rawName), unescapeQuery(rawValue)];
    if (name === undefined || value === undefined) continue;
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  const entries = new Map<MapKey, readonly [Value, Value]>();
  for (const [name, list] of values) entries.set(name, [name, new ArrayList(list)]);
  return new EntryMap(entries);
}

function accessor(name: string, id: string, read: (parts: UrlParts) => string): FunctionDeclaration {
  return declare(name, 0, method(id, [URL_TYPE], STRING, onUrl(read)));
}

/** URLs (k8s.io/apiserver `cel/library/urls.go`). */
export const URL_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare(
    'url',
    0,
    global(
      'string_to_url',
      [STRING],
      URL_TYPE,
      onStrings((text = '') => convert(text)),
    ),
  ),
  declare(
    'isURL',
    0,
    global(
      'is_url_string',
      [STRING],
      BOOL,
      onStrings((text = '') => typeof parseUrl(text) !== 'string'),
    ),
  ),
  accessor('getScheme', 'url_get_scheme', ({ scheme }) => scheme),
  accessor('getHost', 'url_get_host', ({ host }) => host),
  accessor('getHostname', 'url_get_hostname', ({ host }) => splitPort(host).name),
  accessor('getPort', 'url_get_port', ({ host }) => splitPort(host).port),
  accessor('getEscapedPath', 'url_get_escaped_path', ({ path }) => escapePath(path)),
  declare('getQuery', 0, method('url_get_query', [URL_TYPE], mapOf(STRING, listOf(STRING)), onUrl(queryOf))),
];
