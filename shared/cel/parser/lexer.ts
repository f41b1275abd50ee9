import type { Issues } from './source';

export type TokenKind =
  | 'punctuation'
  | 'keyword'
  | 'identifier'
  | 'escaped'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Where the token starts, in UTF-16 units. */
  readonly offset: number;
}

const KEYWORDS = new Set(['in', 'true', 'false', 'null']);

const HIDDEN = /(?:[\t \r\n\f]+|\/\/[^\n]*)+/uy;
const NUMBER =
  /0x[0-9a-fA-F]+[uU]?|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?|\d+[uU]?/uy;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/uy;
const ESCAPED = /`[A-Za-z0-9_.\-/ ]+`/uy;
const PUNCTUATION = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/uy;
const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?\x60]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
/** The longest alternative has to come first, as a lexer generator would choose it. */
const STRING = new RegExp(
  [
    String.raw`[rR]"""[\s\S]*?"""`,
    String.raw`[rR]'''[\s\S]*?'''`,
    String.raw`"""(?:${ESCAPE}|[^\\])*?"""`,
    String.raw`'''(?:${ESCAPE}|[^\\])*?'''`,
    String.raw`[rR]"[^"\n\r]*"`,
    String.raw`[rR]'[^'\n\r]*'`,
    String.raw`"(?:${ESCAPE}|[^\\"\n\r])*"`,
    String.raw`'(?:${ESCAPE}|[^\\'\n\r])*'`,
  ].join('|'),
  'uy',
);
const BYTES = new RegExp(`[bB](?:${STRING.source})`, 'uy');

/** The patterns in the order in which they are tried. */
const PATTERNS: readonly (readonly [TokenKind, RegExp])[] = [
  ['bytes', BYTES],
  ['string', STRING],
  ['identifier', WORD],
  ['double', NUMBER],
  ['escaped', ESCAPED],
  ['punctuation', PUNCTUATION],
];

/**
 * Splits an expression into tokens (grammar: cel-go `parser/gen/CEL.g4`). Characters that start no token are reported and skipped.
 *
 * @returns the tokens, the last of which has the kind `end`
 */
export function tokenize(source: string, issues: Issues): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = offset;
    return pattern.exec(source)?.[0];
  };
  for (;;) {
    offset += match(HIDDEN)?.length ?? 0;
    if (offset >= source.length) break;
    let token: Token | undefined;
    for (const [kind, pattern] of PATTERNS) {
      const text = match(pattern);
      if (text === undefined) continue;
      token = { kind: refine(kind, text), text, offset };
      break;
    }
    if (token === undefined) {
      const character = String.fromCodePoint(source.codePointAt(offset) ?? 0);
      issues.report(
        offset,
        `Syntax error: token recognition error at: '${unrecognized(source, offset, character)}'`,
      );
      offset += unrecognized(source, offset, character).length;
    } else {
      tokens.push(token);
      offset += token.text.length;
    }
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset: source.length });
  return tokens;
}

function refine(kind: TokenKind, text: string): TokenKind {
  if (kind === 'identifier' && KEYWORDS.has(text)) return 'keyword';
  if (kind !== 'double') return kind;
  if (text.startsWith('0x')) return /u$/iu.test(text) ? 'uint' : 'int';
  if (/u$/iu.test(text)) return 'uint';
  return /[.eE]/u.test(text) ? 'double' : 'int';
}

/** An unfinished string is one error up to the end of its line; any other character is an error of its own. */
function unrecognized(source: string, offset: number, character: string): string {
  if (character !== '"' && character !== "'") return character;
  const rest = source.slice(offset);
  const end = /[\n\r]|\\(?![abfnrtv"'\\?`0-3xXuU])/u.exec(rest);
  return end === null ? rest : rest.slice(0, end.index + 1).trimEnd();
}
