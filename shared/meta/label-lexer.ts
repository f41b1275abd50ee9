/** What a label selector is made of. `end` closes every list; `word` is a key or a value. */
export type LabelTokenKind =
  'word' | 'end' | ')' | ',' | '!' | '==' | '=' | '>' | 'in' | '<' | '!=' | 'notin' | '(';

export interface LabelToken {
  readonly kind: LabelTokenKind;
  /** As written; empty for `end`. */
  readonly text: string;
}

const KEYWORDS: ReadonlySet<string> = new Set(['in', 'notin']);
/** Longest first. */
const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'] as const;
const SPACES = new Set([' ', '\t', '\r', '\n']);
const BREAKS = new Set([...SPACES, '=', '!', '(', ')', ',', '>', '<']);

/** Splits a selector into tokens. Never fails: whatever is no symbol and no space is part of a word. */
export function labelTokens(text: string): LabelToken[] {
  const tokens: LabelToken[] = [];
  let position = 0;
  while (position < text.length) {
    if (SPACES.has(text.charAt(position))) {
      position += 1;
      continue;
    }
    const token = symbolAt(text, position) ?? wordAt(text, position);
    tokens.push(token);
    position += token.text.length;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

function symbolAt(text: string, position: number): LabelToken | undefined {
  if (!BREAKS.has(text.charAt(position))) return undefined;
  const symbol = SYMBOLS.find((each) => text.startsWith(each, position));
  return symbol === undefined ? undefined : { kind: symbol, text: symbol };
}

function wordAt(text: string, position: number): LabelToken {
  let end = position;
  while (end < text.length && !BREAKS.has(text.charAt(end))) end += 1;
  const word = text.slice(position, end);
  return { kind: KEYWORDS.has(word) ? (word as 'in' | 'notin') : 'word', text: word };
}
