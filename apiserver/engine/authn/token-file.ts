import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AuthResult } from './authenticator';
import { withAuthenticatedGroup } from './authenticator';
import type { CsvRecord } from './csv';
import { CsvError, parseCsv } from './csv';

/** An invalid token file. The message names the file and the line, and never contains a token. */
class TokenFileError extends Error {
  constructor(file: string, line: number | undefined, problem: string, cause?: unknown) {
    super(line === undefined ? `${file}: ${problem}` : `${file}:${String(line)}: ${problem}`, { cause });
    this.name = 'TokenFileError';
  }
}

/** A bearer token of one user, known before the server starts. */
export interface StaticToken {
  readonly token: string;
  readonly name: string;
  readonly groups: readonly string[];
}

/** Returns a lookup among these tokens. */
export function staticTokenLookup(
  tokens: readonly StaticToken[],
): (token: string) => Promise<AuthResult | undefined> {
  const users = new Map(
    tokens.map(({ token, name, groups }): [string, AuthResult] => [
      digest(token),
      { user: withAuthenticatedGroup({ name, uid: '', groups, extra: {} }) },
    ]),
  );
  return async (token) => Promise.resolve(users.get(digest(token)));
}

/** Reads `--token-auth-file` once. Throws TokenFileError if the file is missing or a line is malformed. */
export function tokenFileLookup(file: string): (token: string) => Promise<AuthResult | undefined> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new TokenFileError(file, undefined, 'the token file cannot be read', error);
  }
  const users = parseTokenFile(file, text);
  return async (token) => Promise.resolve(users.get(digest(token)));
}

/** Parses the users by the digest of their token, so that the lookup time does not depend on how much of a token is right. */
function parseTokenFile(file: string, text: string): ReadonlyMap<string, AuthResult> {
  const users = new Map<string, AuthResult>();
  const lineOfToken = new Map<string, number>();
  for (const record of recordsIn(file, text)) {
    const [token = '', name = '', uid = '', groups = ''] = record.fields;
    const problem = problemOf(record);
    if (problem !== undefined) throw new TokenFileError(file, record.line, problem);
    const key = digest(token);
    const before = lineOfToken.get(key);
    if (before !== undefined) {
      throw new TokenFileError(file, record.line, `duplicate token, already on line ${String(before)}`);
    }
    lineOfToken.set(key, record.line);
    // Add the group once here instead of for every request.
    const user = withAuthenticatedGroup({ name, uid, groups: groupNames(groups), extra: {} });
    users.set(key, { user });
  }
  return users;
}

function recordsIn(file: string, text: string): readonly CsvRecord[] {
  try {
    return parseCsv(text);
  } catch (error) {
    if (error instanceof CsvError) throw new TokenFileError(file, error.line, error.message, error);
    throw error;
  }
}

function problemOf({ fields }: CsvRecord): string | undefined {
  if (fields.length < 3) {
    return `a line needs at least 3 columns (token, user name, user uid), found ${String(fields.length)}`;
  }
  if (fields.length > 4) {
    return `a line has at most 4 columns, found ${String(fields.length)}; put several groups into one quoted field`;
  }
  if (fields[0] === '') return 'the token is empty';
  if (/\s/.test(fields[0] ?? '')) return 'the token contains whitespace, which no request can carry';
  return fields[1] === '' ? 'the user name is empty' : undefined;
}

function groupNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
