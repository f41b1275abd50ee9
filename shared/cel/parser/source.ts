/** The most errors reported for one expression (cel-go: `maxErrorsToReport`). */
const ISSUES_MAX = 100;
/** The longest source line, in UTF-8 bytes, that is repeated below an error. */
const SNIPPET_BYTES_MAX = 16_384;
const WIDE_DOT = '\uff0e';
const WIDE_MARK = '\uff3e';

/** One thing that is wrong with an expression. */
export interface Issue {
  /** Index in the source, in UTF-16 units; -1 when the issue has no place. */
  readonly offset: number;
  readonly message: string;
}

/** Collects the issues of one expression and formats them as cel-go does. */
export class Issues {
  readonly #source: string;
  readonly #issues: Issue[] = [];
  #count = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get list(): readonly Issue[] {
    return this.#issues;
  }

  /** Adds an issue at an offset of the source, in UTF-16 units. */
  report(offset: number, message: string): void {
    this.#count += 1;
    if (this.#count <= ISSUES_MAX) this.#issues.push({ offset, message });
  }

  /** Formats all issues by their position, each with its source line and a mark below the place. */
  toString(): string {
    const sourceLines = this.#source.split('\n');
    const placed = this.#issues.map((issue) => ({ issue, ...locate(this.#source, issue.offset) }));
    placed.sort((a, b) => a.line - b.line || a.column - b.column);
    const lines = placed.map(({ issue, line, column }) =>
      display(issue.message, { line, column, snippet: sourceLines[line - 1]?.replaceAll('\t', ' ') }),
    );
    if (this.#count > ISSUES_MAX) lines.push(`${this.#count - ISSUES_MAX} more errors were truncated`);
    return lines.join('\n');
  }
}

function display(
  message: string,
  { line, column, snippet }: { line: number; column: number; snippet: string | undefined },
): string {
  const head = `ERROR: <input>:${line}:${column + 1}: ${message}`;
  if (snippet === undefined || Buffer.byteLength(snippet) > SNIPPET_BYTES_MAX) return head;
  const characters = Array.from(snippet);
  const isWide = (character: string | undefined): boolean => (character?.codePointAt(0) ?? 0) > 0x7f;
  const dots = characters
    .slice(0, Math.max(column, 0))
    .map((character) => (isWide(character) ? WIDE_DOT : '.'));
  return `${head}\n | ${snippet}\n | ${dots.join('')}${isWide(characters[column]) ? WIDE_MARK : '^'}`;
}

/** Returns the line (from 1) and the column (from 0, in characters) of an offset in UTF-16 units. */
export function locate(source: string, offset: number): { line: number; column: number } {
  if (offset < 0) return { line: -1, column: -1 };
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: Array.from(before.slice(lineStart)).length };
}
