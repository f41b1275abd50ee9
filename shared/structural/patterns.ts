import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/**
 * Compiles untrusted regular expressions in RE2 syntax, as in Go. A port of RE2 runs them in time linear in
 * the text. JavaScript's backtracking engine runs only patterns that it cannot match in several ways (ReDoS).
 */

/**
 * Most instructions of a compiled pattern. Compiling takes 2 to 6 µs per instruction and blocks the event
 * loop.
 */
export const PATTERN_INSTRUCTIONS_MAX = 4_000;
const PATTERN_CHARS_MAX = 10_000;

/**
 * Largest estimated memory of the cache of compiled patterns. Beyond it the least recently used ones are
 * evicted.
 */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
const INSTRUCTION_BYTES = 700;
const PATTERN_BYTES = 2_000;
/**
 * Largest table of DFA states of one pattern. In the worst case each character of a text adds a state that
 * lists all instructions.
 */
const TABLE_BYTES_MAX = 8 * 1024 * 1024;
const STATE_BYTES = 600;
const STATE_INSTRUCTION_BYTES = 8;

export interface Pattern {
  readonly test: (text: string) => boolean;
  /** Size of the program, which bounds the steps per character. */
  readonly instructions: number;
}

/**
 * `effort` is the cost of compiling, in instructions of a program that takes as long. It is set for invalid
 * patterns, too.
 */
type Compiled = (Pattern | { readonly problem: string }) & { readonly effort: number };

const kept = new LRUCache<string, Compiled>({ maxSize: KEPT_BYTES_MAX });

/** Returns the largest estimated memory of the cached patterns. */
export function keptPatternBytes(): number {
  return kept.calculatedSize;
}

/** Compiles a pattern, or returns its problem: `error parsing regexp: missing closing ): ...`. */
export function compilePattern(pattern: string): Compiled {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const made = plainPattern(pattern) ?? linearPattern(pattern);
  keep(pattern, made, 0);
  return made;
}

/** True for a pattern in the cache. */
export function isKnownPattern(pattern: string): boolean {
  return kept.has(pattern);
}

/** Adds a pattern to the cache. `tableBytes` is its memory besides the program. */
function keep(pattern: string, made: Compiled, tableBytes: number): void {
  const instructions = 'problem' in made ? 0 : made.instructions;
  const size = PATTERN_BYTES + 2 * pattern.length + INSTRUCTION_BYTES * instructions + tableBytes;
  // An existing entry has already been counted.
  kept.delete(pattern);
  kept.set(pattern, made, { size });
}

function linearPattern(pattern: string): Compiled {
  if (pattern.length > PATTERN_CHARS_MAX) return { problem: TOO_LARGE, effort: 1 };
  const estimate = instructionsOf(pattern);
  if (estimate > PATTERN_INSTRUCTIONS_MAX)
    return { problem: TOO_LARGE, effort: pattern.length / CHARS_PER_EFFORT };
  try {
    const program = RE2JS.compile(pattern);
    const instructions = program.programSize();
    let tableBytes = 0;
    const test = (text: string): boolean => {
      const atMost = tableBytes + text.length * (STATE_BYTES + STATE_INSTRUCTION_BYTES * instructions);
      const grown = Math.min(TABLE_BYTES_MAX, atMost);
      if (grown > tableBytes) keep(pattern, compiled, grown);
      tableBytes = grown;
      return program.test(text);
    };
    const compiled = { test, instructions, effort: Math.max(instructions, estimate) };
    return compiled;
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), effort: estimate };
  }
}

const TOO_LARGE = 'error parsing regexp: expression too large';
/** Characters that are scanned in the time of compiling one instruction. */
const CHARS_PER_EFFORT = 200;

const CHARACTER = String.raw`[A-Za-z0-9_@:/ =%,;-]|\\[dw./-]|\[(?:[A-Za-z0-9_.:@/ =%,;-]|\\[dw./-])+\]`;
const COUNT = String.raw`[*+?]|\{\d{1,3}(?:,\d{0,3})?\}`;
const PLAIN = new RegExp(String.raw`^\^(?:(?:${CHARACTER})(?:${COUNT})?)*\$$`);
const VARIABLE_COUNT = /[*+?]|\{\d+,\d*\}/g;

/**
 * Compiles anchored sequences of ASCII characters and classes, at most one of which is unbounded, with
 * JavaScript's engine. It matches them without exponential backtracking, and the syntax means the same in both
 * languages. These are the most common patterns, and counting to 253 is costly in RE2.
 */
function plainPattern(pattern: string): Compiled | undefined {
  if (pattern.length > PATTERN_CHARS_MAX || !PLAIN.test(pattern)) return undefined;
  if ((pattern.match(VARIABLE_COUNT)?.length ?? 0) > 1) return undefined;
  // Backtracking gives up characters of the unbounded part one by one, and each time the rest is tried again.
  const instructions = instructionsOf(pattern.replaceAll(VARIABLE_COUNT, ''));
  if (instructions > PATTERN_INSTRUCTIONS_MAX) return undefined;
  try {
    const program = new RegExp(pattern, 'u');
    return { test: (text) => program.test(text), instructions, effort: instructions };
  } catch {
    return undefined;
  }
}

/**
 * Estimates the instructions of a compiled pattern, or the equivalent of its compile time. Repeated characters
 * and groups count once for each repetition, and large or complex character classes count extra.
 */
function instructionsOf(pattern: string): number {
  const foldsCase = FOLDS_CASE.test(pattern);
  const groups: number[] = [];
  let size = 0;
  let last = 0;
  let effort = 0;
  for (const [token, count = ''] of pattern.matchAll(
    /\\[pP](?:\{[^}]*\}|[^])|\\[^]|\[\^?\]?(?:\\[^]|[^\]\\])*\]|\{(\d+(?:,\d*)?)\}|[^]/g,
  )) {
    if (count !== '') {
      const [least = 0, most = least] = count.split(',').map(Number);
      // Each optional repetition has an instruction of its own.
      size += last * (Math.max(least, most, 1) - 1) + Math.max(0, most - least);
      last = 0;
    } else if (token === '(') {
      groups.push(size);
      size += GROUP_INSTRUCTIONS;
      last = 0;
    } else if (token === ')') {
      last = size - (groups.pop() ?? 0);
    } else {
      last = 1;
      size += last;
      effort += token === '|' ? ALTERNATIVE_EFFORT : readingEffortOf(token, foldsCase);
    }
  }
  return size + effort;
}

const GROUP_INSTRUCTIONS = 2;
/** Alternatives of single characters or classes are merged, each with all before it. */
const ALTERNATIVE_EFFORT = 1;
/** The ranges of a Unicode class are merged each time, with both cases of all letters if necessary. */
const UNICODE_CLASS_EFFORT = { exact: 10, folded: 60 } as const;
const CLASS_CHARS_PER_EFFORT = 8;

/** Detects a group that folds case, without its end. */
const FOLDS_CASE = /\(\?[a-zA-Z-]*i/;
const FOLDED_CLASS_EFFORT = 6;
/**
 * Case folding looks up each character of a range by itself, 30 per microsecond. All of Unicode takes 4 ms,
 * and four times as much before the code is optimized.
 */
const FOLDED_CHARS_PER_EFFORT = 60;
const FOLDED_CHARS = { first: 0x41, last: 0x1e943 } as const;
/** Matches one character of a class, or a range. */
const CHARACTER_OR_RANGE = new RegExp(
  String.raw`(ONE)(?:-(?!\])(ONE))?`.replaceAll('ONE', String.raw`\\x\{[^}]*\}|\\[^]|[^]`),
  'gu',
);
const CHARACTER_CODE = /^\\x\{([0-9A-Fa-f]{1,6})\}$/;

/** Returns the effort of folding the case of all ranges in a class. */
function foldedRangesEffortOf(characterClass: string): number {
  let chars = 0;
  for (const [, first = '', last] of characterClass.slice(1, -1).matchAll(CHARACTER_OR_RANGE)) {
    if (last === undefined) continue;
    const from = Math.max(codeOf(first) ?? FOLDED_CHARS.first + 1, FOLDED_CHARS.first);
    const to = Math.min(codeOf(last) ?? FOLDED_CHARS.last - 1, FOLDED_CHARS.last);
    // The whole range folds to itself without a lookup.
    const isAll = from === FOLDED_CHARS.first && to === FOLDED_CHARS.last;
    chars += isAll ? 0 : Math.max(0, to - from + 1);
  }
  return Math.ceil(chars / FOLDED_CHARS_PER_EFFORT);
}

/** Returns undefined for an escape that is not parsed here; its range then counts as the largest. */
function codeOf(character: string): number | undefined {
  const code = CHARACTER_CODE.exec(character)?.[1];
  if (code !== undefined) return Number.parseInt(code, 16);
  if (!character.startsWith('\\')) return character.codePointAt(0);
  return /^\\[\x20-/:-@[-`{-~]$/.test(character) ? character.codePointAt(1) : undefined;
}

/** Returns the effort of parsing one character or class besides its instruction. */
function readingEffortOf(token: string, foldsCase: boolean): number {
  const unicodeClasses = token.match(/\\[pP]/g)?.length ?? 0;
  const length = Math.floor(token.length / CLASS_CHARS_PER_EFFORT);
  if (!foldsCase) return length + unicodeClasses * UNICODE_CLASS_EFFORT.exact;
  const isClass = token.startsWith('[');
  const classes = (token.match(/\\[dswDSW]/g)?.length ?? 0) + (isClass ? 1 : 0);
  return (
    length +
    unicodeClasses * UNICODE_CLASS_EFFORT.folded +
    classes * FOLDED_CLASS_EFFORT +
    (isClass ? foldedRangesEffortOf(token) : 0)
  );
}
