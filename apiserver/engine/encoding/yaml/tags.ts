import type { Cursor } from './cursor';
import { isBlank, isBlankOrEnd, isBreakOrEnd } from './cursor';

const ALPHANUMERIC = /[\w-]*/y;
const AFTER_ANCHOR = new Set('?:,]}%@`');
const URI = /(?:[\w;/?:@&=+$,.!~*'()[\]-]|%[\da-fA-F]{2})*/y;
const BLANKS = /[ \t]*/y;
const VERSION = /\d{1,2}\.\d{1,2}(?!\d)/y;
const END_PROBLEM = 'did not find expected whitespace or line break';

/** Reads the name of an anchor or alias after its `&` or `*`. */
export function readAnchor(cursor: Cursor): string {
  cursor.at += 1;
  const name = cursor.match(ALPHANUMERIC);
  const next = cursor.char();
  if (name === '' || !(isBlankOrEnd(next) || AFTER_ANCHOR.has(String.fromCharCode(next))))
    throw cursor.error('did not find expected alphabetic or numeric character');
  return name;
}

export interface Tag {
  /** Number of line breaks before it. */
  readonly line: number;
  /** Handle, which a directive replaces: `!`, `!!` or `!name!`; empty for a complete tag. */
  readonly text: string;
  readonly suffix: string;
}

/** Reads `!<tag>`, `!suffix` or `!name!suffix`. A single `!` is a complete tag. */
export function readTag(cursor: Cursor): Tag {
  const { line } = cursor;
  const tag = cursor.isAt('!<') ? readCompleteTag(cursor) : readShortTag(cursor);
  if (!isBlankOrEnd(cursor.char())) throw cursor.error(END_PROBLEM);
  return { line, ...tag };
}

function readCompleteTag(cursor: Cursor): Omit<Tag, 'line'> {
  cursor.at += 2;
  const suffix = readUri(cursor, '');
  if (!cursor.isAt('>')) throw cursor.error("did not find the expected '>'");
  cursor.at += 1;
  return { text: '', suffix };
}

function readShortTag(cursor: Cursor): Omit<Tag, 'line'> {
  const handle = readHandle(cursor);
  if (handle.length > 1 && handle.endsWith('!')) return { text: handle, suffix: readUri(cursor, '') };
  const suffix = readUri(cursor, handle);
  return suffix === '' ? { text: '', suffix: '!' } : { text: '!', suffix };
}

/** Reads `!`, `!name!`, or the begin of `!suffix`. */
function readHandle(cursor: Cursor): string {
  const start = cursor.at;
  cursor.at += 1;
  cursor.match(ALPHANUMERIC);
  if (cursor.isAt('!')) cursor.at += 1;
  return cursor.since(start);
}

/** Reads a URI that begins with `head`, whose `!` is no part of it. */
function readUri(cursor: Cursor, head: string): string {
  const text = cursor.match(URI);
  if (cursor.isAt('%')) throw cursor.error('did not find URI escaped octet');
  if (head === '' && text === '') throw cursor.error('did not find expected tag URI');
  try {
    return head.slice(1) + decodeURIComponent(text);
  } catch {
    throw cursor.error('found an incorrect leading UTF-8 octet');
  }
}

export interface Directive {
  readonly kind: 'version directive' | 'tag directive';
  /** The version, or the handle of tags. */
  readonly text: string;
  /** What replaces the handle. */
  readonly suffix: string;
}

/** Reads a directive from its `%` to the end of its line. */
export function readDirective(cursor: Cursor): Directive {
  cursor.at += 1;
  const name = cursor.match(ALPHANUMERIC);
  if (name === '') throw cursor.error('could not find expected directive name');
  if (!isBlankOrEnd(cursor.char())) throw cursor.error('found unexpected non-alphabetical character');
  if (name !== 'YAML' && name !== 'TAG') throw cursor.error('found unknown directive name');
  cursor.match(BLANKS);
  const directive = name === 'YAML' ? readVersion(cursor) : readTagDirective(cursor);
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.char())) throw cursor.error('did not find expected comment or line break');
  cursor.takeBreak();
  return directive;
}

function readVersion(cursor: Cursor): Directive {
  const text = cursor.match(VERSION);
  if (text === '') throw cursor.error('did not find expected version number');
  return { kind: 'version directive', text, suffix: '' };
}

function readTagDirective(cursor: Cursor): Directive {
  const text = cursor.isAt('!') ? readHandle(cursor) : '';
  if (!text.endsWith('!')) throw cursor.error("did not find expected '!'");
  if (!isBlank(cursor.char())) throw cursor.error('did not find expected whitespace');
  cursor.match(BLANKS);
  const suffix = readUri(cursor, '');
  if (!isBlankOrEnd(cursor.char())) throw cursor.error(END_PROBLEM);
  return { kind: 'tag directive', text, suffix };
}
