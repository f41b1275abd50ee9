import type { Exchange } from './exchange';

type Asked = Pick<Exchange, 'path' | 'search' | 'query' | 'uri'>;

/** Returns the path as the client sent it. */
export function writtenPath({ path, uri = path }: Pick<Exchange, 'path' | 'uri'>): string {
  const question = uri.indexOf('?');
  return question < 0 ? uri : uri.slice(0, question);
}

/**
 * Formats path and query as Go’s `URL.RequestURI`: as sent, except for characters that need percent-encoding in a
 * path.
 */
export function requestUri(exchange: Asked): string {
  const { uri, query, search = query.toString() } = exchange;
  const written = writtenPath(exchange);
  const path = WRITTEN_AS_IT_MAY_BE.test(written) ? written : escapedAnew(written);
  if (uri !== undefined) return `${path}${uri.slice(written.length)}`;
  return search === '' ? path : `${path}?${search}`;
}

/**
 * Replaces the values of query parameters that hold credentials, for the audit log. The server reads none of them, but
 * clients send them by mistake, and proxied servers may expect them. Kubernetes records them.
 */
export function withoutSecrets(uri: string): string {
  return uri.includes('?') ? uri.replace(PARAMETER, withoutSecret) : uri;
}

const PARAMETER = /(?<=[?&])[^&]+/gu;
/** The names inside of one parameter: some servers divide parameters by semicolons too. */
const NAME = /(?<=^|[?;])([^=?;]*)=/gu;

/** A secret ends with the parameter, because it can contain semicolons itself. */
function withoutSecret(parameter: string): string {
  for (const { 0: start, 1: name = '', index } of parameter.matchAll(NAME))
    if (SECRET_NAME.test(decodeName(name))) return `${parameter.slice(0, index)}${start}REDACTED`;
  return parameter;
}

const SECRET_NAME =
  /^(?:(?:access|auth|bearer|id|refresh|session|csrf|x-amz-security)?[-_]?token|(?:client[-_]?)?(?:secret|assertion)|pass(?:word|wd|phrase)?|pwd|(?:api|access|secret)[-_]?key|jwt|auth(?:orization)?|credentials?|(?:x-amz-)?sig(?:nature)?)$/iu;

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Escapes a path as Go does: if any character needs escaping, all existing escapes are decoded first. */
function escapedAnew(path: string): string {
  const decoded = path.replace(ESCAPED, (_escaped, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  );
  return decoded.replace(NOT_PLAIN, (character) => {
    const bytes = Buffer.from(character, 'latin1').toString('hex').toUpperCase();
    return `%${bytes}`;
  });
}

/** Each character is a byte: Node decodes headers as Latin-1. */
const ESCAPED = /%([\da-f]{2})/giu;
const WRITTEN_AS_IT_MAY_BE = /^[\w\-.~!$&'()*+,;=:@[\]%/]*$/;
const NOT_PLAIN = /[^\w\-.~$&+,/:;=@]/g;
