import type { CommandOutcome } from '../../shared/flags/command';

/** In what form a command tells what it found. */
export const OUTPUT_FLAG = {
  name: 'output',
  short: 'o',
  type: 'enum',
  values: ['text', 'json'],
  default: 'text',
  group: 'Output',
  help: 'The form of what is printed.',
} as const;

type Output = (typeof OUTPUT_FLAG.values)[number];

/** What a command found, in both forms. */
export interface Found {
  readonly json: unknown;
  readonly lines: readonly string[];
  /** The exit code. */
  readonly code: number;
}

export function createOutcome(output: Output, { json, lines, code }: Found): CommandOutcome {
  return { lines: output === 'json' ? [JSON.stringify(json, undefined, 2)] : lines, code };
}

/** Columns as wide as their cells, below a header. Cells may have colours. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, plain(cell).length);
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - plain(cell).length))
      .join('  ')
      .trimEnd(),
  );
}

const COLOURS = { good: 32, bad: 31, faint: 2 } as const;

/** The text in a colour, on a terminal whose user has nothing against it (`NO_COLOR`). */
export function painted(text: string, colour: keyof typeof COLOURS): string {
  const isWanted = process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  return isWanted ? `\u001B[${String(COLOURS[colour])}m${text}\u001B[0m` : text;
}

/** `12.3 MiB`. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

function plain(cell: string): string {
  // eslint-disable-next-line no-control-regex -- colours begin with one
  return cell.replaceAll(/\u001B\[\d+m/g, '');
}
