import type { Cursor, YamlError } from './cursor';
import { END, isBlank, isBlankOrEnd, isBreak } from './cursor';
import { readAnchor, readDirective, readTag } from './tags';
import { readBlock, readPlain, readQuoted } from './scalars';

/** `value` begins the value of a key. `block end` ends a block collection, whose indentation has no text of its own. */
export type TokenKind =
  | 'version directive'
  | 'tag directive'
  | 'document start'
  | 'document end'
  | 'stream end'
  | 'block list'
  | 'block map'
  | 'block end'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '- '
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface Token {
  readonly kind: TokenKind;
  /** Number of line breaks before it. */
  readonly line: number;
  /** Text of a scalar, name of an anchor or alias, handle of a tag, version. */
  readonly text: string;
  /** Suffix of a tag, prefix of a tag directive. */
  readonly suffix: string;
  readonly isPlain: boolean;
}

/** A token that may turn out to begin a key, once a colon follows in the same line. */
interface SimpleKey {
  readonly isRequired: boolean;
  /** Number of tokens before it. */
  readonly number: number;
  /** Number of characters before it. */
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  isPossible: boolean;
}

/** Characters between the begin of a key and its colon. */
const KEY_CHARS_MAX = 1024;
/**
 * Divides a document of YAML 1.1 into tokens, by the rules of libyaml, on which the Go library is based: where keys may
 * begin, how indentation opens and closes collections, and where tabs are allowed. Methods throw YamlError.
 */
export class Scanner {
  readonly #cursor: Cursor;
  readonly #queue: Token[] = [];
  /** Index of the next token in the queue. */
  #head = 0;
  /** Number of tokens that have been taken. */
  #taken = 0;
  /** Column of the innermost block collection; -1 outside any. */
  #indent = -1;
  readonly #indents: number[] = [];
  /** The possible key of each level of flow collections. */
  readonly #keys: (SimpleKey | undefined)[] = [undefined];
  readonly #keyOfToken = new Map<number, SimpleKey>();
  #isKeyAllowed = true;

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /** Returns the next token without taking it. The last one is `stream end`, again and again. */
  peek(): Token {
    while (this.#needsMore()) this.#fetch();
    const token = this.#queue[this.#head];
    if (token === undefined) throw new Error('no token was read');
    return token;
  }

  /** Takes the next token. */
  take(): Token {
    const token = this.peek();
    if (token.kind === 'stream end') return token;
    this.#head += 1;
    this.#taken += 1;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
    }
    return token;
  }

  /** A token that may begin a key is not known before its line has been read. */
  #needsMore(): boolean {
    if (this.#head === this.#queue.length) return true;
    if (this.#keyOfToken.size === 0) return false;
    const key = this.#keyOfToken.get(this.#taken);
    return key !== undefined && this.#isStillPossible(key);
  }

  #isStillPossible(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    if (key.line === this.#cursor.line && this.#cursor.offset - key.offset <= KEY_CHARS_MAX) return true;
    if (key.isRequired) throw this.#error("could not find expected ':'");
    this.#drop(key);
    return false;
  }

  #drop(key: SimpleKey): void {
    key.isPossible = false;
    this.#keyOfToken.delete(key.number);
  }

  #error(problem: string): YamlError {
    return this.#cursor.error(problem);
  }

  get #isInFlow(): boolean {
    return this.#keys.length > 1;
  }

  /** Returns the number of the next token that is added to the queue. */
  get #nextNumber(): number {
    return this.#taken + this.#queue.length - this.#head;
  }

  #add(
    kind: TokenKind,
    { line = this.#cursor.line, text = '', suffix = '', isPlain = false } = NOTHING,
  ): void {
    this.#queue.push({ kind, line, text, suffix, isPlain });
  }

  /** Inserts a token before the one with this number. */
  #insert(kind: TokenKind, number: number, line: number): void {
    const token = { kind, line, text: '', suffix: '', isPlain: false };
    this.#queue.splice(this.#head + number - this.#taken, 0, token);
  }

  /** Reads at least one token. */
  #fetch(): void {
    const cursor = this.#cursor;
    this.#skipToToken();
    this.#closeBlocks(cursor.column);
    const char = cursor.char();
    if (char === END) this.#fetchEnd();
    else if (char === PERCENT && cursor.column === 0) this.#fetchDirective();
    else if (cursor.isAtDocumentMarker()) this.#fetchDocumentMarker();
    else this.#fetchContent(String.fromCharCode(char));
  }

  /** Skips white space and comments. A tab may not come where a key may begin. */
  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      if (this.#isInFlow || !this.#isKeyAllowed) cursor.skipBlanks();
      else cursor.skipSpaces();
      cursor.skipComment();
      if (!isBreak(cursor.char())) return;
      cursor.takeBreak();
      if (!this.#isInFlow) this.#isKeyAllowed = true;
    }
  }

  #fetchContent(char: string): void {
    switch (char) {
      case '[':
      case '{':
        return this.#fetchFlowStart(char);
      case ']':
      case '}':
        return this.#fetchFlowEnd(char);
      case ',':
        return this.#fetchIndicator(',', { allowsKey: true });
      case '*':
        return this.#fetchAnchor('alias');
      case '&':
        return this.#fetchAnchor('anchor');
      case '!':
        return this.#fetchTag();
      case "'":
      case '"':
        return this.#fetchQuoted();
      default:
        return this.#fetchDependent(char);
    }
  }

  /** Reads a token whose first character may also begin a plain scalar. */
  #fetchDependent(char: string): void {
    const isSeparated = isBlankOrEnd(this.#cursor.char(1));
    if (char === '-' && isSeparated) this.#fetchListItem();
    else if (char === '?' && (this.#isInFlow || isSeparated)) this.#fetchKey();
    else if (char === ':' && (this.#isInFlow || isSeparated)) this.#fetchValue();
    else if ((char === '|' || char === '>') && !this.#isInFlow) this.#fetchBlockScalar();
    else if (this.#beginsPlain(char)) this.#fetchPlain();
    else throw this.#error('found character that cannot start any token');
  }

  #beginsPlain(char: string): boolean {
    if (char === '-') return !isBlank(this.#cursor.char(1));
    if (char === '?' || char === ':') return !this.#isInFlow;
    return !isBlank(char.charCodeAt(0)) && !'#|>%@`'.includes(char);
  }

  #fetchEnd(): void {
    // A key cannot go beyond its line, so none begins before the end.
    this.#cursor.endLine();
    this.#closeBlocks(-1);
    this.#dropKey();
    this.#isKeyAllowed = false;
    this.#add('stream end');
  }

  #fetchDocumentMarker(): void {
    this.#closeBlocks(-1);
    this.#dropKey();
    this.#isKeyAllowed = false;
    this.#add(this.#cursor.isAt('-') ? 'document start' : 'document end');
    this.#cursor.at += 3;
  }

  #fetchFlowStart(kind: '[' | '{'): void {
    this.#saveKey();
    this.#keys.push(undefined);
    this.#isKeyAllowed = true;
    this.#add(kind);
    this.#cursor.at += 1;
  }

  #fetchFlowEnd(kind: ']' | '}'): void {
    this.#dropKey();
    if (this.#isInFlow) this.#keys.pop();
    this.#isKeyAllowed = false;
    this.#add(kind);
    this.#cursor.at += 1;
  }

  #fetchIndicator(kind: TokenKind, { allowsKey }: { readonly allowsKey: boolean }): void {
    this.#dropKey();
    this.#isKeyAllowed = allowsKey;
    this.#add(kind);
    this.#cursor.at += 1;
  }

  #fetchListItem(): void {
    if (!this.#isInFlow) {
      if (!this.#isKeyAllowed) throw this.#error('block sequence entries are not allowed in this context');
      this.#openBlock('block list');
    }
    this.#fetchIndicator('- ', { allowsKey: true });
  }

  #fetchKey(): void {
    if (!this.#isInFlow) {
      if (!this.#isKeyAllowed) throw this.#error('mapping keys are not allowed in this context');
      this.#openBlock('block map');
    }
    this.#fetchIndicator('key', { allowsKey: !this.#isInFlow });
  }

  #fetchValue(): void {
    const key = this.#keys.at(-1);
    if (key !== undefined && this.#isStillPossible(key)) {
      this.#insert('key', key.number, key.line);
      this.#openBlock('block map', key);
      this.#drop(key);
      this.#isKeyAllowed = false;
      this.#add('value');
      this.#cursor.at += 1;
      return;
    }
    if (!this.#isInFlow) {
      if (!this.#isKeyAllowed) throw this.#error('mapping values are not allowed in this context');
      this.#openBlock('block map');
    }
    this.#isKeyAllowed = !this.#isInFlow;
    this.#add('value');
    this.#cursor.at += 1;
  }

  #fetchAnchor(kind: 'alias' | 'anchor'): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    this.#add(kind, { text: readAnchor(this.#cursor) });
  }

  #fetchTag(): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    this.#add('tag', readTag(this.#cursor));
  }

  #fetchDirective(): void {
    this.#closeBlocks(-1);
    this.#dropKey();
    this.#isKeyAllowed = false;
    const { kind, text, suffix } = readDirective(this.#cursor);
    this.#add(kind, { text, suffix });
  }

  #fetchBlockScalar(): void {
    this.#dropKey();
    this.#isKeyAllowed = true;
    const { line } = this.#cursor;
    const text = readBlock(this.#cursor, { indent: this.#indent, isInFlow: false });
    this.#add('scalar', { line, text });
  }

  #fetchQuoted(): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    const { line } = this.#cursor;
    this.#add('scalar', { line, text: readQuoted(this.#cursor) });
  }

  #fetchPlain(): void {
    this.#saveKey();
    const { line } = this.#cursor;
    const context = { indent: this.#indent, isInFlow: this.#isInFlow };
    const { text, breaksLine } = readPlain(this.#cursor, context);
    this.#isKeyAllowed = breaksLine;
    this.#add('scalar', { line, text, isPlain: true });
  }

  /** Notes that a key may begin here. */
  #saveKey(): void {
    if (!this.#isKeyAllowed) return;
    const { offset, line, column } = this.#cursor;
    const isRequired = !this.#isInFlow && this.#indent === column;
    this.#dropKey();
    const key = { isPossible: true, isRequired, number: this.#nextNumber, offset, line, column };
    this.#keys[this.#keys.length - 1] = key;
    this.#keyOfToken.set(key.number, key);
  }

  /** Rules out that a key begins at the noted place. */
  #dropKey(): void {
    const key = this.#keys.at(-1);
    if (key?.isPossible !== true) return;
    if (key.isRequired) throw this.#error("could not find expected ':'");
    this.#drop(key);
  }

  /** Opens a block collection if this column is deeper than the innermost one. */
  #openBlock(kind: 'block list' | 'block map', key?: SimpleKey): void {
    const column = key?.column ?? this.#cursor.column;
    if (this.#isInFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (key === undefined) this.#add(kind);
    else this.#insert(kind, key.number, key.line);
  }

  /** Closes the block collections that are deeper than this column. */
  #closeBlocks(column: number): void {
    if (this.#isInFlow) return;
    while (this.#indent > column) {
      this.#add('block end');
      this.#indent = this.#indents.pop() ?? -1;
    }
  }
}

const NOTHING: Partial<Omit<Token, 'kind'>> = {};
const PERCENT = 0x25;
