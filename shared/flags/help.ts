import type { Writable } from 'node:stream';
import type { FlagRow } from './flag-row';
import type { ForeignFlag } from './foreign-flag';

const COLUMNS_MAX = 110;
const INDENT = 6;
/** Flags of every program. */
const GLOBAL = `Global flags:

  -h, --help
      Prints this text and ends.
      --version true, false or raw
      Prints the version and ends; raw prints all that is known of the build, as JSON.`;

export interface HelpOptions {
  /** The name of the program as one types it. */
  readonly program: string;
  /** One or two sentences on the program. */
  readonly summary: string;
  readonly foreign?: readonly ForeignFlag[];
}

/**
 * The text of `--help`: the flags under their groups, in the order of the rows, each with its type, default and explanation; at the end
 * the foreign ones by name.
 */
export function helpText(rows: readonly FlagRow[], { program, summary, foreign = [] }: HelpOptions): string {
  const groups = [...new Set(rows.map((row) => row.group))];
  const sections = groups.map((group) => {
    const flags = rows.filter((row) => row.group === group).map(describe);
    return `${group} flags:\n\n${flags.join('\n')}`;
  });
  const names = foreign.map(({ name }) => `--${name}`).join(', ');
  const others =
    foreign.length === 0
      ? []
      : [`Flags of Kubernetes without effect, or refused with a reason:\n\n${wrap(names)}`];
  return `${summary}\n\nUsage:\n  ${program} [flags]\n\n${[...sections, GLOBAL, ...others].join('\n\n')}\n`;
}

/** Writes the help. A reader that closes early (`--help | head`) is no error; other stream errors are thrown. */
export function writeHelp(to: Writable, rows: readonly FlagRow[], options: HelpOptions): void {
  to.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  to.write(helpText(rows, options));
}

function describe(row: FlagRow): string {
  const short = row.short === undefined ? '    ' : `-${row.short}, `;
  const type = row.type === 'bool' ? '' : ` ${typeName(row)}`;
  const deprecated = row.deprecated === undefined ? '' : ` (DEPRECATED: ${row.deprecated})`;
  const text = `${row.help}${choices(row)}${defaultText(row)}${deprecated}`;
  return `  ${short}--${row.name}${type}\n${wrap(text)}`;
}

function typeName(row: FlagRow): string {
  if (row.type === 'stringList') return 'strings';
  if (row.type === 'stringArray') return 'stringArray';
  return row.type === 'enum' ? 'string' : row.type;
}

function choices(row: FlagRow): string {
  const values = row.type === 'enum' || row.type === 'stringList' ? row.values : undefined;
  return values === undefined ? '' : ` One of: ${values.join(', ')}.`;
}

function defaultText(row: FlagRow): string {
  const text = String(row.default);
  const notes = [rangeText(row), text === '' || text === 'false' ? '' : `default ${text}`];
  const shown = notes.filter((each) => each !== '').join(', ');
  return shown === '' ? '' : ` (${shown})`;
}

function rangeText(row: FlagRow): string {
  if (row.type !== 'int') return '';
  const { min, max } = row;
  if (min !== undefined && max !== undefined) return `${String(min)} to ${String(max)}`;
  if (max !== undefined) return `at most ${String(max)}`;
  return min === undefined || min <= 0 ? '' : `at least ${String(min)}`;
}

function wrap(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && INDENT + line.length + 1 + word.length > COLUMNS_MAX) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => ' '.repeat(INDENT) + each).join('\n');
}
