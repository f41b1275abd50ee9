import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/**
 * Regular expressions of other people. They are RE2's, as in Go, and run in a port of RE2: its time grows with the text, never with
 * the number of ways to read it. JavaScript's own engine runs only patterns that it reads in one way.
 */

/** A pattern that would compile to more instructions than this is refused: compiling takes 2 to 6 µs for each, and is done in one go. */
export const PATTERN_INSTRUCTIONS_MAX = 4_000;
const PATTERN_CHARS_MAX = 10_000;

/** What all compiled patterns may take at worst. When it could be more, those that were not used for longest are forgotten. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;
const INSTRUCTION_BYTES = 700;
const PATTERN_BYTES = 2_000;
/**
 * While it matches, RE2 makes a table of the states that it comes to, up to this size for one pattern. Every character of a text leads to
 * one new state at worst, which lists up to all instructions.
 */
const TABLE_BYTES_MAX = 8 * 1024 * 1024;
const STATE_BYTES = 600;
const STATE_INSTRUCTION_BYTES = 8;

export interface Pattern {
  readonly test: (text: string) => boolean;
  /** How large the program is: testing one character costs so many steps at most. */
  readonly instructions: number;
}

/** `effort` is what compiling took, in instructions of a program that takes as long; with a problem, too. */
type Compiled = (Pattern | { readonly problem: string }) & { readonly effort: number };

const kept = new LRUCache<string, Compiled>({ maxSize: KEPT_BYTES_MAX });

/** What the kept patterns may take by now, at worst. */
export function keptPatternBytes(): number {
  return kept.calculatedSize;
}

/** Compiles a pattern, or says what is wrong with it: `error parsing regexp: missing closing ): ...`. */
export function compilePattern(pattern: string): Compiled {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const made = plainPattern(pattern) ?? linearPattern(pattern);
  keep(pattern, made, 0);
  return made;
}

/** Whether it need not be compiled any more. */
export function isKnownPattern(pattern: string): boolean {
  return kept.has(pattern);
}

/** `tableBytes` is what it takes besides its program. */
function keep(pattern: string, made: Compiled, tableBytes: number): void {
  const instructions = 'problem' in made ? 0 : made.instructions;
  const size = PATTERN_BYTES + 2 * pattern.length + INSTRUCTION_BYTES * instructions + tableBytes;
  // The size of what is set again is not counted anew.
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
/** Characters that are looked at in the time that compiling one instruction takes. */
const CHARS_PER_EFFORT = 200;

const CHARACTER = String.raw`[A-Za-z0-9_@:/ =%,;-]|\\[dw./-]|\[(?:[A-Za-z0-9_.:@/ =%,;-]|\\[dw./-])+\]`;
const COUNT = String.raw`[*+?]|\{\d{1,3}(?:,\d{0,3})?\}`;
const PLAIN = new RegExp(String.raw`^\^(?:(?:${CHARACTER})(?:${COUNT})?)*\$$`);
const VARIABLE_COUNT = /[*+?]|\{\d+,\d*\}/g;

/**
 * Characters and classes of ASCII one after the other from the beginning to the end of the text, of which one at most may be there
 * any number of times: JavaScript's engine never reads those in two ways, and both languages mean the same by them. They are the most
 * common ones, and those where counting to 253 is costly in RE2.
 */
function plainPattern(pattern: string): Compiled | undefined {
  if (pattern.length > PATTERN_CHARS_MAX || !PLAIN.test(pattern)) return undefined;
  if ((pattern.match(VARIABLE_COUNT)?.length ?? 0) > 1) return undefined;
  // What is there any number of times gives its characters back one by one, and each time the rest is tried again.
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
 * About how many instructions a pattern compiles to, or could in the time that compiling takes: its characters, those that are counted as
 * often as counted, and groups; and once for each time that it is written, what stands for very many characters or has many ranges.
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
      // Each that need not be there is asked for by an instruction of its own.
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
/** Alternatives of one character or class each are put together, every one with all before it. */
const ALTERNATIVE_EFFORT = 1;
/** The ranges of a class of Unicode are put together anew each time, with both cases of all letters if need be. */
const UNICODE_CLASS_EFFORT = { exact: 10, folded: 60 } as const;
const CLASS_CHARS_PER_EFFORT = 8;

/** In one of the groups that say so; where it ends is not looked at. */
const FOLDS_CASE = /\(\?[a-zA-Z-]*i/;
const FOLDED_CLASS_EFFORT = 6;
/**
 * The other case of each character of a range is looked for by itself, 30 in a microsecond, in those that may have one: all of them take
 * 4 ms, and four times as much before that code has been compiled.
 */
const FOLDED_CHARS_PER_EFFORT = 60;
const FOLDED_CHARS = { first: 0x41, last: 0x1e943 } as const;
/** One character of a class, or a range of them. */
const CHARACTER_OR_RANGE = new RegExp(
  String.raw`(ONE)(?:-(?!\])(ONE))?`.replaceAll('ONE', String.raw`\\x\{[^}]*\}|\\[^]|[^]`),
  'gu',
);
const CHARACTER_CODE = /^\\x\{([0-9A-Fa-f]{1,6})\}$/;

/** What it takes to find the other cases of all ranges in a class. */
function foldedRangesEffortOf(characterClass: string): number {
  let chars = 0;
  for (const [, first = '', last] of characterClass.slice(1, -1).matchAll(CHARACTER_OR_RANGE)) {
    if (last === undefined) continue;
    const from = Math.max(codeOf(first) ?? FOLDED_CHARS.first + 1, FOLDED_CHARS.first);
    const to = Math.min(codeOf(last) ?? FOLDED_CHARS.last - 1, FOLDED_CHARS.last);
    // All of them are each other's other cases, which is known without a look.
    const isAll = from === FOLDED_CHARS.first && to === FOLDED_CHARS.last;
    chars += isAll ? 0 : Math.max(0, to - from + 1);
  }
  return Math.ceil(chars / FOLDED_CHARS_PER_EFFORT);
}

/** Undefined where it is written in a way that is not read here: the range may then be as long as any. */
function codeOf(character: string): number | undefined {
  const code = CHARACTER_CODE.exec(character)?.[1];
  if (code !== undefined) return Number.parseInt(code, 16);
  if (!character.startsWith('\\')) return character.codePointAt(0);
  return /^\\[\x20-/:-@[-`{-~]$/.test(character) ? character.codePointAt(1) : undefined;
}

/** What it takes to read one character or class besides its instruction. */
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
